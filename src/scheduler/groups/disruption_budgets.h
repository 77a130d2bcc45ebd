#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// The PodDisruptionBudgets there are, by namespace: whom an eviction for a pod of higher priority
// would hurt more than was promised. A preference, as upstream has it, unless a profile forbids it.
class DisruptionBudgets {
 public:
  void put(const api::ObjectPtr& budget);
  void remove(const api::Object& budget);
  bool empty() const { return by_namespace_.empty(); }

  // What is left of every budget while victims are counted one after the other.
  class Ledger {
   public:
    explicit Ledger(const DisruptionBudgets& budgets) : budgets_(budgets) {}
    // Counts one more victim. The name of the first budget that it exceeds, as namespace/name;
    // empty if none. A pod without labels, or whose disruption is counted already, exceeds none.
    std::string spend(const api::Object& pod);

   private:
    const DisruptionBudgets& budgets_;
    std::map<const api::Object*, std::int64_t> spent_;  // looked up only
  };

 private:
  using Budgets = std::map<std::string, api::ObjectPtr, std::less<>>;  // by name
  std::map<std::string, Budgets, std::less<>> by_namespace_;
};

}  // namespace muster::scheduler
