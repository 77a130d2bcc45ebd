#include "scheduler/plugins/volume_restrictions.h"

#include <algorithm>

#include "scheduler/framework/refusing_pass.h"
#include "scheduler/plugins/volume_events.h"

namespace muster::scheduler {
namespace {

using Disks = std::vector<api::InlineDisk>;

bool conflict(const Disks& wanted, const Disks& used) {
  return std::ranges::any_of(wanted, [&](const api::InlineDisk& disk) {
    return std::ranges::any_of(
        used, [&](const api::InlineDisk& other) { return api::conflict(disk, other); });
  });
}

// Two pods of a class share their disks; a claim for one pod at a time is only here if other pods
// name it too, of this class or another.
class VolumeRestrictionsPass final : public FilterPass {
 public:
  VolumeRestrictionsPass(const PodClass& pods, const Cluster& cluster)
      : pods_(pods),
        cluster_(cluster),
        stands_in_its_own_way_(conflict(pods.needs->disks, pods.needs->disks)) {}

  void narrow(NodeSet& candidates) const override {
    if (is_claim_in_use()) return candidates.clear();
    if (pods_.needs->disks.empty() && !cluster_.volume_use().expects_any()) return;
    candidates.keep_if(
        [this](NodeId node) { return !has_conflict(node) && !is_claim_expected(node); });
  }
  bool admits(NodeId node) const override {
    return !has_conflict(node) && !is_claim_in_use() && !is_claim_expected(node);
  }
  Exactness cap(CapColumn& at_most) const override {
    if (follows_moves()) return Exactness::UpperBound;
    for (std::size_t row = 0; row < cluster_.rows(); ++row)
      at_most.data()[row] = std::min(at_most.data()[row], cap_at(static_cast<NodeId>(row)));
    return Exactness::PerNode;
  }
  std::int32_t cap_at(NodeId node) const override {
    if (follows_moves()) return kNoCap;
    if (has_conflict(node)) return 0;
    return stands_in_its_own_way_ ? 1 : kNoCap;
  }
  Verdict ask(NodeId node) const override {
    if (has_conflict(node))
      return Verdict::refuse("node(s) had no available disk", Remedy::Eviction);
    if (is_claim_in_use() || is_claim_expected(node))
      return Verdict::refuse(
          "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
          "already in-use by another pod",
          Remedy::Eviction);
    return Verdict::accept();
  }

  // The node table knows what expected pods use.
  bool depends_on(const PodClass&) const override { return false; }
  bool follows_moves() const override {
    return pods_.volumes != nullptr && !pods_.volumes->exclusive.empty();
  }
  void placed(const PodClass& pods, NodeId, Touched& touched) override { touch(pods, touched); }
  void removed(const PodClass& pods, NodeId, Touched& touched) override { touch(pods, touched); }

 private:
  bool has_conflict(NodeId node) const {
    if (pods_.needs->disks.empty()) return false;
    const Disks* used = cluster_.volume_use().disks_on(static_cast<std::uint32_t>(node));
    return used != nullptr && conflict(pods_.needs->disks, *used);
  }
  // By a pod on any node, or by one that is to come to this node.
  bool is_claim_in_use() const {
    return pods_.volumes != nullptr &&
           std::ranges::any_of(pods_.volumes->exclusive, [&](const std::string& claim) {
             return cluster_.volume_use().users_of(claim) > 0;
           });
  }
  bool is_claim_expected(NodeId node) const {
    return pods_.volumes != nullptr &&
           std::ranges::any_of(pods_.volumes->exclusive, [&](const std::string& claim) {
             return cluster_.volume_use().is_expected(static_cast<std::uint32_t>(node), claim);
           });
  }
  // A pod that runs may be of a class from before others named its claim: every pod that has claims
  // may be the one.
  static void touch(const PodClass& pods, Touched& touched) {
    if (pods.volumes != nullptr) touched.every_row();
  }

  const PodClass& pods_;
  const Cluster& cluster_;
  const bool stands_in_its_own_way_;
};

bool shares_claim(const api::Object& pod, const api::Object& other) {
  return std::ranges::any_of(pod.view<api::PodView>().claims, [&](const api::PodClaim& claim) {
    const std::string name = api::claim_name(pod, claim);
    return std::ranges::any_of(other.view<api::PodView>().claims, [&](const api::PodClaim& used) {
      return api::claim_name(other, used) == name;
    });
  });
}

}  // namespace

std::unique_ptr<FilterPass> VolumeRestrictions::prepare_filter(const PodClass& pods,
                                                               const Cluster& cluster) const {
  if (pods.volumes != nullptr && !pods.volumes->restrictions_refusal.empty())
    return std::make_unique<RefusingPass>(pods.volumes->restrictions_refusal);
  const bool is_exclusive = pods.volumes != nullptr && !pods.volumes->exclusive.empty();
  if (pods.needs->disks.empty() && !is_exclusive) return nullptr;
  return std::make_unique<VolumeRestrictionsPass>(pods, cluster);
}

bool VolumeRestrictions::could_help(const api::Object& pod, const ClusterEvent& event) const {
  switch (event.resource) {
    case Resource::AssignedPod:
      return event.action == Action::Delete && event.before != nullptr &&
             event.before->meta().name_space == pod.meta().name_space &&
             (shares_claim(pod, *event.before) ||
              conflict(pod.view<api::PodView>().needs.disks,
                       event.before->view<api::PodView>().needs.disks));
    case Resource::Node: return event.action == Action::Add;
    case Resource::PersistentVolumeClaim:
      return event.action == Action::Add && is_claim_of(pod, event);
    default: return false;
  }
}

}  // namespace muster::scheduler
