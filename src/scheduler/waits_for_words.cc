#include "scheduler/waits_for_words.h"

#include <fmt/format.h>

#include "api/values/waits_for.h"
#include "api/views/pod_view.h"

namespace muster::scheduler {
namespace {

// Reason and message of the condition, and how the PodScheduled condition of a member ends.
struct Words {
  std::string_view reason, message, ending;
};

Words words_of(WaitsFor what) {
  switch (what) {
    case WaitsFor::Nothing: break;
    case WaitsFor::Node:
      return {"Node", "no node has room for this pod", "; this pod waits for a node"};
    case WaitsFor::Siblings:
      return {"Siblings", "there is room for this pod, but not for all that its group needs",
              "; this pod waits for its siblings"};
    case WaitsFor::Evictions:
      return {"Evictions", "room is being made for this pod",
              "; this pod waits until others have left"};
  }
  return {};
}

}  // namespace

api::Condition waits_for_condition(WaitsFor what) {
  api::Condition condition;
  condition.type = api::kWaitsForCondition;
  if (what == WaitsFor::Nothing) return condition;
  const Words words = words_of(what);
  condition.status = "True";
  condition.reason = words.reason;
  condition.message = words.message;
  return condition;
}

std::string member_message(const api::Object& pod, WaitsFor what) {
  return fmt::format("{} (see pod group \"{}\"){}", kGroupUnschedulable,
                     pod.view<api::PodView>().scheduling_group, words_of(what).ending);
}

}  // namespace muster::scheduler
