#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// What a search for victims must know of every pod that holds a node, row by row beside the
// cluster's lists (Cluster::pods_at). Caught up from the row log, so that a search costs the rows
// that changed since the last one, and reads no objects. Follows the pods of the cluster: a new
// question about pods splits the classes of those it is about, and only their rows are read
// again.
class RunningTable final : public Cluster::Derived {
 public:
  // The one kept beside this cluster, caught up.
  static RunningTable& of(Cluster& cluster);

  explicit RunningTable(Cluster& cluster) : cluster_(cluster) {}

  using LeafId = std::uint32_t;
  static constexpr LeafId kAlone = 0;
  struct Slot {
    ClassId pods{};
    std::int32_t priority = 0;  // the pod's own
    LeafId leaf = kAlone;       // its PodGroup
    bool terminating = false;
    std::optional<Time> start;
  };
  struct Leaf {
    std::string name_space;
    std::string name;
    std::uint32_t members = 0;  // 0: free
  };

  // In the order of Cluster::pods_at.
  std::span<const Slot> at(NodeId node) const {
    return index_of(node) < rows_.size() ? std::span<const Slot>(rows_[index_of(node)])
                                         : std::span<const Slot>();
  }
  std::span<const Leaf> leaves() const { return leaves_; }
  // How many pods there are of each priority of their own.
  const std::map<std::int32_t, std::size_t>& by_priority() const { return by_priority_; }
  // How many rows it has read so far.
  std::uint64_t rows_read() const { return rows_read_; }
  void release_idle() override { catch_up(); }

 private:
  void catch_up();
  void fill(NodeId node);
  void clear(NodeId node);
  LeafId leaf_of(const api::Object& pod, const std::string& group);

  Cluster& cluster_;
  std::uint64_t seen_ = 0;         // the row log was read up to here
  std::uint64_t splits_seen_ = 0;  // and the log of pods that got other classes
  std::uint64_t rows_read_ = 0;
  bool built_ = false;
  std::vector<std::vector<Slot>> rows_;
  std::vector<Leaf> leaves_{1};
  std::vector<LeafId> free_leaves_;
  boost::unordered_flat_map<std::string, LeafId> leaf_ids_;  // by namespace/name
  std::map<std::int32_t, std::size_t> by_priority_;
};

}  // namespace muster::scheduler
