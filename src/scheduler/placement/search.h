#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/placement/bounds.h"
#include "scheduler/placement/budget.h"
#include "scheduler/placement/failed_states.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/packing.h"
#include "scheduler/placement/symmetry.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {

// What a search can say in the end. Unresolved: the budget was used up.
enum class SearchResult : std::uint8_t { Feasible, Infeasible, Unresolved };

// Looks for places for the minimum of a group and of every group below that it needs, depth first
// with backtracking. It goes twice over the choices: quickly, with two ways to pack each leaf, and
// then, if that finds nothing and the tree is small enough, over every way there is. What it finds
// stays on the draft.
//
// Choices, in the order they are made and tried:
//   a group's domain         the tightest first
//   a composite's children   as many as its minimum says, the easiest of them; hardest placed first
//   a leaf's pods and nodes  the lightest pods; by score, then tightly, then every other way
// Branches are cut where the minimums to come exceed what is left, where a state is met again that
// failed before, where a domain is as good as one that failed, and where twins would swap places.
class Search {
 public:
  Search(const GroupTree& tree, Workspace& workspace, Bounds& bounds, Budget& budget,
         std::size_t remembered_bytes_max);

  // Places the minimum of the group inside `within`, or leaves the draft as it was. `forced`: a
  // leaf below that must get a pod even if its minimum is met already.
  SearchResult place_minimum(std::uint32_t item, const Domain& within,
                             std::optional<std::uint32_t> forced = std::nullopt);

  // Whether two groups differ in name only.
  bool are_alike(std::uint32_t a, std::uint32_t b) const { return kin_[a] == kin_[b]; }

  // Of the last success: the groups that met their minimum, with their domains.
  const std::vector<std::pair<std::uint32_t, Domain>>& found() const { return found_; }

  // What it remembers of the states that failed since it was last begun.
  std::size_t remembered_bytes() const { return failed_.bytes(); }

 private:
  enum class Width : std::uint8_t { Quick, Full };

  // A group still to be placed, and what comes after it. Lives in the frame that made it.
  struct Task {
    std::uint32_t item = 0;
    const Domain* within = nullptr;
    const Task* next = nullptr;
    const Task* twin = nullptr;  // an equal sibling before it; its domain must not come after ours
    mutable const std::vector<Domain>* ranked = nullptr;  // its domains in the order they are tried
    mutable std::size_t rank = 0;                         // the one it is in
  };

  std::size_t group_count(std::uint32_t item) const;
  bool run(std::uint32_t item, const Domain& within, Width width);
  bool solve(const Task* todo);
  bool is_hopeless(const Task* todo);
  bool place(const Task& task);
  std::vector<Domain> ranked_domains(const Task& task);
  bool place_in(const Task& task, const Domain& domain);

  // A composite that is placed in a domain: which of its children get a place there.
  struct Child {
    std::uint32_t item = 0;
    double hardness = 0;  // in this domain
  };
  struct Choice {
    const Task& task;
    const Domain& domain;
    std::vector<Child> easiest = {};  // all of them, the easiest first
    std::vector<Child> chosen = {};
  };
  bool choose_children(Choice& choice, std::size_t from);
  bool place_children(const Choice& choice);
  bool are_twins(std::uint32_t a, std::uint32_t b) const;
  double hardness(std::uint32_t item, const Workspace::Totals& totals);

  bool pack(const Task& task, const Domain& domain);
  std::int64_t needed(std::uint32_t item) const;

  // All that a state's future depends on: what is still to be placed, and what was placed where
  // since the search began. Nodes that were alike at the start count as one kind.
  using State = FailedStates::State;
  State state_of(const Task& todo);
  void add_cells(State& state, std::span<const Draft::Move> moves) const;
  void add_nodes(State& state, std::span<const Draft::Move> moves) const;

  const GroupTree& tree_;
  Workspace& workspace_;
  Bounds& bounds_;
  Budget& budget_;
  Symmetry symmetry_;
  std::vector<std::uint32_t> kin_;  // by item: equal for groups that differ in name only
  std::vector<char> forced_;
  bool counts_exactly_ = true;  // no filter looks beyond its node
  bool is_one_class_ = false;

  Width width_ = Width::Quick;
  bool is_exhaustive_ = true;  // every branch that was cut was cut for a reason that proves it
  std::size_t moves_before_ = 0;
  FailedStates failed_;
  std::vector<std::pair<std::uint32_t, Domain>> found_;
};

}  // namespace muster::scheduler
