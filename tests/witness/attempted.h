#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "scheduler/placement/placer.h"
#include "witness/case.h"

namespace muster::scheduler::witness {

// What the product made of a case.
struct Attempted {
  SearchResult answer = SearchResult::Unresolved;
  std::map<std::string, std::string> placed;  // pods by name, with their nodes
  std::map<std::string, std::string> ready;   // groups that met their minimum, with their domains
  std::uint64_t steps = 0;
  bool is_budget_spent = false;
  // Groups without a place about which the search cannot say that there is none.
  std::set<std::string> unresolved;
  friend bool operator==(const Attempted&, const Attempted&) = default;
};

// Asks the placer. `look` sees the tree and the placer while the plan stands on the draft.
using Look = std::function<void(const GroupTree&, Placer&, const Attempted&)>;
Attempted attempt(const Objects& objects, Cluster& cluster, const Profile& profile,
                  PlacementOptions options = {}, const Look& look = {});

}  // namespace muster::scheduler::witness
