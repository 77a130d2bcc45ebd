#include "scheduler/placement/workspace.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/check.h"
#include "scheduler/framework/counted_wants.h"

namespace muster::scheduler {

Workspace::Workspace(Cluster& cluster, Topology& topology, std::vector<Standing*> standings)
    : cluster_(cluster),
      topology_(topology),
      scratch_(topology.table().scratch()),
      standings_(std::move(standings)),
      draft_(cluster) {
  tracked_ = {ResourceId::Cpu, ResourceId::Memory};
  for (const Standing* standing : standings_)
    for (const PodClass::Want& want : counted_wants(*standing, cluster))
      if (std::ranges::find(tracked_, want.resource) == tracked_.end())
        tracked_.push_back(want.resource);
  tracked_of_.resize(cluster.resources().id_end(), 0);
  for (std::size_t t = 0; t < tracked_.size(); ++t) tracked_of_[index_of(tracked_[t])] = t + 1;

  wants_.resize(standings_.size() * tracked_.size(), 0);
  scored_.resize(wants_.size(), 0);
  for (std::size_t s = 0; s < standings_.size(); ++s) {
    const PodClass& pods = standings_[s]->pods();
    for (const PodClass::Want& want : counted_wants(*standings_[s], cluster))
      wants_[s * tracked_.size() + tracked_of_[index_of(want.resource)] - 1] = want.amount;
    for (std::size_t t = 0; t < tracked_.size(); ++t)
      scored_[s * tracked_.size() + t] = t == 0   ? pods.needs->nonzero_cpu_milli
                                         : t == 1 ? pods.needs->nonzero_memory
                                                  : wanted(s, t);
    exact_.push_back(standings_[s]->cap_exactness() == Exactness::PerNode);
  }
  std::vector<const PodClass*> coming;
  for (const Standing* standing : standings_) coming.push_back(&standing->pods());
  for (const Standing* standing : standings_) hopeless_.push_back(!standing->may_fit(coming));
  CellTable& table = topology.table();
  table_rows_read_ = table.rows_read();
  table.catch_up();
  for (std::size_t s = 0; s < standings_.size(); ++s)
    if (standings_[s]->follows_moves()) following_.push_back(s);
  // Of what no class at hand asks for nothing needs to be summed.
  for (const ResourceId resource : tracked_) amounts_.push_back(&table.amounts(resource));
  for (Standing* standing : standings_)
    cell_caps_.push_back(&standing->cap_sums(topology.division()));
  draft_.add_listener(*this);
}

// Undone while everything that listens is still there.
Workspace::~Workspace() { draft_.undo_all(); }

std::int32_t Workspace::cap(std::size_t class_index, NodeId node) {
  if (hopeless_[class_index]) return 0;
  sync_caps();
  return standings_[class_index]->caps()[node];
}

// Sums are kept by cell and not by domain: a move touches one cell, but a domain of every key above
// it. Domains have few cells; one of a hostname key is a single cell.
std::int64_t Workspace::cap_sum(std::size_t class_index, const Domain& domain) {
  if (hopeless_[class_index]) return 0;
  sync_caps();
  if (standings_[class_index]->has_domain_caps())
    return standings_[class_index]->cap_sum(topology_.division(), domain.cells);
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

void Workspace::applied(const Draft::Move& move) {
  ++scratch_.touched[move.node];
  apply_move(move, move.kind == Draft::Move::Kind::Place ? Change::Placed : Change::Removed);
}

void Workspace::undone(const Draft::Move& move) {
  --scratch_.touched[move.node];
  apply_move(move, move.kind == Draft::Move::Kind::Place ? Change::Removed : Change::Placed);
  if (caps_synced_ > draft_.moves().size()) {
    caps_synced_ = draft_.moves().size();
    update_caps(move.node);
  }
}

void Workspace::apply_move(const Draft::Move& move, Change change) {
  if (draft_.removals() == 0)
    count(*move.pods, move.node, static_cast<std::int64_t>(change));
  else
    recount(*move.pods, move.node, static_cast<std::int64_t>(change));
  if (arena_ != nullptr) arena_->update(move.node);
  for (const std::size_t follower : following_) {
    if (change == Change::Placed)
      standings_[follower]->placed(*move.pods, move.node);
    else
      standings_[follower]->removed(*move.pods, move.node);
    if (arena_ != nullptr) arena_->update_touched(follower);
  }
}

// Without removals, sums move by exactly what the pod takes: it was placed where it fits, so
// nothing that is free went below 0.
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

// With removals: a pod may leave a node that had more than it can hold. Free amounts count from 0,
// so what leaves beyond that frees nothing; before and after are compared as the sums were made.
void Workspace::recount(const PodClass& pods, NodeId node, std::int64_t sign) {
  const std::size_t cell = index_of(topology_.cell_of(node));
  const auto change = [sign](std::int64_t free_now, std::int64_t taken) {
    const std::int64_t free_before = free_now + sign * taken;
    return std::max<std::int64_t>(0, free_now) - std::max<std::int64_t>(0, free_before);
  };
  topology_.table().slots()[cell] +=
      change(cluster_.pod_slots()[node] - cluster_.pods_on()[node], 1);
  for (const PodClass::Want& taken : pods.usage) {
    // A removed pod may use what no class at hand asks for, also what was unknown before.
    const std::size_t resource = index_of(taken.resource);
    const std::size_t t = resource < tracked_of_.size() ? tracked_of_[resource] : 0;
    if (t == 0) continue;
    const ResourceColumns& columns = cluster_.resource(taken.resource);
    Amount& amount = (*amounts_[t - 1])[cell];
    amount.free += change(columns.allocatable[node] - columns.requested[node], taken.amount);
    if (t > 2) amount.used += sign * taken.amount;
  }
  (*amounts_[0])[cell].used += sign * pods.needs->nonzero_cpu_milli;
  (*amounts_[1])[cell].used += sign * pods.needs->nonzero_memory;
}

void Workspace::update_caps(NodeId node) {
  for (Standing* standing : standings_)
    if (!standing->follows_moves()) standing->refresh_cap(node);
}

// Caps are asked for far less often than pods are moved: they are brought up to date on demand.
void Workspace::sync_caps() {
  const auto moves = draft_.moves();
  for (; caps_synced_ < moves.size(); ++caps_synced_) update_caps(moves[caps_synced_].node);
  for (const std::size_t follower : following_) standings_[follower]->sync_caps();
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

Arena::~Arena() {
  for (const ChangedKey& changed : std::views::reverse(changed_keys_))
    workspace_.standing(changed.class_index)
        .lend_contest()
        .set(index_of(changed.node), changed.key);
  workspace_.arena_ = nullptr;
}

// Seats of an earlier arena may still be there for other nodes: contains() compares both ways.
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
  if (is_whole_) return borrow(class_index);
  Side& side = sides_[class_index];
  const std::uint64_t layout = workspace_.standing(class_index).layout_epoch();
  if (side.built && side.layout == layout) return side.contest;
  side.built = true;
  side.layout = layout;
  enter_nodes(class_index, side.contest);
  return side.contest;
}

// The standing's keys are as of the start of the attempt; only nodes of moves can have others. If
// it follows moves, they are true at any moment.
Contest& Arena::borrow(std::size_t class_index) {
  Standing& standing = workspace_.standing(class_index);
  if (!std::exchange(sides_[class_index].built, true) && !standing.follows_moves())
    for (const Draft::Move& move : workspace_.draft_.moves()) enter_now(class_index, move.node);
  return standing.lend_contest();
}

void Arena::enter_now(std::size_t class_index, NodeId node) {
  Standing& standing = workspace_.standing(class_index);
  ++workspace_.rows_read_;
  const std::uint64_t key = standing.key_now(node);
  if (key == standing.key_kept(node)) return;
  changed_keys_.push_back({class_index, node, standing.key_kept(node)});
  standing.lend_contest().set(index_of(node), key);
}

void Arena::enter_nodes(std::size_t class_index, Contest& contest) {
  const Standing& standing = workspace_.standing(class_index);
  std::vector<std::uint16_t> groups;
  if (standing.has_groups())
    for (const NodeId node : nodes_) groups.push_back(standing.group_of(node));
  contest.reset(nodes_.size(), groups, standing.group_count());
  const bool is_live = standing.follows_moves();
  for (std::size_t seat = 0; seat < nodes_.size(); ++seat) {
    const NodeId node = nodes_[seat];
    contest.enter(seat, !is_live && workspace_.is_touched(node) ? standing.key_now(node)
                                                                : standing.key_kept(node));
  }
  contest.rebuild();
}

std::optional<NodeId> Arena::pick(std::size_t class_index) {
  const auto best = workspace_.standing(class_index).pick(contest(class_index));
  return best ? std::optional(best->node) : std::nullopt;
}

bool Arena::is_feasible(std::size_t class_index, NodeId node) {
  return contains(node) && contest(class_index).key(seat_of(node)) != 0 &&
         workspace_.standing(class_index).admits_place_of(node);
}

void Arena::update(NodeId node) {
  if (!contains(node)) return;
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    if (!sides_[s].built || workspace_.standing(s).follows_moves()) continue;
    if (is_whole_)
      enter_now(s, node);
    else
      sides_[s].contest.set(seat_of(node), workspace_.standing(s).key_now(node));
  }
}

// A side of another layout is left alone: it is built again when it is asked for.
void Arena::update_touched(std::size_t class_index) {
  if (is_whole_) return;
  Side& side = sides_[class_index];
  const Standing& standing = workspace_.standing(class_index);
  if (!side.built || side.layout != standing.layout_epoch()) return;
  for (const NodeId node : standing.touched().rows()) {
    if (!contains(node)) continue;
    if (standing.has_groups())
      side.contest.set(seat_of(node), standing.group_of(node), standing.key_kept(node));
    else
      side.contest.set(seat_of(node), standing.key_kept(node));
  }
}

}  // namespace muster::scheduler
