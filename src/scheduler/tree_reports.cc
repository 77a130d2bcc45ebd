#include "scheduler/tree_reports.h"

#include <fmt/format.h>

#include "api/views/group_view.h"
#include "api/views/pod_view.h"
#include "scheduler/groups/group_spec.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kInvalid = "Invalid";
constexpr std::string_view kFailed = "FailedScheduling";

}  // namespace

void TreeReports::run(Time now) {
  const SchedulingQueue::Judged judged = queue_.take_judged(now);
  for (const GroupKey& key : judged.groups)
    if (const GroupSpec* group = queue_.forest().find(key)) report(*group, now);
  for (const api::ObjectPtr& pod : judged.pods) {
    const GroupKey leaf{GroupKind::PodGroup, pod->meta().name_space,
                        pod->view<api::PodView>().scheduling_group};
    if (const std::string* fault = queue_.faults().of_group(leaf)) tell(*pod, kFailed, *fault, now);
  }
}

void TreeReports::report(const GroupSpec& group, Time now) {
  if (group.object == nullptr) return;
  const std::string type(scheduled_condition(group.key.kind));
  const api::GroupCondition* current = group.object->view<api::GroupView>().condition(type);
  const std::string* fault = queue_.faults().of_group(group.key);
  if (fault == nullptr) {
    statuses_.withdraw(group.object, current, kInvalid);
    return warn_of_nesting(group, now);
  }
  if (current != nullptr && current->status == "True")
    tell(*group.object, kFailed, *fault, now);
  else
    statuses_.write(
        group.object, current,
        {.type = type, .status = "False", .reason = std::string(kInvalid), .message = *fault}, now);
  if (group.key.kind != GroupKind::PodGroup) return;
  for (const api::ObjectPtr& pod : queue_.pending_pods(group.key)) tell(*pod, kFailed, *fault, now);
}

void TreeReports::warn_of_nesting(const GroupSpec& group, Time now) {
  const GroupSpec* above = &group;
  for (std::size_t level = 1; level < kTreeDepthMax && !above->parent.empty(); ++level) {
    above =
        queue_.forest().find({GroupKind::CompositePodGroup, group.key.name_space, above->parent});
    if (above == nullptr) return;
    if (!above->disrupted_together || group.disrupted_together) continue;
    return tell(*group.object, "DisruptionModeIgnored",
                fmt::format("disruptionMode single has no effect: composite pod group \"{}\" above "
                            "is disrupted as a whole",
                            above->key.name),
                now);
  }
}

void TreeReports::tell(const api::Object& about, std::string_view reason,
                       const std::string& message, Time now) {
  recorder_.record(about,
                   {.type = "Warning",
                    .reason = std::string(reason),
                    .action = "Scheduling",
                    .message = message},
                   now);
}

}  // namespace muster::scheduler
