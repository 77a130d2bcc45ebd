// The condition that says what a pod without a node waits for: written, changed, and removed once
// the pod has a node.
#include <optional>
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
  if (waits != WaitsFor::Siblings)
    if (const std::optional<GroupKey> leaf = model_.leaf_of(*pod)) held_.says_other(*leaf);
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

void Report::tree_moved(const QueueEntity& tree) {
  if (tree.place == Place::Nowhere)
    held_.forget(*tree.root);
  else if (tree.place == Place::Gated && !tree.held_until)
    held_.held(*tree.root);
  else
    held_.released(*tree.root);
}

void Report::waits_in_tree(const GroupKey& leaf, const api::Object& pod) {
  if (says_other_than_siblings(pod)) held_.says_other(leaf);
}

void Report::write_held(Time now) {
  for (const ObjectPtr& pod : held_.run(now))
    write_refused(pod, "Unschedulable", member_message(*pod, WaitsFor::Siblings),
                  WaitsFor::Siblings, now);
}

}  // namespace muster::scheduler
