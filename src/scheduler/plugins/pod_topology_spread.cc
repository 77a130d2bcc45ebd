#include "scheduler/plugins/pod_topology_spread.h"

#include <algorithm>
#include <utility>

#include "scheduler/plugins/places.h"
#include "scheduler/plugins/pod_term_match.h"
#include "scheduler/plugins/spread_constraints.h"
#include "scheduler/plugins/spread_domains.h"
#include "scheduler/plugins/spread_score.h"

namespace muster::scheduler {
namespace {

constexpr std::size_t kPlacesMax = 128;

class SpreadFilterPass final : public FilterPass {
 public:
  SpreadFilterPass(std::span<const Spread> constraints, const PodClass& pods,
                   const Cluster& cluster)
      : cluster_(cluster), places_(divide(constraints, cluster)) {
    const NodeSet labelled = nodes_with_all(constraints, cluster);
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      const LabelColumn& column = cluster.label(constraints[c].topology_key);
      rules_.push_back(
          {.written = constraints[c],
           .domains = SpreadDomains(cluster, column,
                                    counted_nodes(constraints[c], pods, cluster, labelled)),
           .self = is_self(constraints[c], pods) ? 1 : 0,
           .is_by_place = places_.divides_by(c)});
      any_by_place_ |= rules_.back().is_by_place;
    }
  }

  bool follows_moves() const override { return true; }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    count(pods, node, 1, touched);
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    count(pods, node, -1, touched);
  }
  void placed_many(const PodClass& pods, NodeId node, std::uint32_t pods_there,
                   Touched& touched) override {
    count(pods, node, pods_there, touched);
  }

  bool depends_on(const PodClass& pods) const override {
    return std::ranges::any_of(
        rules_, [&](const Rule& rule) { return pods.is_matched_by(rule.written.term); });
  }

  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override {
    return std::ranges::all_of(rules_, [&](const Rule& rule) {
      return admits(rule, rule.domains.counts().value_of(node));
    });
  }
  bool has_places() const override { return any_by_place_; }
  bool admits_row(NodeId node) const override {
    return std::ranges::all_of(rules_, [&](const Rule& rule) {
      return rule.is_by_place || admits(rule, rule.domains.counts().value_of(node));
    });
  }
  std::int64_t place(NodeId node) const override { return places_.of(node); }
  bool admits_place(std::int64_t place) const override {
    for (std::size_t r = 0; r < rules_.size(); ++r)
      if (rules_[r].is_by_place && !admits(rules_[r], places_.value(place, r))) return false;
    return true;
  }

  Verdict ask(NodeId node) const override {
    for (const Rule& rule : rules_) {
      if (!rule.domains.counts().has_value(node))
        return Verdict::refuse(
            "node(s) didn't match pod topology spread constraints (missing required label)",
            Remedy::None);
      if (!admits(rule, rule.domains.counts().value_of(node)))
        return Verdict::refuse("node(s) didn't match pod topology spread constraints",
                               Remedy::Eviction);
    }
    return Verdict::accept();
  }

  // The least rises as other domains fill up, so a domain that refuses now may accept later.
  std::int32_t cap_at(NodeId node) const override {
    const bool is_labelled = std::ranges::all_of(
        rules_, [&](const Rule& rule) { return rule.domains.counts().has_value(node); });
    return is_labelled ? kNoCap : 0;
  }
  Exactness cap(CapColumn& at_most) const override {
    cluster_.nodes().for_each(
        [&](NodeId node) { at_most[node] = std::min(at_most[node], cap_at(node)); });
    return Exactness::UpperBound;
  }
  std::size_t bytes() const override {
    std::size_t sum = places_.bytes();
    for (const Rule& rule : rules_) sum += rule.domains.bytes() + cluster_.rows() / 8;
    return sum;
  }

 private:
  struct Rule {
    Spread written;
    SpreadDomains domains;
    std::int64_t self;
    bool is_by_place;
  };

  static Places divide(std::span<const Spread> constraints, const Cluster& cluster) {
    std::vector<const LabelColumn*> columns;
    for (const Spread& constraint : constraints) {
      const LabelColumn& column = cluster.label(constraint.topology_key);
      columns.push_back(is_one_node_each(cluster, column) ? nullptr : &column);
    }
    return {cluster, columns, kPlacesMax};
  }

  static std::int64_t least(const Rule& rule) {
    return std::cmp_less(rule.domains.domain_count(), rule.written.min_domains)
               ? 0
               : rule.domains.least();
  }
  static bool fits(const Rule& rule, std::int64_t count, std::int64_t least) {
    return count + rule.self - least <= rule.written.max_skew;
  }
  static bool admits(const Rule& rule, LabelValueId value) {
    return value != LabelValueId::Absent &&
           fits(rule, rule.domains.counts().at(value), least(rule));
  }

  void count(const PodClass& pods, NodeId node, std::int64_t amount, Touched& touched) {
    if (pods.matches.empty()) return;
    for (Rule& rule : rules_) {
      if (!rule.domains.is_counted(node) || !pods.is_matched_by(rule.written.term)) continue;
      const std::int64_t least_before = least(rule);
      rule.domains.add(node, amount);
      if (rule.is_by_place) continue;
      const PodCounts& counts = rule.domains.counts();
      touched.value(counts.column(), counts.value_of(node));
      if (least(rule) != least_before) touch_turned(rule, least_before, touched);
    }
  }
  // The domains that fit by one of the two minimums only.
  static void touch_turned(const Rule& rule, std::int64_t least_before, Touched& touched) {
    const PodCounts& counts = rule.domains.counts();
    for (std::size_t v = 1; v < counts.values(); ++v) {
      const auto value = static_cast<LabelValueId>(v);
      if (fits(rule, counts.at(value), least_before) != fits(rule, counts.at(value), least(rule)))
        touched.value(counts.column(), value);
    }
  }

  const Cluster& cluster_;
  Places places_;
  std::vector<Rule> rules_;
  bool any_by_place_ = false;
};

bool has_all_keys(const api::PodNeeds& needs, const api::Object& node) {
  return std::ranges::all_of(needs.spread, [&](const api::SpreadConstraint& constraint) {
    return !constraint.is_hard ||
           api::lookup(node.meta().labels, constraint.topology_key) != nullptr;
  });
}

}  // namespace

PodTopologySpread::PodTopologySpread(PodTopologySpreadArgs args) : args_(std::move(args)) {
  args_.default_constraints = args_.defaults();
}

std::unique_ptr<FilterPass> PodTopologySpread::prepare_filter(const PodClass& pods,
                                                              const Cluster& cluster) const {
  const std::vector<Spread> constraints = spreads_of(pods, cluster, args_, Spread::Kind::Hard);
  if (constraints.empty()) return nullptr;
  return std::make_unique<SpreadFilterPass>(constraints, pods, cluster);
}

std::unique_ptr<ScorePass> PodTopologySpread::prepare_score(const PodClass& pods,
                                                            const Cluster& cluster) const {
  const std::vector<Spread> constraints = spreads_of(pods, cluster, args_, Spread::Kind::Soft);
  if (constraints.empty()) return nullptr;
  const bool needs_all_keys = !pods.needs->spread.empty() || !args_.is_system_defaulting;
  return make_spread_score(constraints, pods, cluster, needs_all_keys);
}

// Beyond upstream's hints: any change of a node's labels may take it out of the pod's node
// selector, and what runs on it out of the counts.
bool PodTopologySpread::could_help(const api::Object& pod, const ClusterEvent& event) const {
  const api::PodNeeds& needs = pod.view<api::PodView>().needs;
  // By default constraints: what they count is not known here, only what they listen to.
  if (needs.spread.empty()) return listens(event.resource, event.action);
  const auto matches = [&](const api::ObjectPtr& node) {
    return node != nullptr && has_all_keys(needs, *node);
  };
  switch (event.resource) {
    case Resource::TargetPod:
      if (event.action == Action::UpdatePodLabel) return true;
      return event.action == Action::UpdatePodToleration &&
             std::ranges::any_of(needs.spread, &api::SpreadConstraint::honors_taints);
    case Resource::Node:
      if (event.action != Action::Add && event.action != Action::Delete &&
          event.action != Action::UpdateNodeLabel && event.action != Action::UpdateNodeTaint)
        return false;
      return matches(event.before) || matches(event.after);
    case Resource::AssignedPod: break;
    default: return false;
  }
  const OtherPods others(pod);
  switch (event.action) {
    case Action::Add: return has_place(*event.after) && others.counts(*event.after);
    case Action::Delete: return has_place(*event.before) && others.counts(*event.before);
    case Action::UpdatePodLabel:
      return has_place(*event.after) && !others.counts_alike(*event.before, *event.after);
    default: return false;
  }
}

}  // namespace muster::scheduler
