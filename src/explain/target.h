#pragma once

#include <cstdint>
#include <optional>

#include "api/object.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/plan.h"

namespace muster::explain {

// What may still be spent on trying things; counted, never timed.
struct Budget {
  std::uint64_t attempts = 0;
  std::uint64_t steps = 0;

  bool is_spent() const { return attempts == 0 || steps == 0; }
  void charge(const scheduler::Plan& plan) {
    attempts -= attempts == 0 ? 0 : 1;
    steps -= plan.steps < steps ? plan.steps : steps;
  }
};

// What was asked about, as something that can be placed: a group, or a pod without one.
struct Target {
  std::optional<scheduler::GroupKey> group;
  api::ObjectPtr lone_pod;
};

}  // namespace muster::explain
