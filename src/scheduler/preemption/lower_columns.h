#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/column.h"
#include "scheduler/preemption/unit_home.h"

namespace muster::scheduler {

// What pods below a priority hold on every node: columns beside those of the cluster, for the few
// priorities of those who look for victims. Made at the first question, then caught up by the rows
// that have changed; dropped when nobody asks any more. Subtracted from the cluster's columns, they
// show what evictions can free at most: pods that are already ending count, however long they take.
class LowerColumns final : public Cluster::Derived {
 public:
  struct Level {
    std::int32_t priority = 0;
    Column<std::int64_t> pods;
    std::vector<Column<std::int64_t>> used;  // by resource; those without rows: nothing
    std::size_t evictable = 0;               // pods on all nodes that are not already ending

    // Of the resource on the node.
    std::int64_t used_on(ResourceId resource, NodeId node) const {
      const std::size_t at = index_of(resource);
      return at < used.size() && used[at].padded() > 0 ? used[at][node] : 0;
    }

   private:
    friend class LowerColumns;
    Column<std::uint32_t> evictable_on_;
    std::vector<std::int64_t> judged_;  // by leaf: the priority of its root, kUnknown
    std::uint64_t seen_ = 0;            // the row log was read up to here
    std::uint64_t asked_ = 0;           // number of the last question that asked for it
    bool built_ = false;
  };

  static constexpr std::size_t kLevelsMax = 8;
  // A level is dropped after this many questions for other levels.
  static constexpr std::uint64_t kPatience = 1024;

  // The one kept beside this cluster.
  static LowerColumns& of(Cluster& cluster);
  explicit LowerColumns(Cluster& cluster) : cluster_(cluster) {}

  // The level, caught up. `homes` are those of the leaves of `table`, which must be caught up too.
  // Valid until the next question.
  const Level& below(std::int32_t priority, const RunningTable& table,
                     std::span<const UnitHome> homes);
  std::size_t level_count() const { return levels_.size(); }
  // How many rows it has read so far.
  std::uint64_t rows_read() const { return rows_read_; }
  void release_idle() override {}

 private:
  Level& find(std::int32_t priority);
  void fill(Level& level, NodeId node, const RunningTable& table, std::span<const UnitHome> homes);

  Cluster& cluster_;
  std::list<Level> levels_;
  std::uint64_t questions_ = 0;
  std::uint64_t rows_read_ = 0;
};

}  // namespace muster::scheduler
