#include "scheduler/preemption/cheapest.h"

#include <algorithm>
#include <queue>

namespace muster::scheduler {

CheapestPlacer::CheapestPlacer(const GroupTree& tree, Workspace& workspace, const UnitTable& table,
                               const DisruptionBudgets& budgets, EvictionDraft& evictions,
                               std::uint64_t& steps, const Options& options)
    : tree_(tree),
      workspace_(workspace),
      table_(table),
      budgets_(budgets),
      evictions_(evictions),
      steps_(steps),
      options_(options),
      bounds_(tree, workspace, looking_),
      evicted_(table.units().size(), 0),
      version_(workspace.cluster().rows(), 0) {
  for (const Standing* standing : tree.standings)
    least_.emplace_back(workspace.cluster(), *standing, table);
}

bool CheapestPlacer::run() {
  Draft::Checkpoint undo = evictions_.draft().checkpoint();
  const Result result = place(0, workspace_.topology().everywhere(), nullptr);
  if (!result.ok || result.placed == 0 || is_spent()) return false;
  undo.keep();
  return true;
}

// --- groups ---

CheapestPlacer::Result CheapestPlacer::place(std::uint32_t item, const Domain& within,
                                             const Cost* limit) {
  const std::span<const Domain> domains = bounds_.candidates(item, within);
  if (domains.size() == 1) return place_in(item, domains[0], limit);
  struct Best {
    std::size_t domain;
    std::int64_t placed;
    Cost cost;
  };
  std::optional<Best> best;
  for (const auto& [least, i] : by_least(item, domains)) {
    // Best first: once a domain holds all, those that cost more at least need not be tried, and one
    // that turns out to is given up at once.
    const bool holds_all = best && best->placed == tree_.items[item].queued_below;
    if (is_spent() || (holds_all && least > best->cost)) break;
    const std::size_t victims = victims_.size();
    const Draft::Checkpoint undo = evictions_.draft().checkpoint();
    const Result here = place_in(item, domains[i], holds_all ? &best->cost : limit);
    const bool is_better =
        here.ok && (!best || here.placed > best->placed ||
                    (here.placed == best->placed &&
                     (spent_ < best->cost || (spent_ == best->cost && i < best->domain))));
    if (is_better) best = {i, here.placed, spent_};
    truncate_victims(victims);
  }
  if (!best || is_spent()) return {};
  return place_in(item, domains[best->domain], nullptr);
}

// The domains with the least that placing the group there costs, including all that went before;
// the cheapest first, ties in their order.
std::vector<std::pair<Cost, std::size_t>> CheapestPlacer::by_least(
    std::uint32_t item, std::span<const Domain> domains) {
  std::vector<std::pair<Cost, std::size_t>> order;
  order.reserve(domains.size());
  for (std::size_t i = 0; i < domains.size(); ++i) {
    Cost least = spent_;
    least.add(least_in(item, domains[i]));
    order.emplace_back(std::move(least), i);
  }
  std::ranges::sort(order);
  return order;
}

// If the nodes of the domain take fewer pods now than a leaf lacks, some node will have to take one
// more than it does now, and that costs as much as where it is cheapest. Groups with several kinds
// of pods get no bound.
Cost CheapestPlacer::least_in(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  Cost least;
  if (!item.is_leaf() || item.members.empty()) return least;
  const std::uint32_t kind = tree_.members[item.members.front()].class_index;
  if (item.classes_below[kind] != std::ssize(item.members)) return least;
  std::optional<std::pair<std::int32_t, std::int64_t>> best;
  std::int64_t room = 0;
  for (const CellId cell : domain.cells)
    for (const NodeId node : workspace_.topology().nodes(cell)) {
      ++steps_;
      const std::int64_t cap = workspace_.cap(kind, node);
      room += cap;
      if (room >= item.missing()) return least;
      const std::optional<LeastOnNode::Least> here = least_[kind].on(node, cap + 1, evicted_);
      if (here && here->at_top == 0) return least;
      if (here && (!best || std::pair(here->top, here->at_top) < *best))
        best.emplace(here->top, here->at_top);
    }
  if (best) least.add_pods(best->first, best->second);
  return least;
}

CheapestPlacer::Result CheapestPlacer::place_in(std::uint32_t id, const Domain& domain,
                                                const Cost* limit) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.is_leaf()) return place_leaf(id, domain, limit);
  Draft::Checkpoint undo = evictions_.draft().checkpoint();
  const std::size_t victims = victims_.size();
  Result all;
  std::int64_t ready = 0;
  for (const std::uint32_t child : item.children) {
    const Result result = place(child, domain, limit);
    all.placed += result.placed;
    ready += result.ok ? 1 : 0;
    if (limit != nullptr && spent_ > *limit) break;
  }
  all.ok = ready >= item.minimum && (limit == nullptr || spent_ <= *limit);
  if (!all.ok) {
    truncate_victims(victims);
    return {};
  }
  undo.keep();
  return all;
}

// --- pods ---

// Less is better; of equal cost, where more fit afterwards; then by name. What is only a bound
// comes before an offer of the same cost: it may turn out to be as cheap.
bool CheapestPlacer::comes_first(const Ranked& a, const Ranked& b) const {
  if (const auto order = a.offer.cost <=> b.offer.cost; order != nullptr) return order < 0;
  if (a.is_bound != b.is_bound) return a.is_bound;
  if (a.offer.room != b.offer.room) return a.offer.room > b.offer.room;
  return a.rank < b.rank;
}

CheapestPlacer::Result CheapestPlacer::place_leaf(std::uint32_t id, const Domain& domain,
                                                  const Cost* limit) {
  const GroupTree::Item& item = tree_.items[id];
  Draft::Checkpoint undo = evictions_.draft().checkpoint();
  const std::size_t victims = victims_.size();
  Result result;
  const auto later = [this](const Ranked& a, const Ranked& b) { return comes_first(b, a); };
  using Queue = std::priority_queue<Ranked, std::vector<Ranked>, decltype(later)>;
  std::vector<std::optional<Queue>> queues(tree_.standings.size());
  const auto add = [&](std::size_t class_index, std::optional<Ranked> ranked) {
    if (ranked) queues[class_index]->push(std::move(*ranked));
  };
  for (const std::uint32_t member : item.members) {
    const std::size_t class_index = tree_.members[member].class_index;
    if (!queues[class_index]) {
      queues[class_index].emplace(later);
      for (const CellId cell : domain.cells)
        for (const NodeId node : workspace_.topology().nodes(cell))
          add(class_index, look_at(class_index, node));
    }
    Queue& queue = *queues[class_index];
    // Best first by what each node costs at least: only those are judged that come to the top. What
    // was looked at before the node changed is looked at again. A change elsewhere only lets an
    // offer become cheaper, by units that are gone already.
    while (!queue.empty() && !is_spent()) {
      const NodeId node = queue.top().node;
      const bool is_old = queue.top().version != version_[index_of(node)];
      if (!is_old && !queue.top().is_bound) break;
      queue.pop();
      add(class_index, is_old ? look_at(class_index, node) : judge(class_index, node));
    }
    if (queue.empty() || is_spent()) continue;
    const Ranked best = queue.top();
    queue.pop();
    for (const std::uint32_t unit : best.offer.units) evict_unit(unit);
    workspace_.place(class_index, best.node, member);
    ++version_[index_of(best.node)];
    ++steps_;
    ++result.placed;
    add(class_index, look_at(class_index, best.node));
    if (is_spent() || (limit != nullptr && spent_ > *limit)) break;
  }
  result.ok = item.held + result.placed >= item.minimum && !is_spent() &&
              (limit == nullptr || spent_ <= *limit);
  if (!result.ok) {
    truncate_victims(victims);
    return {};
  }
  undo.keep();
  return result;
}

// --- offers ---

std::optional<CheapestPlacer::Ranked> CheapestPlacer::look_at(std::size_t class_index,
                                                              NodeId node) {
  Ranked ranked{.offer = {},
                .node = node,
                .rank = workspace_.cluster().ranks()[node],
                .version = version_[index_of(node)]};
  if (evictions_.fits(class_index, node)) {
    ranked.offer.room = workspace_.standing(class_index).cap_now(node);
    return ranked;
  }
  const std::optional<LeastOnNode::Least> least = least_[class_index].on(node, 1, evicted_);
  if (!least || table_.on(node).empty()) return std::nullopt;
  ranked.is_bound = true;
  if (least->at_top > 0) ranked.offer.cost.add_pods(least->top, least->at_top);
  return ranked;
}

std::optional<CheapestPlacer::Ranked> CheapestPlacer::judge(std::size_t class_index, NodeId node) {
  std::optional<Offer> offer = offer_on(class_index, node);
  if (!offer) return std::nullopt;
  return Ranked{.offer = std::move(*offer),
                .node = node,
                .rank = workspace_.cluster().ranks()[node],
                .version = version_[index_of(node)]};
}

std::optional<CheapestPlacer::Offer> CheapestPlacer::offer_on(std::size_t class_index,
                                                              NodeId node) {
  std::vector<std::uint32_t> units;
  for (const std::uint32_t pod : table_.on(node)) {
    const std::uint32_t unit = table_.pods()[pod].unit;
    if (!evicted_[unit]) units.push_back(unit);
  }
  if (units.empty()) return std::nullopt;
  std::ranges::sort(
      units, [this](std::uint32_t a, std::uint32_t b) { return table_.is_more_important(a, b); });
  units.erase(std::ranges::unique(units).begin(), units.end());
  std::optional<Offer> offer = put_back_in_order(class_index, node, units, false);
  // Equal pods have no order by size, and nothing is less than one pod of the lowest priority.
  const bool are_alike = std::ranges::all_of(units, [&](std::uint32_t unit) {
    return table_.units()[unit].count == 1 &&
           table_.pods_of(unit).front().pods == table_.pods_of(units.front()).front().pods;
  });
  if (!offer || are_alike || (offer->units.size() == 1 && offer->units.front() == units.back()))
    return offer;
  if (std::optional<Offer> by_size = put_back_in_order(class_index, node, std::move(units), true);
      by_size && by_size->cost < offer->cost)
    return by_size;
  return offer;
}

// All units of the node go, then those are put back that leave room, in order: those that violate a
// budget first, then by importance; inside one priority by size, to keep as many as possible.
std::optional<CheapestPlacer::Offer> CheapestPlacer::put_back_in_order(
    std::size_t class_index, NodeId node, std::vector<std::uint32_t> units, bool by_size) {
  if (by_size)
    std::ranges::stable_sort(units, [&](std::uint32_t a, std::uint32_t b) {
      const UnitTable::Unit& x = table_.units()[a];
      const UnitTable::Unit& y = table_.units()[b];
      if (x.priority != y.priority) return x.priority > y.priority;
      return size_per_pod(a, node, class_index) < size_per_pod(b, node, class_index);
    });
  const Violations violations(table_, budgets_, units);
  const Draft::Checkpoint undo = evictions_.draft().checkpoint();
  std::vector<char> goes(units.size(), 1);
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (options_.spares_budgets && violations.any(i))
      goes[i] = 0;
    else
      evictions_.evict(evictions_.pods_on(units[i], node));
  }
  if (!evictions_.fits(class_index, node)) return std::nullopt;
  for (const bool violating : {true, false})
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (!goes[i] || violations.any(i) != violating) continue;
      Draft::Checkpoint back = evictions_.draft().checkpoint();
      evictions_.put_back(evictions_.pods_on(units[i], node));
      if (!evictions_.fits(class_index, node)) continue;
      back.keep();
      goes[i] = 0;
    }
  Offer offer{.room = workspace_.standing(class_index).cap_now(node)};
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!goes[i]) continue;
    offer.units.push_back(units[i]);
    table_.add_cost(units[i], offer.cost);
    offer.cost.violations += violations.count(i);
  }
  return offer;
}

// Of what the class asks for, how much the unit holds on the node, as a share of what one pod of
// the class wants, divided by the pods that go with the unit.
double CheapestPlacer::size_per_pod(std::uint32_t unit, NodeId node,
                                    std::size_t class_index) const {
  double size = 0;
  for (const PodClass::Want& want : workspace_.standing(class_index).pods().wants) {
    double held = 0;
    for (const UnitTable::Pod& pod : evictions_.pods_on(unit, node))
      for (const PodClass::Want& used : pod.pods->usage)
        if (used.resource == want.resource) held += static_cast<double>(used.amount);
    size = std::max(size, held / static_cast<double>(want.amount));
  }
  return size / static_cast<double>(table_.units()[unit].count);
}

void CheapestPlacer::evict_unit(std::uint32_t unit) {
  evicted_[unit] = 1;
  victims_.push_back(unit);
  table_.add_cost(unit, spent_);
  evictions_.evict(table_.pods_of(unit));
  for (const UnitTable::Pod& pod : table_.pods_of(unit)) ++version_[index_of(pod.node)];
}

// The draft gives their pods back by itself.
void CheapestPlacer::truncate_victims(std::size_t count) {
  while (victims_.size() > count) {
    evicted_[victims_.back()] = 0;
    for (const UnitTable::Pod& pod : table_.pods_of(victims_.back()))
      ++version_[index_of(pod.node)];
    victims_.pop_back();
  }
  spent_ = {};
  for (const std::uint32_t unit : victims_) table_.add_cost(unit, spent_);
}

}  // namespace muster::scheduler
