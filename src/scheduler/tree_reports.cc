#include "scheduler/tree_reports.h"

#include <fmt/format.h>

#include <utility>

#include "scheduler/groups/group_spec.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kInvalid = "Invalid";
constexpr std::string_view kFailed = "FailedScheduling";

}  // namespace

void TreeReports::run(Time now) {
  for (const GroupKey& key : model_.drain_judged())
    if (const GroupSpec* group = model_.forest().find(key)) report(*group, now);
  for (const api::ObjectPtr& pod : std::exchange(joined_invalid_, {}))
    if (const std::optional<GroupKey> leaf = model_.leaf_of(*pod))
      if (const std::string* fault = model_.fault(*leaf)) warn(*pod, kFailed, *fault, now);
}

void TreeReports::report(const GroupSpec& group, Time now) {
  if (group.object == nullptr) return;
  const api::Condition* current = scheduled_condition_of(group);
  const std::string* fault = model_.fault(group.key);
  if (fault == nullptr) {
    statuses_.withdraw(group.object, scheduled_condition(group.key.kind), current, kInvalid);
    return warn_of_nesting(group, now);
  }
  if (current != nullptr && current->status == "True")
    warn(*group.object, kFailed, *fault, now);
  else
    statuses_.write(group.object, current,
                    {.type = std::string(scheduled_condition(group.key.kind)),
                     .status = "False",
                     .reason = std::string(kInvalid),
                     .message = *fault},
                    now);
  if (group.key.kind != GroupKind::PodGroup) return;
  for (const PodRole role : {PodRole::Waiting, PodRole::Gated})
    for (const api::ObjectPtr& pod : model_.members(group.key, role))
      warn(*pod, kFailed, *fault, now);
}

void TreeReports::warn_of_nesting(const GroupSpec& group, Time now) {
  const GroupSpec* above = &group;
  for (std::size_t level = 1; level < kTreeDepthMax && !above->parent.empty(); ++level) {
    above =
        model_.forest().find({GroupKind::CompositePodGroup, group.key.name_space, above->parent});
    if (above == nullptr) return;
    if (!above->disrupted_together || group.disrupted_together) continue;
    return warn(*group.object, "DisruptionModeIgnored",
                fmt::format("disruptionMode single has no effect: composite pod group \"{}\" above "
                            "is disrupted as a whole",
                            above->key.name),
                now);
  }
}

void TreeReports::warn(const api::Object& about, std::string_view reason,
                       const std::string& message, Time now) {
  recorder_.record(about,
                   {.type = "Warning",
                    .reason = std::string(reason),
                    .action = "Scheduling",
                    .message = message},
                   now);
}

}  // namespace muster::scheduler
