#pragma once

#include <string>
#include <string_view>

#include "api/views/condition.h"
#include "scheduler/framework/plan.h"

namespace muster::scheduler {

// How the sentence about a group without a place begins.
inline constexpr std::string_view kGroupUnschedulable = "pod group is unschedulable";

// The condition that says what a pod waits for; without a status: it has none.
api::Condition waits_for_condition(WaitsFor what);
// What a member says of a failure of its group: it changes only when what it waits for does.
std::string member_message(const api::Object& pod, WaitsFor what);

}  // namespace muster::scheduler
