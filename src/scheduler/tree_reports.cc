#include "scheduler/tree_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler/groups/group_spec.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kInvalid = "Invalid";
constexpr std::string_view kFailed = "FailedScheduling";

// Groups that are looked at, and reported, in one go. What is written costs more than a look.
constexpr std::size_t kStepsMax = 256;
constexpr std::size_t kStepsPerWord = 25;

// Pods of a group that get an event, at most: beyond a thousand, events are dropped anyway.
constexpr std::size_t kPodsToldMax = 1'000;

// In their order, beginning after one of them.
std::vector<std::string> after(std::vector<std::string> names, const std::string& last) {
  std::ranges::rotate(names, std::ranges::upper_bound(names, last));
  return names;
}

}  // namespace

TreeReports::TreeReports(ClusterModel& model, client::StatusWriter& statuses,
                         client::EventRecorder& recorder)
    : model_(model),
      statuses_(statuses),
      recorder_(recorder),
      words_({.burst = kStepsMax * kStepsPerWord}) {}

TreeFaults::Anchors TreeReports::judge(Time now) {
  for (const std::string& name_space : after(model_.unjudged(), looked_last_)) {
    if (looks_.left(name_space, now) < kStepsMax) continue;
    looked_last_ = name_space;
    std::size_t left = kStepsMax;
    TreeFaults::Anchors judged = model_.judge(name_space, left);
    looks_.charge(name_space, kStepsMax - left, now);
    return judged;
  }
  return {};
}

void TreeReports::run(Time now) {
  std::size_t left = kStepsMax;
  for (const std::string& name_space : after(model_.judged_namespaces(), spoke_last_)) {
    if (left == 0) break;
    const std::size_t allowed = words_.left(name_space, now) / kStepsPerWord;
    if (allowed == 0) continue;
    spoke_last_ = name_space;
    std::size_t steps = 0;
    const std::vector<GroupKey> keys = model_.drain_judged(name_space, std::min(allowed, left));
    for (const GroupKey& key : keys)
      if (const GroupSpec* group = model_.forest().find(key)) steps += report(*group, now);
    words_.charge(name_space, steps + keys.size(), now);
    left -= keys.size();
  }
  for (const api::ObjectPtr& pod : std::exchange(joined_invalid_, {}))
    if (const std::optional<GroupKey> leaf = model_.leaf_of(*pod))
      if (const std::string* fault = model_.fault(*leaf)) warn(*pod, kFailed, *fault, now);
}

std::optional<Time> TreeReports::next_deadline() const {
  std::optional<Time> next;
  const auto offer = [&next](Time when) { next = std::min(next.value_or(when), when); };
  for (const std::string& name_space : model_.unjudged()) offer(looks_.when(name_space, kStepsMax));
  for (const std::string& name_space : model_.judged_namespaces())
    offer(words_.when(name_space, kStepsPerWord));
  return next;
}

// Returns what it cost, in steps.
std::size_t TreeReports::report(const GroupSpec& group, Time now) {
  if (group.object == nullptr) return 0;
  const api::Condition* current = scheduled_condition_of(group);
  const std::string* fault = model_.fault(group.key);
  if (fault == nullptr) {
    statuses_.withdraw(group.object, scheduled_condition(group.key.kind), current, kInvalid);
    warn_of_nesting(group, now);
    return current != nullptr && current->reason == kInvalid ? kStepsPerWord : 0;
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
  if (group.key.kind != GroupKind::PodGroup) return kStepsPerWord;
  std::size_t pods = 0;
  for (const PodRole role : {PodRole::Waiting, PodRole::Gated}) {
    pods += model_.count(group.key, role);
    for (const api::ObjectPtr& pod : model_.members(group.key, role, kPodsToldMax))
      warn(*pod, kFailed, *fault, now);
  }
  return kStepsPerWord + pods;
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
