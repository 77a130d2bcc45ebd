// What pods say of themselves while they have no node, and that they say so no longer.
#include <algorithm>
#include <utility>

#include "api/values/waits_for.h"
#include "api/views/pod_facts.h"
#include "scheduler/groups/group_spec.h"
#include "scheduler/report.h"
#include "scheduler/waits_for_words.h"

namespace muster::scheduler {

using api::ObjectPtr;
using api::view_of;

void Report::write_refused(const ObjectPtr& pod, std::string reason, std::string message,
                           WaitsFor waits, Time now) {
  constexpr std::string_view kPodScheduled = "PodScheduled";
  const api::PodView& view = view_of(pod);
  statuses_.write(pod, view.condition(kPodScheduled),
                  {.type = std::string(kPodScheduled),
                   .status = "False",
                   .reason = std::move(reason),
                   .message = std::move(message)},
                  {view.condition(api::kWaitsForCondition), waits_for_condition(waits)}, now);
}

void Report::assigned(const ObjectPtr& pod) {
  const api::Condition* waits = view_of(pod).condition(api::kWaitsForCondition);
  if (waits != nullptr && model_.serves(*pod))
    statuses_.withdraw(pod, api::kWaitsForCondition, waits, waits->reason);
}

// Those of its pods that said that a node would help them.
void Report::write_held(const GroupKey& root, Time now) {
  std::vector<ObjectPtr> pods;
  const std::string siblings = waits_for_condition(WaitsFor::Siblings).reason;
  ForestWalk walk(root, ForestWalk::Over::Busy);
  while (const GroupKey* group = model_.forest().next(walk))
    model_.each_member(*group, PodRole::Waiting, [&](const ObjectPtr& pod) {
      const api::Condition* waits = view_of(pod).condition(api::kWaitsForCondition);
      if (waits != nullptr && waits->reason != siblings) pods.push_back(pod);
    });
  std::ranges::sort(pods, {}, [](const ObjectPtr& pod) { return pod->meta().uid; });
  for (const ObjectPtr& pod : pods)
    write_refused(pod, "Unschedulable", member_message(*pod, WaitsFor::Siblings),
                  WaitsFor::Siblings, now);
}

}  // namespace muster::scheduler
