#include "scheduler/preemption/room_without_lower.h"

#include <algorithm>

#include "scheduler/cache/column_math.h"
#include "scheduler/framework/counted_wants.h"

namespace muster::scheduler {
namespace {

const LowerColumns::Level& level_of(ClusterModel& model, std::int32_t priority) {
  const RunningTable& table = RunningTable::of(model.cluster());
  return LowerColumns::of(model.cluster()).below(priority, table, find_homes(model, table));
}

// What is left of a column without another.
Column<std::int64_t> without(const Column<std::int64_t>& all, const Column<std::int64_t>& part) {
  Column<std::int64_t> left = all;
  for (std::size_t row = 0; row < std::min(part.padded(), left.padded()); ++row)
    left.data()[row] -= part.data()[row];
  return left;
}

}  // namespace

RoomWithoutLower::RoomWithoutLower(ClusterModel& model, std::int32_t priority)
    : cluster_(model.cluster()), level_(level_of(model, priority)) {}

CapColumn RoomWithoutLower::caps(const Standing& standing) const {
  CapColumn caps;
  caps.resize(cluster_.rows());
  if (standing.refused_everywhere()) return caps;
  caps.fill(kNoCap);
  NodeSet open = cluster_.nodes();
  for (const Standing::NamedFilter& filter : standing.filters()) {
    if (filter.name == kRoomFilter) {
      std::vector<Column<std::int64_t>> requested;
      std::vector<Demand> demands;
      const auto wants = counted_wants(standing, cluster_);
      requested.reserve(wants.size());
      for (const PodClass::Want& want : wants) {
        const ResourceColumns& columns = cluster_.resource(want.resource);
        const std::size_t at = index_of(want.resource);
        requested.push_back(at < level_.used.size() ? without(columns.requested, level_.used[at])
                                                    : columns.requested);
        demands.push_back({columns.allocatable.data(), requested.back().data(), want.amount});
      }
      const Column<std::int64_t> pods = without(cluster_.pods_on(), level_.pods);
      cap_by_fit(demands, cluster_.pod_slots().data(), pods.data(), caps);
    } else if (!filter.pass->follows_moves() &&
               !standing.profile().listens(filter.name, Resource::AssignedPod, Action::Delete)) {
      filter.pass->narrow(open);
    }
  }
  const bool narrows = !standing.narrowing().empty();
  for (std::size_t row = 0; row < cluster_.rows(); ++row) {
    const auto node = static_cast<NodeId>(row);
    if (!open.contains(node) || (narrows && !standing.is_looked_at(node))) caps[node] = 0;
  }
  return caps;
}

TreeWithoutLower::TreeWithoutLower(const GroupTree& tree, Workspace& workspace,
                                   const RoomWithoutLower& room)
    : tree_(tree), topology_(workspace.topology()), bounds_(tree, workspace, looking_) {
  for (const Standing* standing : tree.standings) {
    const CapColumn caps = room.caps(*standing);
    std::vector<std::int64_t>& cells = cells_.emplace_back(topology_.cell_count(), 0);
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      for (const NodeId node : topology_.nodes(static_cast<CellId>(cell)))
        cells[cell] += caps[node];
  }
}

bool TreeWithoutLower::may_be_placed() { return may_meet(0, topology_.everywhere()); }

bool TreeWithoutLower::may_meet(std::uint32_t item, const Domain& within) {
  return std::ranges::any_of(bounds_.widest(item, within),
                             [&](const Domain& domain) { return may_meet_in(item, domain); });
}

bool TreeWithoutLower::may_meet_in(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  if (!item.is_leaf())
    return std::ranges::count_if(item.children, [&](std::uint32_t child) {
             return may_meet(child, domain);
           }) >= item.minimum;
  std::int64_t fit = 0;
  for (std::size_t s = 0; s < cells_.size() && fit < item.missing(); ++s) {
    if (item.classes_below[s] == 0) continue;
    std::int64_t room = 0;
    for (const CellId cell : domain.cells) room += cells_[s][index_of(cell)];
    fit += std::min<std::int64_t>(item.classes_below[s], room);
  }
  return fit >= item.missing();
}

}  // namespace muster::scheduler
