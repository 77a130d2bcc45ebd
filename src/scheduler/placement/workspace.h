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

// One attempt's view of the cluster: the classes of the pods at hand ("shapes"), how many more of
// each every cell takes, and what every cell has and uses of the resources that matter. Listens to
// the draft, so all of it is true after every move and every undoing.
class Workspace final : public Draft::Listener {
 public:
  Workspace(Cluster& cluster, const Topology& topology, std::vector<Standing*> shapes);
  ~Workspace() override = default;

  Cluster& cluster() { return cluster_; }
  const Topology& topology() const { return topology_; }
  Draft& draft() { return draft_; }
  const Draft& draft() const { return draft_; }
  std::size_t shape_count() const { return shapes_.size(); }
  Standing& shape(std::size_t shape) const { return *shapes_[shape]; }
  // Whether caps count exactly: no filter of the shape looks beyond its node.
  bool counts_exactly(std::size_t shape) const { return exact_[shape]; }

  // How many more pods of the shape fit, by node and by domain.
  std::int32_t cap(std::size_t shape, NodeId node);
  std::int64_t cap_sum(std::size_t shape, const Domain& domain);

  // What a domain has: free pod slots, and per tracked resource what is free, allocatable, and used
  // the way scores count it. Resources: cpu, memory, then every other one that some shape asks for.
  struct Amount {
    std::int64_t free = 0;
    std::int64_t allocatable = 0;
    std::int64_t used = 0;
  };
  struct Totals {
    std::int64_t slots = 0;
    boost::container::small_vector<Amount, 6> amounts;
  };
  std::span<const ResourceId> tracked() const { return tracked_; }
  Totals totals(const Domain& domain) const;
  // What one pod of the shape asks for of the tracked resource, and what it adds to `used`.
  std::int64_t wanted(std::size_t shape, std::size_t tracked) const {
    return wants_[shape * tracked_.size() + tracked];
  }
  std::int64_t scored(std::size_t shape, std::size_t tracked) const {
    return scored_[shape * tracked_.size() + tracked];
  }

  void place(std::size_t shape, NodeId node, std::uint32_t tag) {
    draft_.place(shapes_[shape]->pods(), node, tag);
  }
  bool is_touched(NodeId node) const { return touched_[node] != 0; }

  // From the draft.
  void placed(const PodClass& pods, NodeId node) override;
  void removed(const PodClass& pods, NodeId node) override;

 private:
  friend class Arena;

  void sum_cells();
  void count(const PodClass& pods, NodeId node, std::int64_t sign);
  void update_caps(NodeId node);
  void sync_caps();

  Cluster& cluster_;
  const Topology& topology_;
  std::vector<Standing*> shapes_;
  std::vector<char> exact_;
  std::vector<ResourceId> tracked_;
  std::vector<std::int64_t> wants_;
  std::vector<std::int64_t> scored_;
  std::vector<std::size_t> tracked_of_;  // by ResourceId: index in tracked_ + 1

  std::vector<std::int64_t> cell_slots_;
  std::vector<Amount> cell_amounts_;  // [cell * tracked + t]
  std::vector<CapColumn> caps_;       // by shape; true for the first caps_synced_ moves
  std::vector<std::vector<std::int64_t>> cell_caps_;
  std::size_t caps_synced_ = 0;
  Column<std::uint16_t> touched_;  // moves of the draft on each node

  Arena* arena_ = nullptr;
  std::vector<std::uint32_t> seat_of_;  // by node: its place in the arena
  Draft draft_;                         // last: its undoing still tells the rest
};

// The nodes of one domain, ready to answer which is best for the next pod. At most one at a time.
class Arena {
 public:
  Arena(Workspace& workspace, const Domain& domain);
  ~Arena() { workspace_.arena_ = nullptr; }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::span<const NodeId> nodes() const { return nodes_; }
  std::optional<NodeId> pick(std::size_t shape);
  bool is_feasible(std::size_t shape, NodeId node);
  bool contains(NodeId node) const;
  void update(NodeId node);

 private:
  Contest& contest(std::size_t shape);

  Workspace& workspace_;
  std::vector<NodeId> nodes_;
  struct Side {
    bool built = false;
    Contest contest;
  };
  std::vector<Side> sides_;  // by shape
};

}  // namespace muster::scheduler
