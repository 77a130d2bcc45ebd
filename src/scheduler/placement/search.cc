#include <algorithm>
#include <bit>

#include "scheduler/placement/placer.h"

namespace muster::scheduler {
namespace {

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  state = (std::rotl(state, 23) ^ word) * 0x9e3779b97f4a7c15ULL;
  return state ^ (state >> 29);
}

}  // namespace

// Minimums first, everywhere; extras only when every minimum has its place (L1-L3).
bool Placer::search() {
  options_.steps_max += steps_;
  options_.work_max += work_;
  forget_fates(0);
  failed_.clear();
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  if (!place_minimum(0, workspace_.topology().everywhere(), [] { return true; })) return false;
  place_extras(0);
  if (undo.placed_since() == 0) return false;
  undo.keep();
  return true;
}

// Two states are alike if the same pods stand on the same nodes, in whatever order they came there.
std::uint64_t Placer::state_hash(std::uint32_t item) const {
  std::uint64_t sum = 0;
  for (const Draft::Move& move : workspace_.draft().moves())
    sum += mix(mix(1, index_of(move.pods->id)), index_of(move.node));
  return mix(sum, item);
}

// The nodes of a domain as a bag: what is free on each, and how many of each shape it takes.
// Domains with equal bags are as good as each other for a group that must stay inside one.
std::uint64_t Placer::bag_hash(const Domain& domain) {
  std::uint64_t sum = 0;
  work_ += workspace_.topology().node_count(domain) / 4;
  Cluster& cluster = workspace_.cluster();
  for (const CellId cell : domain.cells)
    for (const NodeId node : workspace_.topology().nodes(cell)) {
      std::uint64_t state = 7;
      bool takes_any = false;
      for (std::size_t s = 0; s < tree_.shapes.size(); ++s) {
        const std::int32_t cap = workspace_.cap(s, node);
        takes_any |= cap > 0;
        state = mix(state, static_cast<std::uint64_t>(cap));
      }
      if (!takes_any) continue;
      for (const ResourceId resource : workspace_.tracked())
        state = mix(state, static_cast<std::uint64_t>(cluster.resource(resource).allocatable[node] -
                                                      cluster.resource(resource).requested[node]));
      sum += mix(state,
                 static_cast<std::uint64_t>(cluster.pod_slots()[node] - cluster.pods_on()[node]));
    }
  return sum;
}

bool Placer::place_minimum(std::uint32_t id, const Domain& within, const Next& next) {
  const GroupTree::Item& item = tree_.items[id];
  struct Choice {
    std::size_t candidate;
    std::int64_t at_most;
  };
  const std::vector<Domain> domains = candidates(id, within);
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < domains.size(); ++i)
    if (meets_in(id, domains[i]))
      choices.push_back({i, domains.size() == 1 ? 0 : fits_in(id, domains[i])});
  // The tightest first: it leaves the roomy ones to those who need them.
  std::ranges::stable_sort(choices, {}, &Choice::at_most);
  std::set<std::uint64_t> bags;
  for (const Choice& choice : choices) {
    if (!step()) return false;
    const Domain& domain = domains[choice.candidate];
    if (item.is_leaf() && choices.size() > 1 && !bags.insert(bag_hash(domain)).second) continue;
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    if (!place_minimum_in(id, domain, next)) continue;
    domains_[id] = domain;
    fates_[id].placed = true;
    undo.keep();
    return true;
  }
  return false;
}

bool Placer::place_minimum_in(std::uint32_t id, const Domain& domain, const Next& next) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.is_leaf()) return item.missing() == 0 ? next() : pack_minimum(id, domain, next);
  std::vector<std::uint32_t> chosen;
  return place_children(chosen, id, 0, domain, next);
}

// Chooses which children shall meet their minimum, the easiest first, and places the chosen hardest
// first.
bool Placer::place_children(std::vector<std::uint32_t>& chosen, std::uint32_t id, std::size_t from,
                            const Domain& domain, const Next& next) {
  const GroupTree::Item& item = tree_.items[id];
  if (static_cast<std::int64_t>(chosen.size()) == item.minimum) {
    std::vector<std::uint32_t> order = chosen;
    std::ranges::stable_sort(order, std::greater<>{},
                             [&](std::uint32_t child) { return hardness(child, domain); });
    return place_in_turn(order, 0, domain, next);
  }
  std::vector<std::uint32_t> easiest = item.children;
  std::ranges::stable_sort(easiest, {},
                           [&](std::uint32_t child) { return hardness(child, domain); });
  for (std::size_t at = from; at < easiest.size(); ++at) {
    if (is_spent()) return false;
    if (!can_meet_minimum(easiest[at], domain)) continue;
    chosen.push_back(easiest[at]);
    const bool placed = place_children(chosen, id, at + 1, domain, next);
    chosen.pop_back();
    if (placed) return true;
  }
  return false;
}

bool Placer::place_in_turn(const std::vector<std::uint32_t>& chosen, std::size_t at,
                           const Domain& domain, const Next& next) {
  if (at == chosen.size()) return next();
  if (is_spent()) return false;
  for (std::size_t later = at; later < chosen.size(); ++later)
    if (!can_meet_minimum(chosen[later], domain)) return false;
  const std::uint64_t state = state_hash(chosen[at]);
  if (failed_.contains(state)) return false;
  if (place_minimum(chosen[at], domain,
                    [&] { return place_in_turn(chosen, at + 1, domain, next); }))
    return true;
  if (!is_spent()) failed_.insert(state);
  return false;
}

// How much of the domain's scarcest resource the group's minimum takes.
double Placer::hardness(std::uint32_t id, const Domain& domain) {
  const std::vector<std::int64_t>& least = demand(id);
  const Workspace::Totals totals = workspace_.totals(domain);
  double hardest = 0;
  for (std::size_t t = 0; t + 1 < least.size(); ++t)
    if (totals.amounts[t].allocatable > 0)
      hardest = std::max(hardest, static_cast<double>(least[t]) /
                                      static_cast<double>(totals.amounts[t].allocatable));
  return hardest;
}

double Placer::weight_of(std::uint32_t member, const Domain& domain) const {
  const Workspace::Totals totals = workspace_.totals(domain);
  const std::uint32_t shape = tree_.members[member].shape;
  double heaviest = 0;
  for (std::size_t t = 0; t < totals.amounts.size(); ++t)
    if (totals.amounts[t].allocatable > 0)
      heaviest = std::max(heaviest, static_cast<double>(workspace_.wanted(shape, t)) /
                                        static_cast<double>(totals.amounts[t].allocatable));
  return heaviest;
}

bool Placer::pack_minimum(std::uint32_t id, const Domain& domain, const Next& next) {
  const GroupTree::Item& item = tree_.items[id];
  std::vector<double> weights(tree_.shapes.size(), 0);
  for (const std::uint32_t member : item.members)
    if (double& weight = weights[tree_.members[member].shape]; weight == 0)
      weight = weight_of(member, domain);
  const auto weight = [&](std::uint32_t member) { return weights[tree_.members[member].shape]; };
  std::vector<std::uint32_t> chosen = item.members;
  std::ranges::stable_sort(chosen, {}, weight);
  chosen.resize(static_cast<std::size_t>(item.missing()));
  std::ranges::stable_sort(chosen, std::greater<>{}, weight);
  const bool alike = counts_alone(id);
  if (!alike && item.missing() < static_cast<std::int64_t>(item.members.size()))
    exhaustive_ = false;

  bool packed = false;
  for (const bool tightly : {false, true}) {
    if (is_spent()) return false;
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    if (!pack(chosen, domain, tightly)) continue;
    packed = true;
    if (next()) {
      undo.keep();
      return true;
    }
    // Another way to pack might have suited the others better; with one leaf there are no others.
    if (!packing_is_all_one()) exhaustive_ = false;
  }
  if (packed || alike) return false;
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  {
    Arena arena(workspace_, domain);
    if (!pack_exactly(chosen, 0, 0, arena)) return false;
  }
  if (next()) {
    undo.keep();
    return true;
  }
  exhaustive_ = false;
  return false;
}

// Whether it makes no difference to the others on which nodes of its domain a group stands: all
// pods are alike and every leaf keeps to a domain of one and the same key.
bool Placer::packing_is_all_one() const {
  if (tree_.shapes.size() != 1 || tree_.keys.size() != 1 || !workspace_.counts_exactly(0))
    return false;
  return std::ranges::all_of(
      tree_.items, [](const auto& item) { return !item.is_leaf() || item.key.has_value(); });
}

bool Placer::pack(const std::vector<std::uint32_t>& chosen, const Domain& domain, bool tightly) {
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  Arena arena(workspace_, domain);
  for (const std::uint32_t member : chosen) {
    if (!step()) return false;
    const std::uint32_t shape = tree_.members[member].shape;
    const std::optional<NodeId> node = tightly ? tightest(shape, arena) : arena.pick(shape);
    if (!node) return false;
    workspace_.place(shape, *node, member);
  }
  undo.keep();
  return true;
}

// The feasible node with the least room to spare, summed over resources in thousandths of what it
// has.
std::optional<NodeId> Placer::tightest(std::uint32_t shape, Arena& arena) {
  std::optional<NodeId> best;
  std::int64_t best_room = 0;
  work_ += arena.nodes().size() / 8;
  const Cluster& cluster = workspace_.cluster();
  for (const NodeId node : arena.nodes()) {
    if (!arena.is_feasible(shape, node)) continue;
    std::int64_t room = 0;
    for (const ResourceId resource : workspace_.tracked()) {
      const ResourceColumns& columns = cluster.resource(resource);
      if (columns.allocatable[node] > 0)
        room += static_cast<std::int64_t>(
            1000.0 * static_cast<double>(columns.allocatable[node] - columns.requested[node]) /
            static_cast<double>(columns.allocatable[node]));
    }
    if (!best || room < best_room) {
      best = node;
      best_room = room;
    }
  }
  return best;
}

// Depth first over every way to put the chosen pods on the arena's nodes. Pods of one shape take
// nodes in rising order, and nodes that are equally free are tried once.
bool Placer::pack_exactly(const std::vector<std::uint32_t>& chosen, std::size_t at,
                          std::size_t from, Arena& arena) {
  if (at == chosen.size()) return true;
  work_ += arena.nodes().size() * tree_.shapes.size() / 8;
  const std::uint32_t shape = tree_.members[chosen[at]].shape;
  std::vector<std::int64_t> left(tree_.shapes.size(), 0);
  for (std::size_t later = at; later < chosen.size(); ++later)
    ++left[tree_.members[chosen[later]].shape];
  for (std::size_t s = 0; s < left.size(); ++s) {
    if (left[s] == 0) continue;
    std::int64_t room = 0;
    for (const NodeId node : arena.nodes()) room += workspace_.cap(s, node);
    if (room < left[s]) return false;
  }
  std::set<std::uint64_t> seen;
  const Cluster& cluster = workspace_.cluster();
  for (std::size_t seat = from; seat < arena.nodes().size(); ++seat) {
    const NodeId node = arena.nodes()[seat];
    if (!arena.is_feasible(shape, node)) continue;
    std::uint64_t state = 3;
    for (const ResourceId resource : workspace_.tracked())
      state = mix(state, static_cast<std::uint64_t>(cluster.resource(resource).allocatable[node] -
                                                    cluster.resource(resource).requested[node]));
    for (std::size_t s = 0; s < left.size(); ++s)
      state = mix(state, static_cast<std::uint64_t>(workspace_.cap(s, node)));
    if (!seen.insert(state).second) continue;
    if (!step()) return false;
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    workspace_.place(shape, node, chosen[at]);
    const bool same_next = at + 1 < chosen.size() && tree_.members[chosen[at + 1]].shape == shape;
    if (pack_exactly(chosen, at + 1, same_next ? seat : 0, arena)) {
      undo.keep();
      return true;
    }
    if (is_spent()) return false;
  }
  return false;
}

// With every minimum in its place: the other pods of placed leaves, in upstream's order, then the
// groups that were not needed.
void Placer::place_extras(std::uint32_t id) {
  const GroupTree::Item& item = tree_.items[id];
  for (const std::uint32_t child : item.children) {
    if (fates_[child].placed)
      place_extras(child);
    else
      evaluate(child, domains_[id]);
  }
  if (!item.is_leaf() || item.members.empty()) return;
  std::vector<char> is_placed(tree_.members.size(), 0);
  for (const Draft::Move& move : workspace_.draft().moves()) is_placed[move.tag] = 1;
  Arena arena(workspace_, domains_[id]);
  for (const std::uint32_t member : item.members) {
    if (is_placed[member]) continue;
    const std::uint32_t shape = tree_.members[member].shape;
    if (const auto node = arena.pick(shape)) workspace_.place(shape, *node, member);
  }
}

}  // namespace muster::scheduler
