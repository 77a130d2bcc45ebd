#include "scheduler/plugins/volume_binding.h"

#include <algorithm>
#include <map>
#include <optional>

#include "scheduler/framework/refusing_pass.h"
#include "scheduler/plugins/node_selector.h"
#include "scheduler/plugins/volume_events.h"
#include "scheduler/plugins/volume_sets.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kAffinity = "node(s) didn't match PersistentVolume's node affinity";
constexpr std::string_view kLost =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

// Whether existing volumes could serve a delayed claim, so that answers depend on who takes them.
bool has_volumes_to_choose(const VolumeNeeds& needs) {
  return std::ranges::any_of(needs.delayed, [](const DelayedClaim& claim) {
    return claim.reserved.volume != nullptr || !claim.candidates->empty() || !claim.key.empty();
  });
}

class VolumeBindingPass final : public FilterPass {
 public:
  VolumeBindingPass(const PodClass& pods, const Cluster& cluster)
      : volumes_(pods.volumes), cluster_(cluster) {
    for (const auto& terms : volumes_->affinities) {
      auto& compiled = affinities_.emplace_back();
      for (const api::NodeSelectorTerm& term : terms) compiled.emplace_back(term, cluster);
    }
    if (has_volumes_to_choose(*volumes_)) sets_.emplace(volumes_, cluster);
  }

  void refresh() override {
    for (auto& terms : affinities_)
      for (CompiledTerm& term : terms) term.refresh();
  }
  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override {
    if (cluster_.node_object(node) == nullptr || volumes_->lost_volume) return false;
    return reaches_bound(node) && refuses_delayed(node).empty();
  }
  Exactness cap(CapColumn& at_most) const override {
    if (!sets_) return Exactness::PerNode;
    cluster_.nodes().for_each(
        [&](NodeId node) { at_most[node] = std::min(at_most[node], sets_->most_on(node)); });
    return Exactness::UpperBound;
  }
  std::int32_t cap_at(NodeId node) const override {
    if (sets_) return cluster_.node_object(node) == nullptr ? 0 : sets_->most_on(node);
    return admits(node) ? kNoCap : 0;
  }
  Verdict ask(NodeId node) const override {
    Verdict verdict;
    if (!reaches_bound(node)) verdict.add(kAffinity, Remedy::None);
    if (const std::string_view why = refuses_delayed(node); !why.empty())
      verdict.add(why, Remedy::None);
    if (volumes_->lost_volume) verdict.add(kLost, Remedy::None);
    return verdict;
  }

  // Volumes are chosen for pods that have come.
  bool depends_on(const PodClass&) const override { return false; }
  bool follows_moves() const override { return sets_.has_value(); }
  void placed(const PodClass& pods, NodeId, Touched& touched) override {
    sets_->moved(pods, touched);
  }
  void removed(const PodClass& pods, NodeId, Touched& touched) override {
    sets_->moved(pods, touched);
  }

 private:
  bool reaches_bound(NodeId node) const {
    return std::ranges::all_of(affinities_, [&](const std::vector<CompiledTerm>& terms) {
      return std::ranges::any_of(terms,
                                 [&](const CompiledTerm& term) { return term.matches(node); });
    });
  }
  std::string_view refuses_delayed(NodeId node) const {
    if (is_made_elsewhere(*volumes_, cluster_.node_name(node))) return kNoVolume;
    const VolumeChoice* choice = sets_ ? sets_->choice(node) : nullptr;
    if (sets_ && choice == nullptr) return kNoVolume;
    for (std::size_t i = 0; i < volumes_->delayed.size(); ++i) {
      if (choice != nullptr && choice->volumes[i].volume != nullptr) continue;
      const std::string_view why =
          refuses_to_provision(volumes_->delayed[i], *cluster_.node_object(node));
      if (!why.empty()) return why;
    }
    return {};
  }

  std::shared_ptr<const VolumeNeeds> volumes_;
  const Cluster& cluster_;
  std::vector<std::vector<CompiledTerm>> affinities_;
  std::optional<VolumeSets> sets_;
};

// How much of the storage a pod would use: of the volumes it would get, or else of the capacity
// that drivers report.
class VolumeBindingScorePass final : public ScorePass {
 public:
  VolumeBindingScorePass(const PodClass& pods, const Cluster& cluster,
                         const VolumeBindingArgs& args)
      : volumes_(pods.volumes), cluster_(cluster), args_(args) {
    if (has_volumes_to_choose(*volumes_)) sets_.emplace(volumes_, cluster);
  }

  Form form() const override { return Form::Local; }
  void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
    cluster_.nodes().for_each(
        [&](NodeId node) { totals[node] += static_cast<std::int32_t>(weight * local(node)); });
  }
  std::int64_t local(NodeId node) const override {
    if (cluster_.node_object(node) == nullptr) return 0;
    const VolumeChoice* choice = sets_ ? sets_->choice(node) : nullptr;
    std::map<std::string_view, Use> uses;
    for (std::size_t i = 0; choice != nullptr && i < volumes_->delayed.size(); ++i)
      if (choice->volumes[i].volume != nullptr) {
        Use& use = uses[volumes_->delayed[i].class_name];
        use.requested += volumes_->delayed[i].request;
        use.capacity += choice->volumes[i].view->capacity;
      }
    if (!uses.empty()) return mean(uses);
    const api::StringPairs& labels = cluster_.node_object(node)->meta().labels;
    for (const DelayedClaim& claim : volumes_->delayed)
      if (const ReportedCapacity* capacity = capacity_for(claim, labels)) {
        Use& use = uses[claim.class_name];
        use.requested += claim.request;
        use.capacity = capacity->capacity;
      }
    return mean(uses);
  }

  bool follows_moves() const override { return sets_.has_value(); }
  void placed(const PodClass& pods, NodeId, Touched& touched) override {
    sets_->moved(pods, touched);
  }
  void removed(const PodClass& pods, NodeId, Touched& touched) override {
    sets_->moved(pods, touched);
  }

 private:
  struct Use {
    std::int64_t requested = 0;
    std::int64_t capacity = 0;
  };
  // Rounded half away from zero; scores are not negative.
  std::int64_t mean(const std::map<std::string_view, Use>& uses) const {
    if (uses.empty()) return 0;
    std::int64_t sum = 0;
    for (const auto& [name, use] : uses) sum += score(use);
    const auto count = static_cast<std::int64_t>(uses.size());
    return (2 * sum + count) / (2 * count);
  }
  std::int64_t score(const Use& use) const {
    const std::int64_t used = use.capacity == 0 || use.requested > use.capacity
                                  ? 100
                                  : percent(use.requested, use.capacity);
    const auto& shape = args_.shape;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (used > shape[i].utilization) continue;
      if (i == 0) return shape[0].score;
      return shape[i - 1].score + (shape[i].score - shape[i - 1].score) *
                                      (used - shape[i - 1].utilization) /
                                      (shape[i].utilization - shape[i - 1].utilization);
    }
    return shape.back().score;
  }
  // In 128 bits: storage is counted in bytes.
  static std::int64_t percent(std::int64_t part, std::int64_t whole) {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(Wide{part} * 100 / whole);
  }

  std::shared_ptr<const VolumeNeeds> volumes_;
  const Cluster& cluster_;
  const VolumeBindingArgs& args_;
  std::optional<VolumeSets> sets_;
};

bool limit_grew(const api::Object& before, const api::Object& after) {
  const auto was = before.view<api::CapacityView>().limit;
  const auto is = after.view<api::CapacityView>().limit;
  return is && (!was || *is > *was);
}

bool migrations_differ(const api::Object& before, const api::Object& after) {
  constexpr std::string_view kMigrated = "storage.alpha.kubernetes.io/migrated-plugins";
  const std::string* was = api::lookup(before.meta().annotations, kMigrated);
  const std::string* is = api::lookup(after.meta().annotations, kMigrated);
  return was == nullptr || is == nullptr ? was != is : *was != *is;
}

}  // namespace

std::unique_ptr<FilterPass> VolumeBinding::prepare_filter(const PodClass& pods,
                                                          const Cluster& cluster) const {
  if (pods.volumes == nullptr) return nullptr;
  const VolumeNeeds& volumes = *pods.volumes;
  if (!volumes.binding_refusal.empty())
    return std::make_unique<RefusingPass>(volumes.binding_refusal);
  if (volumes.affinities.empty() && volumes.delayed.empty() && !volumes.lost_volume) return nullptr;
  return std::make_unique<VolumeBindingPass>(pods, cluster);
}

std::unique_ptr<ScorePass> VolumeBinding::prepare_score(const PodClass& pods,
                                                        const Cluster& cluster) const {
  if (pods.volumes == nullptr || pods.volumes->delayed.empty()) return nullptr;
  const bool reports = std::ranges::any_of(
      pods.volumes->delayed, [](const DelayedClaim& claim) { return !claim.capacities.empty(); });
  if (!reports && !has_volumes_to_choose(*pods.volumes)) return nullptr;
  return std::make_unique<VolumeBindingScorePass>(pods, cluster, args_);
}

bool VolumeBinding::could_help(const api::Object& pod, const ClusterEvent& event) const {
  const bool is_update = event.action == Action::Update;
  switch (event.resource) {
    case Resource::StorageClass:
      return event.action == Action::Add ||
             (is_update && event.before->view<api::StorageClassView>().allowed_topologies !=
                               event.after->view<api::StorageClassView>().allowed_topologies);
    case Resource::PersistentVolumeClaim: return is_claim_of(pod, event);
    case Resource::PersistentVolume: return event.action == Action::Add || is_update;
    case Resource::Node: return came_or_was_relabelled(event);
    case Resource::CSINode:
      return event.action == Action::Add ||
             (is_update && migrations_differ(*event.before, *event.after));
    case Resource::CSIDriver:
      return is_update && event.before->view<api::CsiDriverView>().storage_capacity &&
             !event.after->view<api::CsiDriverView>().storage_capacity;
    case Resource::CSIStorageCapacity:
      return event.action == Action::Add || (is_update && limit_grew(*event.before, *event.after));
    default: return false;
  }
}

}  // namespace muster::scheduler
