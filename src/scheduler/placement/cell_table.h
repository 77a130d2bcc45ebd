#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/division.h"

namespace muster::scheduler {

// What every cell of a division has and uses: pod slots and resources. Kept across attempts and
// caught up from the cluster's row log, so that an attempt costs the rows that changed and not the
// rows there are. A draft's moves are counted, and uncounted when they are undone.
class CellTable {
 public:
  CellTable(const Cluster& cluster, std::shared_ptr<const Division> division)
      : cluster_(cluster), division_(std::move(division)) {}

  struct Amount {
    std::int64_t free = 0;
    std::int64_t allocatable = 0;
    std::int64_t used = 0;  // the way scores count it
    friend bool operator==(const Amount&, const Amount&) = default;
  };

  // Reads what has changed. Not while a draft is open.
  void catch_up();
  // One amount per cell; the resource is counted from then on. Stays where it is.
  std::vector<Amount>& amounts(ResourceId resource);
  std::vector<std::int64_t>& slots() { return slots_; }  // free ones

  // Memory by row, reused by one attempt after the other. `touched` is all 0 between attempts.
  struct Scratch {
    Column<std::uint16_t> touched;
    std::vector<std::uint32_t> seats;
  };
  Scratch& scratch() { return scratch_; }
  std::size_t bytes() const;
  std::uint64_t rows_read() const { return rows_read_; }

 private:
  // A resource by cell, and what each row has added to its cell.
  struct Track {
    ResourceId resource{};
    std::uint64_t serial = 0;  // ResourceColumns::serial
    std::vector<Amount> cells;
    Column<Amount> rows;
  };
  void drop_tracks();
  void rebuild();
  void sum(Track& track);
  void update_row(NodeId node);
  Amount amount_on(ResourceId resource, NodeId node) const;
  std::int64_t slots_on(NodeId node) const;

  const Cluster& cluster_;
  std::shared_ptr<const Division> division_;
  std::uint64_t seen_ = 0;            // the row log was read up to here
  std::uint64_t resources_gone_ = 0;  // ResourceTable::gone() when tracks were last looked at
  std::uint64_t rows_read_ = 0;
  bool built_ = false;
  std::vector<std::int64_t> slots_;
  Column<std::int32_t> slots_on_;
  std::vector<std::unique_ptr<Track>> tracks_;
  Scratch scratch_;
};

}  // namespace muster::scheduler
