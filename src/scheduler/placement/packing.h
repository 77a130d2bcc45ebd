#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scheduler/placement/budget.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/symmetry.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {

// Puts as many pods of one leaf as it needs on the nodes of a domain, and then what comes after: a
// way to pack the leaf is good only if the rest of the search succeeds too. If all of it succeeds,
// what it placed stays on the draft; otherwise the draft is unchanged.
class Packing {
 public:
  // What it shares with its search.
  struct Context {
    const GroupTree& tree;
    Workspace& workspace;
    Budget& budget;
    Symmetry& symmetry;
    bool counts_exactly = true;  // no filter of any class looks beyond its node
    bool is_one_class = false;   // and all pods of the tree are of one class
  };
  using Rest = std::function<bool()>;

  // `needed`: how many of its pods. `rest`: places all that comes after; empty if nothing does.
  Packing(Context context, std::uint32_t leaf, std::int64_t needed, const Domain& domain, Rest rest)
      : context_(context), leaf_(leaf), needed_(needed), domain_(domain), rest_(std::move(rest)) {}

  // The lightest pods, by score and then tightly. NoOtherWay: it failed, and so would any other way
  // to pack the leaf.
  enum class Quick : std::uint8_t { Placed, Failed, NoOtherWay };
  Quick quickly();
  // Tries every way, except those that only swap pods or nodes that are alike. False proves that
  // there is none, unless the budget is spent.
  bool every_way();

 private:
  // One class's turn: bins in an order in which equal ones are neighbours.
  struct Turn {
    std::size_t at = 0;  // position in classes_
    std::vector<std::size_t> order = {};
    std::vector<char> equals_previous = {};
    std::vector<std::int64_t> counts = {};
    std::size_t used = 0;
  };

  bool place_rest() const { return !rest_ || rest_(); }
  bool makes_no_difference() const;
  std::vector<std::uint32_t> lightest();
  double weight_of(std::uint32_t class_index, const Workspace::Totals& totals) const;
  bool pack(const std::vector<std::uint32_t>& chosen, bool tightly);
  std::optional<NodeId> tightest(std::uint32_t class_index, Arena& arena);

  void fill_bins_with_nodes();
  bool start_turn(std::size_t at, std::int64_t left);
  bool fill(Turn& turn, std::size_t from, std::int64_t left);
  std::int64_t room_in(std::uint32_t class_index, const std::vector<NodeId>& bin);
  std::int64_t room_left(const Turn& turn, std::size_t from);
  bool put_into(const Turn& turn, const std::vector<NodeId>& bin, std::int64_t count);
  void put(std::uint32_t class_index, NodeId node, std::uint32_t member);

  Context context_;
  std::uint32_t leaf_;
  std::int64_t needed_;
  const Domain& domain_;
  Rest rest_;

  // For every way. A bin is a node, or, if all pods of the tree are of one class, a cell: then only
  // how many are in it matters.
  std::vector<std::uint32_t> classes_;               // the heaviest first
  std::vector<std::vector<std::uint32_t>> members_;  // by position in classes_
  std::vector<std::vector<NodeId>> bins_;
};

}  // namespace muster::scheduler
