#include "explain/tree_plan.h"

#include <algorithm>
#include <utility>

#include "scheduler/cycle/attempt.h"

namespace muster::explain {
namespace {

using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::GroupVerdict;
using scheduler::Outcome;
using scheduler::Plan;
using scheduler::PodRole;

void collect_insisting(const scheduler::Group& group, std::vector<GroupKey>& out) {
  if (group.insists_until) out.push_back(group.key);
  for (const scheduler::Group& child : group.children) collect_insisting(child, out);
}

}  // namespace

TreePlan plan_tree(ClusterModel& model, const GroupKey& root, Time now) {
  const auto fill = [&](const GroupKey& leaf, std::vector<scheduler::PendingPod>& pods) {
    for (const api::ObjectPtr& pod : model.members(leaf, PodRole::Waiting))
      pods.push_back(
          {.pod = pod, .attempts = 0, .queued_at = pod->meta().creation_time.value_or(Time{})});
  };
  const auto is_placed = [&](const Plan& plan) {
    const GroupVerdict* verdict = verdict_of(plan, root);
    return verdict != nullptr && verdict->outcome == Outcome::Placed;
  };
  const scheduler::Group group = model.build(root, fill, now);
  std::optional<Plan> of_the_wait;
  if (group.stops_insisting()) {
    model.count_nominated(group);
    of_the_wait = attempt_group(group, model.cluster(), model.profile_of(group));
    if (is_placed(*of_the_wait)) return {.plan = *std::move(of_the_wait)};
  }
  TreePlan made{.plan = attempt(model, root)};
  if (!is_placed(made.plan)) {
    made.evicts_from = group.stops_insisting();
  } else if (of_the_wait) {
    made.plan = *std::move(of_the_wait);
    collect_insisting(group, made.insisting);
  }
  return made;
}

const GroupVerdict* verdict_of(const Plan& plan, const GroupKey& key) {
  const auto at = std::ranges::find(plan.groups, key, &GroupVerdict::key);
  return at == plan.groups.end() ? nullptr : &*at;
}

}  // namespace muster::explain
