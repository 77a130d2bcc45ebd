#include "scheduler/placement/cell_table.h"

#include <algorithm>

namespace muster::scheduler {

// Rows are read again and compared with what they last added, so it does not matter how often or in
// which way a row changed. A division is made for one set of nodes and labels (a new one comes with
// each topology), so a row never moves between cells here.
void CellTable::catch_up() {
  const RowLog& log = cluster_.log();
  const std::uint64_t behind = log.end() - seen_;
  drop_tracks();
  if (built_ && behind == 0) return;
  if (!built_ || !log.reaches(seen_) || behind > cluster_.rows() / 2 + 16) {
    rebuild();
    return;
  }
  for (; seen_ < log.end(); ++seen_)
    if (!log.is_outdated(seen_)) {
      ++rows_read_;
      update_row(log.at(seen_).node);
    }
}

// Of resources whose columns have gone.
void CellTable::drop_tracks() {
  const ResourceTable& resources = cluster_.resources();
  if (resources_gone_ == resources.gone()) return;
  resources_gone_ = resources.gone();
  std::erase_if(
      tracks_, [&](const auto& track) { return !resources.holds(track->resource, track->serial); });
}

void CellTable::rebuild() {
  built_ = true;
  seen_ = cluster_.log().end();
  rows_read_ += cluster_.rows();
  scratch_.touched.resize(cluster_.rows());
  scratch_.seats.resize(cluster_.rows(), 0);
  slots_.assign(division_->cell_count, 0);
  slots_on_.resize(cluster_.rows());
  cluster_.nodes().for_each([this](NodeId node) {
    const std::int64_t slots = slots_on(node);
    slots_on_[node] = static_cast<std::int32_t>(slots);
    slots_[index_of(division_->cell_of[node])] += slots;
  });
  for (const auto& track : tracks_) sum(*track);
}

std::vector<CellTable::Amount>& CellTable::amounts(ResourceId resource) {
  const auto known =
      std::ranges::find(tracks_, resource, [](const auto& t) { return t->resource; });
  if (known != tracks_.end()) return (*known)->cells;
  Track& track = *tracks_.emplace_back(std::make_unique<Track>());
  track.resource = resource;
  track.serial = cluster_.resource(resource).serial;
  sum(track);
  return track.cells;
}

// By rows, not by cells: columns are read in order, and the cells' sums stay in the cache.
void CellTable::sum(Track& track) {
  rows_read_ += cluster_.rows();
  track.cells.assign(division_->cell_count, {});
  track.rows.resize(cluster_.rows());
  cluster_.nodes().for_each([&](NodeId node) {
    const Amount amount = amount_on(track.resource, node);
    track.rows[node] = amount;
    Amount& cell = track.cells[index_of(division_->cell_of[node])];
    cell.free += amount.free;
    cell.allocatable += amount.allocatable;
    cell.used += amount.used;
  });
}

// A row without a node belongs to no cell: its node came or went, and this table goes with the
// topology that was made before.
void CellTable::update_row(NodeId node) {
  if (!cluster_.nodes().contains(node)) return;
  const std::size_t at = index_of(division_->cell_of[node]);
  const std::int64_t slots = slots_on(node);
  slots_[at] += slots - slots_on_[node];
  slots_on_[node] = static_cast<std::int32_t>(slots);
  for (const auto& track : tracks_) {
    const Amount now = amount_on(track->resource, node);
    const Amount before = std::exchange(track->rows[node], now);
    Amount& cell = track->cells[at];
    cell.free += now.free - before.free;
    cell.allocatable += now.allocatable - before.allocatable;
    cell.used += now.used - before.used;
  }
}

CellTable::Amount CellTable::amount_on(ResourceId resource, NodeId node) const {
  const ResourceColumns& columns = cluster_.resource(resource);
  const std::int64_t allocatable = columns.allocatable[node];
  const std::int64_t requested = columns.requested[node];
  const std::int64_t used = resource == ResourceId::Cpu      ? cluster_.nonzero_cpu()[node]
                            : resource == ResourceId::Memory ? cluster_.nonzero_memory()[node]
                                                             : requested;
  return {std::max<std::int64_t>(0, allocatable - requested), allocatable, used};
}

std::int64_t CellTable::slots_on(NodeId node) const {
  return std::max<std::int64_t>(0, cluster_.pod_slots()[node] - cluster_.pods_on()[node]);
}

std::size_t CellTable::bytes() const {
  std::size_t sum = slots_.capacity() * sizeof(std::int64_t) + slots_on_.bytes() +
                    scratch_.touched.bytes() + scratch_.seats.capacity() * sizeof(std::uint32_t);
  for (const auto& track : tracks_)
    sum += track->cells.capacity() * sizeof(Amount) + track->rows.bytes();
  return sum;
}

}  // namespace muster::scheduler
