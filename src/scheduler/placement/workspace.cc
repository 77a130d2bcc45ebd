#include "scheduler/placement/workspace.h"

#include <algorithm>
#include <ranges>

#include "base/check.h"

namespace muster::scheduler {

Workspace::Workspace(Cluster& cluster, Topology& topology, std::vector<Standing*> standings)
    : cluster_(cluster),
      topology_(topology),
      scratch_(topology.table().scratch()),
      standings_(std::move(standings)),
      draft_(cluster) {
  tracked_ = {ResourceId::Cpu, ResourceId::Memory};
  for (const Standing* standing : standings_)
    for (const PodClass::Want& want : standing->pods().wants)
      if (std::ranges::find(tracked_, want.resource) == tracked_.end())
        tracked_.push_back(want.resource);
  tracked_of_.resize(cluster.resource_count(), 0);
  for (std::size_t t = 0; t < tracked_.size(); ++t) tracked_of_[index_of(tracked_[t])] = t + 1;

  wants_.resize(standings_.size() * tracked_.size(), 0);
  scored_.resize(wants_.size(), 0);
  for (std::size_t s = 0; s < standings_.size(); ++s) {
    const PodClass& pods = standings_[s]->pods();
    for (const PodClass::Want& want : pods.wants)
      wants_[s * tracked_.size() + tracked_of_[index_of(want.resource)] - 1] = want.amount;
    for (std::size_t t = 0; t < tracked_.size(); ++t)
      scored_[s * tracked_.size() + t] = t == 0   ? pods.needs->nonzero_cpu_milli
                                         : t == 1 ? pods.needs->nonzero_memory
                                                  : wanted(s, t);
    exact_.push_back(standings_[s]->cap_exactness() == Exactness::PerNode);
  }
  CellTable& table = topology.table();
  table_rows_read_ = table.rows_read();
  table.catch_up();
  caps_look_around_ = std::ranges::any_of(standings_, &Standing::follows_moves);
  for (const ResourceId resource : tracked_) amounts_.push_back(&table.amounts(resource));
  for (Standing* standing : standings_)
    cell_caps_.push_back(&standing->cap_sums(topology.division()));
  draft_.add_listener(*this);
}

// A cap that depends on moves elsewhere was taken back while some of them still stood.
Workspace::~Workspace() {
  draft_.undo_all();
  for (const NodeId node : recapped_)
    for (Standing* standing : standings_) standing->refresh_cap(node);
}

std::int32_t Workspace::cap(std::size_t class_index, NodeId node) {
  sync_caps();
  return standings_[class_index]->caps()[node];
}

std::int64_t Workspace::cap_sum(std::size_t class_index, const Domain& domain) {
  sync_caps();
  const std::vector<std::int64_t>& caps = *cell_caps_[class_index];
  std::int64_t sum = 0;
  for (const CellId cell : domain.cells) sum += caps[index_of(cell)];
  return sum;
}

Workspace::Totals Workspace::totals(const Domain& domain) const {
  Totals totals;
  totals.amounts.resize(tracked_.size());
  const std::vector<std::int64_t>& slots = topology_.table().slots();
  for (const CellId cell : domain.cells) totals.slots += slots[index_of(cell)];
  for (std::size_t t = 0; t < tracked_.size(); ++t) {
    Amount& sum = totals.amounts[t];
    for (const CellId cell : domain.cells) {
      const Amount& amount = (*amounts_[t])[index_of(cell)];
      sum.free += amount.free;
      sum.allocatable += amount.allocatable;
      sum.used += amount.used;
    }
  }
  return totals;
}

void Workspace::placed(const PodClass& pods, NodeId node) {
  ++scratch_.touched[node];
  count(pods, node, 1);
  for (Standing* standing : standings_)
    if (standing->follows_moves()) standing->placed(pods, node);
  if (arena_ != nullptr) arena_->update(node);
}

void Workspace::removed(const PodClass& pods, NodeId node) {
  --scratch_.touched[node];
  count(pods, node, -1);
  for (const auto& standing : std::views::reverse(standings_))
    if (standing->follows_moves()) standing->removed(pods, node);
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
  topology_.table().slots()[cell] -= sign;
  for (const PodClass::Want& taken : pods.usage) {
    const std::size_t t = tracked_of_[index_of(taken.resource)];
    if (t == 0) continue;
    Amount& amount = (*amounts_[t - 1])[cell];
    amount.free -= sign * taken.amount;
    if (t > 2) amount.used += sign * taken.amount;
  }
  (*amounts_[0])[cell].used += sign * pods.needs->nonzero_cpu_milli;
  (*amounts_[1])[cell].used += sign * pods.needs->nonzero_memory;
}

void Workspace::update_caps(NodeId node) {
  for (Standing* standing : standings_) standing->refresh_cap(node);
  if (caps_look_around_) recapped_.push_back(node);
}

void Workspace::sync_caps() {
  const auto moves = draft_.moves();
  for (; caps_synced_ < moves.size(); ++caps_synced_) update_caps(moves[caps_synced_].node);
}

// --- the arena ---

Arena::Arena(Workspace& workspace, const Domain& domain)
    : workspace_(workspace),
      domain_(domain),
      is_whole_(domain.cells.size() == workspace.topology_.cell_count()),
      sides_(workspace.class_count()) {
  CHECK(workspace.arena_ == nullptr);
  workspace.arena_ = this;
  if (!is_whole_) seat_nodes();
}

void Arena::seat_nodes() {
  nodes_.reserve(workspace_.topology_.node_count(domain_));
  workspace_.rows_read_ += nodes_.capacity();
  for (const CellId cell : domain_.cells)
    for (const NodeId node : workspace_.topology_.nodes(cell)) {
      workspace_.scratch_.seats[index_of(node)] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(node);
    }
}

std::span<const NodeId> Arena::nodes() {
  if (nodes_.empty()) seat_nodes();
  return nodes_;
}

bool Arena::contains(NodeId node) const {
  if (is_whole_) return workspace_.cluster_.nodes().contains(node);
  const std::size_t seat = seat_of(node);
  return seat < nodes_.size() && nodes_[seat] == node;
}

Contest& Arena::contest(std::size_t class_index) {
  Side& side = sides_[class_index];
  if (side.built) return side.contest;
  side.built = true;
  if (is_whole_)
    enter_all(class_index, side.contest);
  else
    enter_nodes(class_index, side.contest);
  return side.contest;
}

void Arena::enter_all(std::size_t class_index, Contest& contest) {
  const Standing& standing = workspace_.standing(class_index);
  workspace_.rows_read_ += workspace_.cluster_.rows();
  contest = standing.contest();
  if (standing.follows_moves()) {
    workspace_.cluster_.nodes().for_each(
        [&](NodeId node) { contest.enter(index_of(node), standing.key_now(node)); });
    contest.rebuild();
    return;
  }
  for (const Draft::Move& move : workspace_.draft_.moves())
    contest.set(index_of(move.node), standing.key_now(move.node));
}

void Arena::enter_nodes(std::size_t class_index, Contest& contest) {
  const Standing& standing = workspace_.standing(class_index);
  std::vector<std::uint16_t> groups;
  if (standing.group_count() > 1)
    for (const NodeId node : nodes_) groups.push_back(standing.group_of(node));
  contest.reset(nodes_.size(), groups, standing.group_count());
  const bool follows = standing.follows_moves();
  for (std::size_t seat = 0; seat < nodes_.size(); ++seat) {
    const NodeId node = nodes_[seat];
    contest.enter(seat, follows || workspace_.is_touched(node) ? standing.key_now(node)
                                                               : standing.key_kept(node));
  }
  contest.rebuild();
}

std::optional<NodeId> Arena::pick(std::size_t class_index) {
  const auto best = workspace_.standing(class_index).pick(contest(class_index));
  return best ? std::optional(best->node) : std::nullopt;
}

bool Arena::is_feasible(std::size_t class_index, NodeId node) {
  return contains(node) && contest(class_index).key(seat_of(node)) != 0;
}

void Arena::update(NodeId node) {
  if (!contains(node)) return;
  const std::size_t seat = seat_of(node);
  for (std::size_t s = 0; s < sides_.size(); ++s)
    if (sides_[s].built) sides_[s].contest.set(seat, workspace_.standing(s).key_now(node));
}

}  // namespace muster::scheduler
