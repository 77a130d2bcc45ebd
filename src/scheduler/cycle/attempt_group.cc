#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "api/views/group_view.h"
#include "api/views/pod_facts.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/cycle/fit_error.h"
#include "scheduler/cycle/group_report.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/placer.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kUnschedulable = "pod group is unschedulable";

template <typename Visit>
void for_each_pod(const Group& group, Visit&& visit) {
  for (const PendingPod& pending : group.pods) visit(pending);
  for (const Group& child : group.children) for_each_pod(child, visit);
}

struct Wrong {
  Outcome outcome;
  std::string message;
  std::vector<std::string> plugins = {};
  WaitsFor waits_for = WaitsFor::Nothing;
};

std::string_view policy_words(bool never_preempts) {
  return never_preempts ? "Never" : "PreemptLowerPriority";
}

// MemberTraits of which nobody keeps a copy.
struct Traits {
  std::string_view scheduler_name;
  std::int32_t priority = 0;
  bool never_preempts = false;
  friend bool operator==(const Traits&, const Traits&) = default;
};

// What the members of a tree must agree on, in upstream's words. `first` is what the first queued
// pod says.
std::string disagreement(const Traits& pod, const Traits& first, const Group& root) {
  if (pod.scheduler_name != first.scheduler_name)
    return fmt::format(
        "all pods in a single pod group should have the same .spec.schedulerName set, got: \"{}\" "
        "and \"{}\"",
        first.scheduler_name, pod.scheduler_name);
  if (pod.priority != root.priority)
    return fmt::format(
        "all pods in a single pod group should have the same priority as the pod group's priority, "
        "got {} and {}",
        pod.priority, root.priority);
  if (root.never_preempts && pod.never_preempts != *root.never_preempts)
    return fmt::format(
        "all pods in a single pod group should have the same preemption policy as the pod group's "
        "preemption policy, got {} and {}",
        policy_words(pod.never_preempts), policy_words(*root.never_preempts));
  if (!root.never_preempts && pod.never_preempts != first.never_preempts)
    return fmt::format(
        "all pods in a single pod group should have the same preemption policy, got {} and {}",
        policy_words(first.never_preempts), policy_words(pod.never_preempts));
  return {};
}

// The queued pods are asked first, then all members.
std::optional<Wrong> wrong_pods(const Group& root) {
  std::string wrong;
  std::optional<Traits> first;
  // A pod with the traits of the first pod agrees with the root exactly if that one does.
  const auto compare = [&](const Traits& traits) {
    if (wrong.empty() && traits != *first) wrong = disagreement(traits, *first, root);
  };
  for_each_pod(root, [&](const PendingPod& pending) {
    const api::PodView& pod = api::view_of(pending.pod);
    const Traits traits{pod.scheduler_name, pod.priority, pod.never_preempts};
    if (first) return compare(traits);
    first = traits;
    wrong = disagreement(traits, traits, root);
  });
  const auto ask_members = [&](const auto& self, const Group& group) -> void {
    for (const MemberTraits& member : group.traits)
      if (first) compare({member.scheduler_name, member.priority, member.never_preempts});
    for (const Group& child : group.children) self(self, child);
  };
  ask_members(ask_members, root);
  if (wrong.empty()) return std::nullopt;
  return Wrong{Outcome::Error, std::move(wrong)};
}

bool has_claims(const Group& group) {
  return (group.object != nullptr && group.object->view<api::GroupView>().has_claims) ||
         std::ranges::any_of(group.children, has_claims);
}

// Devices for a group are not allocated; no part of such a tree is placed without them.
std::optional<Wrong> wrong_claims(const Group& root) {
  if (!has_claims(root)) return std::nullopt;
  return Wrong{
      Outcome::Unresolvable, "DynamicResources allocation is not supported", {"DynamicResources"}};
}

// Something is wrong with all of the tree at once: every group and pod gets the same answer.
void fail_all(const Group& group, const Wrong& wrong, Plan& plan) {
  plan.groups.push_back({group.key, group.object, wrong.outcome, wrong.message, ""});
  for (const PendingPod& pending : group.pods)
    plan.refusals.push_back(
        {pending.pod, wrong.outcome, wrong.message, wrong.plugins, wrong.waits_for});
  for (const Group& child : group.children) fail_all(child, wrong, plan);
}

// Turns what the placer left on the draft into a plan.
class PlanWriter {
 public:
  PlanWriter(const GroupTree& tree, Workspace& workspace, Placer& placer, SearchResult answer,
             const PlacementOptions& options)
      : tree_(tree),
        workspace_(workspace),
        placer_(placer),
        answer_(answer),
        explained_left_(options.explained_max),
        bounds_left_(options.bounds_max),
        nodes_(tree.members.size()) {
    for (const Draft::Move& move : workspace.draft().moves()) nodes_[move.tag] = move.node;
  }

  Plan write() {
    Plan plan;
    plan.steps = placer_.steps();
    plan.assignments.reserve(workspace_.draft().moves().size());
    const Domain everywhere = workspace_.topology().everywhere();
    for (std::uint32_t id = 0; id < tree_.items.size(); ++id) {
      const GroupTree::Item& item = tree_.items[id];
      // Inside what the group had to find its place: its parent's domain, or the whole cluster.
      const bool under_failed = id != 0 && !is_placed(item.parent);
      const Domain& within = id == 0 || under_failed ? everywhere : placer_.domain(item.parent);
      if (is_placed(id))
        write_placed(id, plan);
      else
        write_refused(id, within, under_failed, plan);
    }
    // Each of them has room, but not all together: one more node is what it takes at least.
    const auto waits_for_a_node = [](const Refusal& refusal) {
      return refusal.waits_for == WaitsFor::Node;
    };
    if (!is_placed(0) && report_->needs_a_node() && !plan.refusals.empty() &&
        std::ranges::none_of(plan.refusals, waits_for_a_node))
      plan.refusals.back().waits_for = WaitsFor::Node;
    return plan;
  }

 private:
  bool is_placed(std::uint32_t id) const {
    return answer_ == SearchResult::Feasible && placer_.is_placed(id);
  }

  void write_placed(std::uint32_t id, Plan& plan) {
    const GroupTree::Item& item = tree_.items[id];
    const Domain& domain = placer_.domain(id);
    plan.groups.push_back(
        {item.group->key, item.group->object, Outcome::Placed, "",
         std::string(item.key || item.preferred ? domain.name : std::string_view())});
    std::map<std::uint32_t, Refusal> refusals;  // of members that did not fit, one text per class
    for (const std::uint32_t member : item.members) {
      const GroupTree::Member& pod = tree_.members[member];
      if (nodes_[member]) {
        plan.assignments.emplace_back(pod.pending->pod,
                                      workspace_.cluster().node_name(*nodes_[member]));
        continue;
      }
      auto known = refusals.find(pod.class_index);
      if (known == refusals.end())
        known = refusals.emplace(pod.class_index, refuse_in(pod, domain)).first;
      Refusal refusal = known->second;
      refusal.pod = pod.pending->pod;
      plan.refusals.push_back(std::move(refusal));
    }
  }

  Refusal refuse_in(const GroupTree::Member& pod, const Domain& domain) {
    std::vector<NodeId> nodes;
    for (const CellId cell : domain.cells)
      nodes.insert(nodes.end(), workspace_.topology().nodes(cell).begin(),
                   workspace_.topology().nodes(cell).end());
    return refuse(pod.pending->pod, workspace_.standing(pod.class_index), nodes);
  }

  void write_refused(std::uint32_t id, const Domain& within, bool under_failed, Plan& plan) {
    const GroupTree::Item& item = tree_.items[id];
    if (!report_) report_.emplace(tree_, workspace_, placer_, answer_);
    GroupVerdict verdict{item.group->key, item.group->object, Outcome::Unschedulable, "", ""};
    // A group that could have found a place by itself fails because its parent does, with the
    // parent's words. So do those for which it would cost too much to find out.
    const bool is_too_many = id != 0 && explained_left_ == 0;
    if (is_too_many && !under_failed) {
      verdict.message = fmt::format("{}, like others of its tree", kUnschedulable);
    } else if (is_too_many || (under_failed && placer_.bounds().can_meet_minimum(id, within))) {
      const GroupVerdict& parent = plan.groups[item.parent];
      verdict.outcome = parent.outcome;
      verdict.message = parent.message;
    } else {
      if (explained_left_ > 0) --explained_left_;
      verdict.outcome = report_->outcome(id, within);
      verdict.message = fmt::format("{}, {}", kUnschedulable, report_->why(id, within));
      if (bounds_left_ > 0) verdict.bounds = report_->bounds(id, within, bounds_left_);
      bounds_left_ -= verdict.bounds.size();
    }
    plan.refusals.reserve(tree_.members.size());
    const std::vector<WaitsFor> waits = report_->waits(id, is_too_many ? nullptr : &within);
    for (std::size_t i = 0; i < item.members.size(); ++i) {
      const GroupTree::Member& member = tree_.members[item.members[i]];
      plan.refusals.emplace_back(member.pending->pod, verdict.outcome, verdict.message,
                                 report_->plugins(member.class_index), waits[i]);
    }
    plan.groups.push_back(std::move(verdict));
  }

  const GroupTree& tree_;
  Workspace& workspace_;
  Placer& placer_;
  SearchResult answer_;
  std::size_t explained_left_;
  std::size_t bounds_left_;
  std::vector<std::optional<NodeId>> nodes_;  // by member
  std::optional<GroupReport> report_;
};

std::int64_t held_members(const Group& leaf, const Cluster& cluster) {
  const GroupMembers* known = cluster.members(leaf.key.name_space, leaf.key.name);
  return known == nullptr ? 0 : known->running_total + known->succeeded;
}

// Whether the tree is one pod of a group that may be anywhere, and the pod alone decides: the group
// has its minimum, or reaches it by this pod.
bool is_one_free_pod(const Group& root, const Cluster& cluster, const Profile& profile) {
  if (root.key.kind != GroupKind::PodGroup || root.pods.size() != 1 || root.has_topology() ||
      root.pods.front().pod->meta().deletion_time)
    return false;
  const PlacementProgress with_it{.scheduled = held_members(root, cluster) + 1};
  return with_it.scheduled >= root.minimum &&
         std::ranges::all_of(profile.placement_feasibles(), [&](const auto& entry) {
           return entry.plugin->status(root, with_it) == PlacementStatus::Success;
         });
}

// Scheduled like a lone pod; only the condition of its group is extra.
Plan attempt_free_pod(const Group& root, Cluster& cluster, const Profile& profile) {
  Plan plan = attempt_pod(root.pods.front(), cluster, profile);
  GroupVerdict verdict{root.key, root.object, Outcome::Placed, "", ""};
  if (plan.assignments.empty()) {
    std::string why = plan.refusals.front().message;
    if (why.ends_with('.')) why.pop_back();
    verdict.outcome = plan.refusals.front().outcome;
    verdict.message = fmt::format("{}, {}", kUnschedulable, why);
  }
  plan.groups.push_back(std::move(verdict));
  return plan;
}

}  // namespace

Plan attempt_group(const Group& root, Cluster& cluster, const Profile& profile,
                   const PlacementOptions& options_given) {
  PlacementOptions options = options_given;
  if (!options.placements_percentage)
    options.placements_percentage = profile.settings().placements_percentage;
  Plan plan;
  auto wrong = wrong_pods(root);
  if (!wrong) wrong = wrong_claims(root);
  if (!wrong && cluster.node_count() == 0)
    wrong = {Outcome::Unresolvable, "no nodes available to schedule pods", {}, WaitsFor::Node};
  if (wrong) {
    fail_all(root, *wrong, plan);
    return plan;
  }
  if (is_one_free_pod(root, cluster, profile)) return attempt_free_pod(root, cluster, profile);
  Standings& standings = Standings::of(cluster, profile);
  const std::uint64_t rows_read = standings.rows_read();
  {
    const GroupTree tree(root, cluster, standings);
    Workspace workspace(cluster, *tree.topology, tree.standings);
    Placer placer(tree, workspace, options);
    const SearchResult answer = placer.run();
    plan = PlanWriter(tree, workspace, placer, answer, options).write();
    plan.placements = placer.counts();
    plan.rows_read = workspace.rows_read() + standings.rows_read() - rows_read;
  }
  standings.evict_cold();
  for_each_pod(root, [&](const PendingPod& pending) {
    if (pending.pod->meta().deletion_time)
      plan.refusals.push_back({pending.pod,
                               Outcome::Unresolvable,
                               "skip schedule deleting pod: " + api::key_text(pending.pod->meta()),
                               {},
                               WaitsFor::Nothing});
  });
  return plan;
}

}  // namespace muster::scheduler
