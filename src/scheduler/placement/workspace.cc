#include "scheduler/placement/workspace.h"

#include <algorithm>

#include "base/check.h"

namespace muster::scheduler {

Workspace::Workspace(Cluster& cluster, const Topology& topology, std::vector<Standing*> shapes)
    : cluster_(cluster), topology_(topology), shapes_(std::move(shapes)), draft_(cluster) {
  tracked_ = {ResourceId::Cpu, ResourceId::Memory};
  for (const Standing* shape : shapes_)
    for (const PodClass::Want& want : shape->pods().wants)
      if (std::ranges::find(tracked_, want.resource) == tracked_.end())
        tracked_.push_back(want.resource);
  tracked_of_.resize(cluster.resource_count(), 0);
  for (std::size_t t = 0; t < tracked_.size(); ++t) tracked_of_[index_of(tracked_[t])] = t + 1;

  wants_.resize(shapes_.size() * tracked_.size(), 0);
  scored_.resize(wants_.size(), 0);
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    const PodClass& pods = shapes_[s]->pods();
    for (const PodClass::Want& want : pods.wants)
      wants_[s * tracked_.size() + tracked_of_[index_of(want.resource)] - 1] = want.amount;
    for (std::size_t t = 0; t < tracked_.size(); ++t)
      scored_[s * tracked_.size() + t] = t == 0   ? pods.needs->nonzero_cpu_milli
                                         : t == 1 ? pods.needs->nonzero_memory
                                                  : wanted(s, t);
    exact_.push_back(shapes_[s]->cap_exactness() == Exactness::PerNode);
  }
  touched_.resize(cluster.rows());
  sum_cells();
  draft_.tell(*this);
}

// By rows, not by cells: columns are read in order, and the cells' sums stay in the cache.
void Workspace::sum_cells() {
  cell_slots_.resize(topology_.cell_count(), 0);
  cell_amounts_.resize(topology_.cell_count() * tracked_.size());
  const NodeSet& nodes = cluster_.nodes();
  nodes.for_each([&](NodeId node) {
    cell_slots_[index_of(topology_.cell_of(node))] +=
        std::max<std::int64_t>(0, cluster_.pod_slots()[node] - cluster_.pods_on()[node]);
  });
  for (std::size_t t = 0; t < tracked_.size(); ++t) {
    const ResourceColumns& columns = cluster_.resource(tracked_[t]);
    const Column<std::int64_t>& used = t == 0   ? cluster_.nonzero_cpu()
                                       : t == 1 ? cluster_.nonzero_memory()
                                                : columns.requested;
    nodes.for_each([&](NodeId node) {
      Amount& amount = cell_amounts_[index_of(topology_.cell_of(node)) * tracked_.size() + t];
      amount.free += std::max<std::int64_t>(0, columns.allocatable[node] - columns.requested[node]);
      amount.allocatable += columns.allocatable[node];
      amount.used += used[node];
    });
  }
  for (Standing* shape : shapes_) {
    const CapColumn& caps = caps_.emplace_back(shape->caps());
    std::vector<std::int64_t>& sums = cell_caps_.emplace_back(topology_.cell_count(), 0);
    nodes.for_each([&](NodeId node) { sums[index_of(topology_.cell_of(node))] += caps[node]; });
  }
}

std::int32_t Workspace::cap(std::size_t shape, NodeId node) {
  sync_caps();
  return caps_[shape][node];
}

std::int64_t Workspace::cap_sum(std::size_t shape, const Domain& domain) {
  sync_caps();
  std::int64_t sum = 0;
  for (const CellId cell : domain.cells) sum += cell_caps_[shape][index_of(cell)];
  return sum;
}

Workspace::Totals Workspace::totals(const Domain& domain) const {
  Totals totals;
  totals.amounts.resize(tracked_.size());
  for (const CellId cell : domain.cells) {
    totals.slots += cell_slots_[index_of(cell)];
    for (std::size_t t = 0; t < tracked_.size(); ++t) {
      const Amount& amount = cell_amounts_[index_of(cell) * tracked_.size() + t];
      totals.amounts[t].free += amount.free;
      totals.amounts[t].allocatable += amount.allocatable;
      totals.amounts[t].used += amount.used;
    }
  }
  return totals;
}

void Workspace::placed(const PodClass& pods, NodeId node) {
  ++touched_[node];
  count(pods, node, 1);
  for (Standing* shape : shapes_)
    if (shape->follows_moves()) shape->placed(pods, node);
  if (arena_ != nullptr) arena_->update(node);
}

void Workspace::removed(const PodClass& pods, NodeId node) {
  --touched_[node];
  count(pods, node, -1);
  for (auto shape = shapes_.rbegin(); shape != shapes_.rend(); ++shape)
    if ((*shape)->follows_moves()) (*shape)->removed(pods, node);
  if (caps_synced_ > draft_.moves().size()) {
    caps_synced_ = draft_.moves().size();
    update_caps(node);
  }
  if (arena_ != nullptr) arena_->update(node);
}

// Sums move by exactly what the pod takes: it was placed where it fits, so nothing that is free
// went below 0.
void Workspace::count(const PodClass& pods, NodeId node, std::int64_t sign) {
  const std::size_t cell = index_of(topology_.cell_of(node));
  cell_slots_[cell] -= sign;
  Amount* amounts = &cell_amounts_[cell * tracked_.size()];
  for (const PodClass::Want& taken : pods.usage) {
    const std::size_t t = tracked_of_[index_of(taken.resource)];
    if (t == 0) continue;
    amounts[t - 1].free -= sign * taken.amount;
    if (t > 2) amounts[t - 1].used += sign * taken.amount;
  }
  amounts[0].used += sign * pods.needs->nonzero_cpu_milli;
  amounts[1].used += sign * pods.needs->nonzero_memory;
}

void Workspace::update_caps(NodeId node) {
  const std::size_t cell = index_of(topology_.cell_of(node));
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    const std::int32_t now = shapes_[s]->cap_now(node);
    cell_caps_[s][cell] += now - caps_[s][node];
    caps_[s][node] = now;
  }
}

void Workspace::sync_caps() {
  const auto moves = draft_.moves();
  for (; caps_synced_ < moves.size(); ++caps_synced_) update_caps(moves[caps_synced_].node);
}

// --- the arena ---

Arena::Arena(Workspace& workspace, const Domain& domain)
    : workspace_(workspace), sides_(workspace.shape_count()) {
  CHECK(workspace.arena_ == nullptr);
  workspace.arena_ = this;
  workspace.seat_of_.resize(workspace.cluster_.rows(), 0);
  nodes_.reserve(workspace.topology_.node_count(domain));
  for (const CellId cell : domain.cells)
    for (const NodeId node : workspace.topology_.nodes(cell)) {
      workspace.seat_of_[index_of(node)] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(node);
    }
}

bool Arena::contains(NodeId node) const {
  const std::uint32_t seat = workspace_.seat_of_[index_of(node)];
  return seat < nodes_.size() && nodes_[seat] == node;
}

Contest& Arena::contest(std::size_t shape) {
  Side& side = sides_[shape];
  if (side.built) return side.contest;
  side.built = true;
  const Standing& standing = workspace_.shape(shape);
  std::vector<std::uint16_t> groups;
  if (standing.group_count() > 1)
    for (const NodeId node : nodes_) groups.push_back(standing.group_of(node));
  side.contest.reset(nodes_.size(), groups, standing.group_count());
  const bool follows = standing.follows_moves();
  for (std::size_t seat = 0; seat < nodes_.size(); ++seat) {
    const NodeId node = nodes_[seat];
    side.contest.enter(seat, follows || workspace_.is_touched(node) ? standing.key_now(node)
                                                                    : standing.key_kept(node));
  }
  side.contest.settle();
  return side.contest;
}

std::optional<NodeId> Arena::pick(std::size_t shape) {
  const auto best = workspace_.shape(shape).pick(contest(shape));
  return best ? std::optional(best->node) : std::nullopt;
}

bool Arena::is_feasible(std::size_t shape, NodeId node) {
  return contains(node) && contest(shape).key(workspace_.seat_of_[index_of(node)]) != 0;
}

void Arena::update(NodeId node) {
  if (!contains(node)) return;
  const std::uint32_t seat = workspace_.seat_of_[index_of(node)];
  for (std::size_t s = 0; s < sides_.size(); ++s)
    if (sides_[s].built) sides_[s].contest.set(seat, workspace_.shape(s).key_now(node));
}

}  // namespace muster::scheduler
