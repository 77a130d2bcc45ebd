#pragma once

#include <string>
#include <string_view>

#include "api/views/condition.h"
#include "scheduler/framework/plan.h"

namespace muster::scheduler {

// How the sentence about a group without a place begins.
inline constexpr std::string_view kGroupUnschedulable = "pod group is unschedulable";

// The condition that says what a pod waits for; without a status if it waits for nothing.
api::Condition waits_for_condition(WaitsFor what);
// The message of a member whose group failed: it changes only when what it waits for does.
std::string member_message(const api::Object& pod, WaitsFor what);

}  // namespace muster::scheduler
