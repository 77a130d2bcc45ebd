#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/object.h"
#include "api/views/budget_view.h"
#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// The PodDisruptionBudgets there are, by namespace: what an eviction for a pod of higher priority
// would hurt more than was promised. A preference, as upstream has it, unless a profile forbids it.
//
// A victim is compared with the budgets that ask for a label it has: a budget is indexed by the one
// part of its selector that the fewest others are indexed by. Belongs to one thread: a budget is
// read at the first question after it has changed, since most changes of most budgets are followed
// by none.
class DisruptionBudgets {
 public:
  // The most requirements, of all selectors together, that one victim is compared with. Beyond them
  // it counts as exceeding a budget, as if one allowed no disruption at all; no namespace can make
  // its victims cost more. Upstream has no bound.
  static constexpr std::size_t kTestsMax = 256;

  void put(const api::ObjectPtr& budget);
  void remove(const api::Object& budget);
  bool empty() const { return by_namespace_.empty(); }
  // For tests: how many budgets were compared with victims.
  std::uint64_t looks() const { return looks_; }

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
  // Where a budget is indexed: by a label's key, and by its value if the flag says so. No key: for
  // every pod.
  using Place = std::tuple<std::string, bool, std::string>;
  using ByName = std::map<std::string, api::ObjectPtr, std::less<>>;
  struct Entry {
    api::ObjectPtr budget;
    std::vector<Place> places;
  };
  struct Namespace {
    std::map<std::string, Entry, std::less<>> budgets;  // by name
    std::set<std::string> unread;                       // names; those without places yet
    std::map<Place, ByName, std::less<>> found_at;
  };
  struct Candidates {
    std::vector<const api::Object*> budgets;  // in the order of their names
    bool too_many = false;                    // and these are only some of them
  };

  static std::vector<Place> places_for(const api::LabelRequirement& test);
  static std::vector<Place> rarest_places(const Namespace& home, const api::BudgetView& budget);
  static void leave(Namespace& home, const std::string& name, Entry& entry);
  static void read(Namespace& home);
  Candidates candidates(const api::ObjectMeta& pod) const;

  // Mutable: budgets that have changed are read when somebody asks.
  mutable std::map<std::string, Namespace, std::less<>> by_namespace_;
  mutable std::uint64_t looks_ = 0;
};

}  // namespace muster::scheduler
