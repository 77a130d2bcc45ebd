#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/explanation.h"
#include "explain/objects.h"
#include "scheduler/framework/plan.h"

namespace muster::explain {

// The groups around a subject: the whole tree it belongs to, and the result of an attempt at it.
struct Tree {
  std::vector<Level> levels;                // parents before children; never empty
  std::optional<scheduler::GroupKey> root;  // none: a group above is missing, or there is a fault
  std::string no_root;                      // why a group above is missing
  std::string fault;                        // what is wrong with the tree itself; mostly empty
  std::optional<scheduler::Plan> plan;      // of the attempt, if the tree may be tried
  // Groups that wait for their preferred topology, though the tree would fit without it; their
  // plan is that of the wait.
  std::vector<scheduler::GroupKey> insisting;
  // It has no place even without that, but until then nobody is evicted for it.
  std::optional<Time> evicts_from;

  const Level& subject() const;
  const Level* find(const scheduler::GroupKey& key) const;
};

// Reads the tree above and below `subject`, which must exist or be named by pods, and makes the
// attempt of that time if the tree is runnable.
Tree read_tree(scheduler::ClusterModel& model, const scheduler::GroupKey& subject, Time now);

// The verdict's message without the words every such message begins with.
std::string_view bare_message(std::string_view message);

}  // namespace muster::explain
