#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "api/object.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/plan.h"

namespace muster::explain {

// What may still be spent on trying things; counted, never timed. Nothing is left once the answer
// is no longer wanted.
struct Budget {
  std::uint64_t attempts = 0;
  std::uint64_t steps = 0;
  std::function<bool()> is_unwanted = {};  // the answer; empty: it is wanted

  bool is_spent() const { return attempts == 0 || steps == 0 || (is_unwanted && is_unwanted()); }
  void charge(const scheduler::Plan& plan) {
    attempts -= attempts == 0 ? 0 : 1;
    steps -= plan.steps < steps ? plan.steps : steps;
  }
};

// The subject, as something that can be placed: a group, or a pod without one.
struct Target {
  std::optional<scheduler::GroupKey> group;
  api::ObjectPtr lone_pod;
};

}  // namespace muster::explain
