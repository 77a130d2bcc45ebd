#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "witness/case.h"

namespace muster::scheduler::witness {

// What is free on every node of a case: cpu, gpu, pod slots.
struct Room {
  std::vector<std::int64_t> cpu;
  std::vector<std::int64_t> gpu;
  std::vector<std::int64_t> slots;
  friend auto operator<=>(const Room&, const Room&) = default;
};

// Nodes of a case by number.
using Nodes = std::vector<std::size_t>;

// Tries everything. Written to be believed, not to be fast: one recursive function over what is
// still to do, with a memory of what failed.
class Exact {
 public:
  explicit Exact(const Case& from);

  // The room before anything is placed, and what is left with these pods on these nodes as well.
  const Room& room() const { return room_; }
  Room room_with(const std::map<std::string, std::string>& placed) const;

  // Whether some plan meets the root's minimum, and with it every minimum that it needs, and
  // places at least one pod.
  bool fits();
  // Whether the group alone can meet its minimum inside these nodes.
  bool can_meet_minimum(const Case::Group& group, const Nodes& within, const Room& room);
  // The most pods of the group that find a place inside these nodes by any plan that keeps every
  // topology of its subtree, minimums met or not.
  std::int64_t most_pods(const Case::Group& group, const Nodes& domain, const Room& room);

  // The sets of nodes that a group may choose from inside others, by name.
  std::map<std::string, Nodes> domains(const Case::Group& group, const Nodes& within) const;
  Nodes everywhere() const;
  bool fits_on(const Case::Shape& shape, std::size_t node, const Room& room) const;
  std::int64_t held(const Case::Group& leaf) const;

 private:
  // One group at work: its domain is found, `at` of its pods or children were looked at and `done`
  // of them have their place.
  struct Task {
    const Case::Group* group;
    Nodes nodes;
    bool has_domain = false;
    std::size_t at = 0;
    std::int64_t done = 0;
    friend auto operator<=>(const Task&, const Task&) = default;
  };
  using Todo = std::vector<Task>;  // the last is next

  bool solve(Todo todo, const Room& room);
  bool choose_domain(const Todo& rest, const Task& task, const Room& room);
  bool go_on_with_pods(Todo todo, const Room& room);
  bool go_on_with_children(Todo todo, const Room& room);
  std::int64_t most(Todo todo, const Room& room);
  std::int64_t most_of_pods(Todo todo, const Room& room);
  std::int64_t needed(const Case::Group& group) const;
  static void take(const Case::Shape& shape, std::size_t node, Room& room);

  const Case& from_;
  Room room_;
  bool wants_new_pod_ = false;
  bool takes_extras_ = false;
  bool saw_idle_plan_ = false;  // a plan that meets every minimum without a new pod
  Room start_;
  std::set<std::pair<Todo, Room>> failed_;
  std::map<std::pair<Todo, Room>, std::int64_t> known_most_;
};

}  // namespace muster::scheduler::witness
