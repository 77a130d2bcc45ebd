#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/views/pod_facts.h"
#include "scheduler/preemption/group_search.h"
#include "scheduler/preemption/preemption.h"

namespace muster::scheduler {
namespace {

bool never_preempts(const Group& root) {
  if (root.never_preempts) return *root.never_preempts;
  const auto any = [](const auto& self, const Group& group) -> bool {
    return std::ranges::any_of(group.pods,
                               [](const PendingPod& pending) {
                                 return api::view_of(pending.pod).never_preempts;
                               }) ||
           std::ranges::any_of(group.children,
                               [&self](const Group& child) { return self(self, child); });
  };
  return any(any, root);
}

}  // namespace

PreemptionPlan preempt_for_group(ClusterModel& model, const Group& root, const PreemptionArgs& args,
                                 Time now) {
  if (never_preempts(root)) {
    PreemptionPlan plan;
    plan.message = fmt::format("{}not eligible due to preemptionPolicy=Never.", kGroupPreemption);
    return plan;
  }
  return search_victims(model, root, root.priority, args, now);
}

// Those who end first leave; the search only has to name nodes that few have to leave.
Reservation reserve_for_group(ClusterModel& model, const Group& root, const PreemptionArgs& args,
                              Time now) {
  PreemptionArgs waiting = args;
  waiting.violates_budgets = true;
  waiting.victim_patience = Duration::max();
  const PreemptionPlan plan = search_victims(model, root, root.priority + 1, waiting, now);
  Reservation reservation;
  if (!plan.found()) return reservation;
  std::set<std::string_view> nodes;
  for (const PreemptionPlan::Place& place : plan.nominated) nodes.insert(place.node);
  reservation.nodes = nodes.size();
  reservation.places = plan.nominated;
  reservation.steps = plan.steps;
  return reservation;
}

PreemptionPlan make_room_for_group(ClusterModel& model, const Group& root, Time now) {
  const Profile& profile = model.profile_of(root);
  PreemptionPlan plan;
  for (const auto& entry : profile.group_post_filters()) {
    std::string before = std::move(plan.message);
    const std::uint64_t steps = plan.steps;
    plan = entry.plugin == nullptr
               ? preempt_for_group(model, root, profile.settings().preemption, now)
               : entry.plugin->make_room(model, root, now);
    plan.steps += steps;
    if (plan.found()) break;
    if (!before.empty() && !plan.message.empty()) before += ", ";
    plan.message.insert(0, before);
  }
  return plan;
}

}  // namespace muster::scheduler
