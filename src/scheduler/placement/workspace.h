#pragma once

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/framework/contest.h"
#include "scheduler/framework/draft.h"
#include "scheduler/framework/standing.h"
#include "scheduler/placement/topology.h"

namespace muster::scheduler {

class Arena;

// One attempt's view of the cluster: the classes of the pods at hand, how many more of each every
// cell takes, and what every cell has and uses of the resources that matter. Listens to the draft,
// so all of it is true after every move and every undo. The numbers themselves are the standings'
// and the topology's, kept across attempts: moves are counted there in place, and uncounted before
// the attempt ends.
class Workspace final : public Draft::Listener {
 public:
  Workspace(Cluster& cluster, Topology& topology, std::vector<Standing*> standings);
  ~Workspace() override;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  Cluster& cluster() { return cluster_; }
  const Topology& topology() const { return topology_; }
  Draft& draft() { return draft_; }
  const Draft& draft() const { return draft_; }
  std::size_t class_count() const { return standings_.size(); }
  Standing& standing(std::size_t class_index) const { return *standings_[class_index]; }
  // Whether caps count exactly: no filter of the class looks beyond its node.
  bool counts_exactly(std::size_t class_index) const { return exact_[class_index]; }

  // How many more pods of the class fit, by node and by domain.
  std::int32_t cap(std::size_t class_index, NodeId node);
  std::int64_t cap_sum(std::size_t class_index, const Domain& domain);

  // What a domain has: free pod slots, and per tracked resource what is free, allocatable, and used
  // the way scores count it. Resources: cpu, memory, then every other one that some class asks for.
  using Amount = CellTable::Amount;
  struct Totals {
    std::int64_t slots = 0;
    boost::container::small_vector<Amount, 6> amounts;
  };
  std::span<const ResourceId> tracked() const { return tracked_; }
  Totals totals(const Domain& domain) const;
  // What one pod of the class asks for of the tracked resource, and what it adds to `used`.
  std::int64_t wanted(std::size_t class_index, std::size_t tracked) const {
    return wants_[class_index * tracked_.size() + tracked];
  }
  std::int64_t scored(std::size_t class_index, std::size_t tracked) const {
    return scored_[class_index * tracked_.size() + tracked];
  }

  void place(std::size_t class_index, NodeId node, std::uint32_t tag) {
    draft_.place(standings_[class_index]->pods(), node, tag);
  }
  bool is_touched(NodeId node) const { return scratch_.touched[node] != 0; }

  // Rows of the node table looked at by this attempt, beyond those the standings report.
  std::uint64_t rows_read() const {
    return rows_read_ + topology_.table().rows_read() - table_rows_read_;
  }

  // From the draft.
  void applied(const Draft::Move& move) override;
  void undone(const Draft::Move& move) override;

 private:
  friend class Arena;

  enum class Change : std::int8_t { Placed = 1, Removed = -1 };
  void apply_move(const Draft::Move& move, Change change);
  void count(const PodClass& pods, NodeId node, std::int64_t sign);
  void recount(const PodClass& pods, NodeId node, std::int64_t sign);
  void update_caps(NodeId node);
  void sync_caps();

  Cluster& cluster_;
  Topology& topology_;
  CellTable::Scratch& scratch_;
  std::vector<Standing*> standings_;
  std::vector<char> exact_;
  std::vector<char> hopeless_;  // by class: whatever is placed, no node takes one of it
  std::vector<ResourceId> tracked_;
  std::vector<std::int64_t> wants_;
  std::vector<std::int64_t> scored_;
  std::vector<std::size_t> tracked_of_;  // by ResourceId: index in tracked_ + 1

  std::vector<std::vector<Amount>*> amounts_;                // by tracked resource, then by cell
  std::vector<const std::vector<std::int64_t>*> cell_caps_;  // by class, then by cell
  std::size_t caps_synced_ = 0;                              // caps are true for this many moves
  // Classes that hear of every move, because a pass of theirs looks beyond its node. They keep
  // themselves true; all others are asked again about the nodes of moves.
  std::vector<std::size_t> following_;
  std::uint64_t rows_read_ = 0;
  std::uint64_t table_rows_read_ = 0;  // by earlier attempts

  Arena* arena_ = nullptr;
  Draft draft_;  // last: its destructor undoes its moves, and the members above hear of it
};

// The nodes of one domain, ready to answer which is best for the next pod. At most one at a time.
// For the whole cluster it borrows the standings' contests, where a node's seat is its row, and
// gives them back as they were: an attempt costs its own moves, not the rows there are. Otherwise
// it seats the domain's nodes and enters them one by one.
class Arena {
 public:
  Arena(Workspace& workspace, const Domain& domain);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::span<const NodeId> nodes();
  std::optional<NodeId> pick(std::size_t class_index);
  bool is_feasible(std::size_t class_index, NodeId node);
  bool contains(NodeId node) const;
  // What making it ready counts for in a budget: nodes to seat, or moves to enter.
  std::uint64_t work() const {
    return is_whole_ ? workspace_.draft().moves().size() / 8 : nodes_.size() / 16;
  }

 private:
  friend class Workspace;

  // Re-enters a moved node for classes that do not follow moves, or the rows touched for one class.
  void update(NodeId node);
  void update_touched(std::size_t class_index);
  Contest& contest(std::size_t class_index);
  void seat_nodes();
  void enter_nodes(std::size_t class_index, Contest& contest);
  Contest& borrow(std::size_t class_index);
  void enter_now(std::size_t class_index, NodeId node);
  std::size_t seat_of(NodeId node) const {
    return is_whole_ ? index_of(node) : workspace_.scratch_.seats[index_of(node)];
  }

  Workspace& workspace_;
  Domain domain_;
  bool is_whole_;
  std::vector<NodeId> nodes_;  // of the whole cluster: listed when somebody asks
  struct Side {
    bool built = false;
    std::uint64_t layout = 0;  // Standing::layout_epoch when it was built
    Contest contest;           // not for the whole cluster
  };
  std::vector<Side> sides_;  // by class
  // Keys that moves have changed in contests that are borrowed, the last change at the end.
  struct ChangedKey {
    std::size_t class_index;
    NodeId node;
    std::uint64_t key;
  };
  std::vector<ChangedKey> changed_keys_;
};

}  // namespace muster::scheduler
