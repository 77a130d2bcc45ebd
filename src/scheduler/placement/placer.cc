#include "scheduler/placement/placer.h"

#include <algorithm>
#include <optional>

#include "api/views/pod_view.h"

namespace muster::scheduler {

SearchResult Placer::run() {
  const Domain everywhere = workspace_.topology().everywhere();
  if (!can_meet_minimum(0, everywhere)) return SearchResult::Infeasible;
  {
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    if (evaluate(0, everywhere) && undo.moves_since() > 0) {
      undo.keep();
      if (options_.searches &&
          std::ranges::any_of(placements_, [](Placement placement) { return !placement.placed; })) {
        budget_.allow(options_.steps_max, options_.work_max);
        Search search(tree_, workspace_, *this, budget_);
        for (const std::uint32_t item : add_left_out(search)) place_extras(item);
      }
      return SearchResult::Feasible;
    }
  }
  return options_.searches ? search(everywhere) : SearchResult::Unresolved;
}

std::span<const Domain> Placer::candidates(std::uint32_t id, const Domain& within) const {
  const GroupTree::Item& item = tree_.items[id];
  if (!item.key) return {&within, 1};
  if (item.has_unlabelled || item.pinned_to.size() > 1) return {};
  const std::span<const Domain> domains = workspace_.topology().split(within, *item.key);
  if (item.pinned_to.empty()) return domains;
  const auto pinned = std::ranges::equal_range(domains, std::string_view(item.pinned_to.front()),
                                               {}, &Domain::name);
  return {pinned.begin(), pinned.end()};
}

// --- upstream's way ---

bool Placer::evaluate(std::uint32_t id, const Domain& within) {
  clear_placements(id);
  const GroupTree::Item& item = tree_.items[id];
  const std::span<const Domain> domains = candidates(id, within);
  if (domains.size() == 1) return meets_in(id, domains[0]) && simulate(id, domains[0]);
  std::vector<Outlook> outlooks;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (!item.is_leaf() && !meets_in(id, domains[i])) continue;
    const std::int64_t at_most = fits_in(id, domains[i]);
    if (item.is_leaf() && !meets_with(id, domains[i], at_most)) continue;
    const bool holds_all = at_most == item.queued_below;
    outlooks.push_back({i, at_most, holds_all ? fullness(id, domains[i], item.classes_below) : 0,
                        holds_all, has_room_to_grow(id, domains[i])});
  }
  if (outlooks.empty()) return false;
  if (outlooks.size() == 1) return simulate(id, domains[outlooks.front().candidate]);
  return choose(id, domains, outlooks);
}

// Domains that may hold all members come first, the fullest of them first: the first that really
// does is the best there is, and the rest need not be looked at (L5, L36). Only if none holds all
// are the scores compared.
bool Placer::choose(std::uint32_t id, std::span<const Domain> domains,
                    std::vector<Outlook>& outlooks) {
  const GroupTree::Item& item = tree_.items[id];
  std::ranges::sort(outlooks, [](const Outlook& a, const Outlook& b) {
    if (a.holds_all != b.holds_all) return a.holds_all;
    if (a.has_room != b.has_room) return a.has_room;
    if (a.score != b.score) return a.score > b.score;
    return a.candidate < b.candidate;
  });
  struct Tried {
    std::size_t candidate;
    std::int64_t pods;
    std::int64_t fullness;
  };
  std::vector<Tried> tried;
  for (const Outlook& outlook : outlooks) {
    const Domain& domain = domains[outlook.candidate];
    if (!outlook.holds_all && counts_alone(id)) {
      // Counting tells the outcome: pods of one class fill the room there is.
      std::vector<std::int32_t> further(tree_.standings.size(), 0);
      further[tree_.members[item.members.front()].class_index] =
          static_cast<std::int32_t>(outlook.at_most);
      tried.push_back(
          {outlook.candidate, item.held_below + outlook.at_most, fullness(id, domain, further)});
      continue;
    }
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    if (!simulate(id, domain)) continue;
    const auto placed = static_cast<std::int64_t>(undo.moves_since());
    if (placed == item.queued_below) {
      undo.keep();
      return true;
    }
    tried.push_back({outlook.candidate, item.held_below + placed,
                     fullness(id, domain, std::vector<std::int32_t>(tree_.standings.size(), 0))});
  }
  if (tried.empty()) {
    clear_placements(id);
    return false;
  }
  std::int64_t most = 1;
  for (const Tried& t : tried) most = std::max(most, t.pods);
  const auto total = [&](const Tried& t) { return t.fullness + t.pods * 100 / most; };
  const Tried* best = &tried.front();
  for (const Tried& t : tried)
    if (total(t) > total(*best) || (total(t) == total(*best) && t.candidate < best->candidate))
      best = &t;
  return simulate(id, domains[best->candidate]);
}

bool Placer::simulate(std::uint32_t id, const Domain& domain) {
  const bool placed =
      tree_.items[id].is_leaf() ? simulate_leaf(id, domain) : simulate_composite(id, domain);
  if (placed) {
    domains_[id] = domain;
    placements_[id].placed = true;
  } else {
    clear_placements(id);
  }
  return placed;
}

bool Placer::simulate_leaf(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.members.empty()) return item.held >= item.minimum;
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  Arena arena(workspace_, domain);
  std::int64_t placed = 0;
  auto remaining = static_cast<std::int64_t>(item.members.size());
  std::vector<char> is_full(tree_.standings.size(), 0);
  for (const std::uint32_t member : item.members) {
    ++budget_.steps;
    --remaining;
    const std::uint32_t class_index = tree_.members[member].class_index;
    if (!is_full[class_index]) {
      std::optional<NodeId> node;
      const std::string& nominated =
          tree_.members[member].pending->pod->view<api::PodView>().nominated_node;
      if (NodeId promised{}; !nominated.empty() &&
                             workspace_.cluster().find_node(nominated, promised) &&
                             arena.is_feasible(class_index, promised))
        node = promised;
      else
        node = arena.pick(class_index);
      if (node) {
        workspace_.place(class_index, *node, member);
        ++placed;
      } else {
        is_full[class_index] = workspace_.counts_exactly(class_index);
      }
    }
    if (item.held + placed + remaining < item.minimum) return false;
  }
  if (item.held + placed < item.minimum) return false;
  undo.keep();
  return true;
}

bool Placer::simulate_composite(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  std::int64_t ready = 0;
  auto remaining = static_cast<std::int64_t>(item.children.size());
  for (const std::uint32_t child : item.children) {
    if (evaluate(child, domain)) ++ready;
    if (ready + --remaining < item.minimum) return false;
  }
  if (ready < item.minimum) return false;
  undo.keep();
  return true;
}

bool Placer::counts_alone(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  if (!item.is_leaf() || item.members.empty()) return false;
  const std::uint32_t class_index = tree_.members[item.members.front()].class_index;
  return workspace_.counts_exactly(class_index) &&
         item.classes_below[class_index] == item.queued_below;
}

bool Placer::has_room_to_grow(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  if (!item.is_leaf() || item.members.empty()) return true;
  const std::int64_t wanted = item.group->declared_size - item.held;
  if (wanted <= static_cast<std::int64_t>(item.members.size())) return true;
  return workspace_.cap_sum(tree_.members[item.members.front()].class_index, domain) >= wanted;
}

void Placer::clear_placements(std::uint32_t id) {
  placements_[id] = {};
  for (const std::uint32_t child : tree_.items[id].children) clear_placements(child);
}

// --- where upstream's way fails ---

// Minimums first, everywhere; extras only when every minimum that can has its place (L1-L3).
SearchResult Placer::search(const Domain& everywhere) {
  clear_placements(0);
  budget_.allow(options_.steps_max, options_.work_max);
  Search search(tree_, workspace_, *this, budget_);
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  SearchResult answer = search.place_minimum(0, everywhere);
  if (answer == SearchResult::Feasible && undo.moves_since() == 0)
    answer = search_for_new_pod(search, everywhere);
  if (answer != SearchResult::Feasible) return answer;
  adopt(search);
  add_left_out(search);
  for (std::uint32_t id = 0; id < tree_.items.size(); ++id)
    if (placements_[id].placed) place_extras(id);
  undo.keep();
  return answer;
}

// Every minimum is met as things stand, but an attempt succeeds only by a new pod: each leaf in
// turn must get one.
SearchResult Placer::search_for_new_pod(Search& search, const Domain& everywhere) {
  SearchResult answer = SearchResult::Infeasible;
  for (std::uint32_t id = 0; id < tree_.items.size(); ++id) {
    if (tree_.items[id].members.empty() || fits_at_most(id, everywhere) == 0) continue;
    const SearchResult here = search.place_minimum(0, everywhere, id);
    if (here == SearchResult::Feasible) return here;
    if (here == SearchResult::Unresolved) answer = here;
  }
  return answer;
}

void Placer::adopt(const Search& search) {
  for (const auto& [id, domain] : search.found()) {
    domains_[id] = domain;
    placements_[id] = {.placed = true};
  }
}

// Groups that nobody needed, or that upstream's order failed to place, in the order of the tree.
// Returns those that were placed now.
std::vector<std::uint32_t> Placer::add_left_out(Search& search) {
  std::vector<std::uint32_t> added;
  std::optional<std::uint32_t> failed;  // the last that found no place, and nothing came after it
  for (std::uint32_t id = 1; id < tree_.items.size(); ++id) {
    const std::uint32_t parent = tree_.items[id].parent;
    if (placements_[id].placed || !placements_[parent].placed) continue;
    if (!can_meet_minimum(id, domains_[parent])) continue;
    if (failed && tree_.items[*failed].parent == parent && search.are_alike(*failed, id)) {
      placements_[id].unresolved = placements_[*failed].unresolved;
      continue;
    }
    const SearchResult answer = search.place_minimum(id, domains_[parent]);
    placements_[id].unresolved = answer == SearchResult::Unresolved;
    if (answer != SearchResult::Feasible) {
      failed = id;
      continue;
    }
    failed.reset();
    adopt(search);
    for (const auto& [found, domain] : search.found()) added.push_back(found);
  }
  std::ranges::sort(added);
  return added;
}

// With every minimum in its place: the other pods of a leaf, in upstream's order.
void Placer::place_extras(std::uint32_t id) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.members.empty()) return;
  std::vector<char> is_placed(item.members.size(), 0);
  const std::uint32_t first = item.members.front();  // a leaf's members are numbered in a row
  for (const Draft::Move& move : workspace_.draft().moves())
    if (move.tag >= first && move.tag < first + item.members.size())
      is_placed[move.tag - first] = 1;
  if (std::ranges::find(is_placed, 0) == is_placed.end()) return;
  Arena arena(workspace_, domains_[id]);
  for (const std::uint32_t member : item.members) {
    if (is_placed[member - first]) continue;
    const std::uint32_t class_index = tree_.members[member].class_index;
    if (const auto node = arena.pick(class_index)) workspace_.place(class_index, *node, member);
  }
}

// --- scores ---

std::int64_t Placer::fullness(std::uint32_t id, const Domain& domain,
                              const std::vector<std::int32_t>& further) const {
  __extension__ using Wide =
      __int128;  // a hundred times all the memory of a big cluster exceeds 64 bits
  const Workspace::Totals totals = workspace_.totals(domain);
  const auto tracked = workspace_.tracked();
  std::int64_t sum = 0;
  std::int64_t resources = 0;
  for (std::size_t t = 0; t < tracked.size(); ++t) {
    const Workspace::Amount& amount = totals.amounts[t];
    if (amount.allocatable <= 0 || tracked[t] == ResourceId::EphemeralStorage) continue;
    std::int64_t used = amount.used;
    bool is_asked_for = t < 2;
    for (std::size_t s = 0; s < tree_.standings.size(); ++s) {
      used += further[s] * workspace_.scored(s, t);
      is_asked_for |= tree_.items[id].classes_below[s] > 0 && workspace_.wanted(s, t) > 0;
    }
    if (!is_asked_for) continue;
    sum += static_cast<std::int64_t>(Wide{100} * std::min(used, amount.allocatable) /
                                     amount.allocatable);
    ++resources;
  }
  return resources == 0 ? 0 : sum / resources;
}

// --- bounds ---

std::int64_t Placer::fits_at_most(std::uint32_t id, const Domain& within) {
  std::int64_t most = 0;
  for (const Domain& domain : candidates(id, within)) most = std::max(most, fits_in(id, domain));
  return most;
}

std::int64_t Placer::fits_in(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  budget_.work += 1 + domain.cells.size() / 8;
  std::int64_t by_class = 0;
  for (std::size_t s = 0; s < tree_.standings.size(); ++s)
    if (item.classes_below[s] > 0)
      by_class += std::min<std::int64_t>(item.classes_below[s], workspace_.cap_sum(s, domain));
  std::int64_t most = std::min(by_class, fits_by_totals(item, domain));
  if (item.children.empty()) return most;
  std::int64_t by_child = 0;
  for (const std::uint32_t child : item.children) by_child += fits_at_most(child, domain);
  return std::min(most, by_child);
}

// By slots, and per resource by how many of the smallest requests add up to what is free.
std::int64_t Placer::fits_by_totals(const GroupTree::Item& item, const Domain& domain) {
  const Workspace::Totals totals = workspace_.totals(domain);
  std::int64_t most = std::min(item.queued_below, totals.slots);
  boost::container::small_vector<std::pair<std::int64_t, std::int64_t>, 8>
      amounts;  // of one pod; pods
  for (std::size_t t = 0; t < totals.amounts.size(); ++t) {
    amounts.clear();
    for (std::size_t s = 0; s < tree_.standings.size(); ++s)
      if (item.classes_below[s] > 0)
        amounts.emplace_back(workspace_.wanted(s, t), item.classes_below[s]);
    std::ranges::sort(amounts);
    std::int64_t left = totals.amounts[t].free;
    std::int64_t fits = 0;
    for (const auto& [amount, pods] : amounts) {
      const std::int64_t here = amount == 0 ? pods : std::min(pods, left / amount);
      fits += here;
      left -= here * amount;
      if (here < pods) break;
    }
    most = std::min(most, fits);
  }
  return most;
}

bool Placer::can_meet_minimum(std::uint32_t id, const Domain& within) {
  return std::ranges::any_of(candidates(id, within),
                             [&](const Domain& domain) { return meets_in(id, domain); });
}

bool Placer::meets_in(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.is_leaf()) {
    if (item.missing() == 0) return true;
    if (static_cast<std::int64_t>(item.members.size()) < item.missing()) return false;
    return meets_with(id, domain, fits_in(id, domain));
  }
  std::int64_t ready = 0;
  auto remaining = static_cast<std::int64_t>(item.children.size());
  for (const std::uint32_t child : item.children) {
    if (ready >= item.minimum || ready + remaining < item.minimum) break;
    --remaining;
    if (can_meet_minimum(child, domain)) ++ready;
  }
  return ready >= item.minimum && demand_fits(id, domain);
}

// Whether a leaf can meet its minimum where so many of its pods fit at most.
bool Placer::meets_with(std::uint32_t id, const Domain& domain, std::int64_t fits) {
  const std::int64_t missing = tree_.items[id].missing();
  return missing == 0 || (fits >= missing && demand_fits(id, domain));
}

const std::vector<std::int64_t>& Placer::demand(std::uint32_t id) {
  if (demands_.empty()) demands_.resize(tree_.items.size());
  if (demands_[id].empty()) demands_[id] = least_demand(id);
  return demands_[id];
}

std::vector<std::int64_t> Placer::least_demand(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  const std::size_t resources = workspace_.tracked().size();
  std::vector<std::int64_t> least(resources + 1, 0);
  if (!item.is_leaf()) {
    std::vector<std::vector<std::int64_t>> children;
    for (const std::uint32_t child : item.children) children.push_back(least_demand(child));
    for (std::size_t t = 0; t <= resources; ++t) {
      std::vector<std::int64_t> amounts;
      for (const auto& child : children) amounts.push_back(child[t]);
      std::ranges::sort(amounts);
      for (std::int64_t i = 0; i < item.minimum && i < static_cast<std::int64_t>(amounts.size());
           ++i)
        least[t] += amounts[static_cast<std::size_t>(i)];
    }
    return least;
  }
  least[resources] = item.missing();
  for (std::size_t t = 0; t < resources; ++t) {
    std::vector<std::pair<std::int64_t, std::int64_t>>
        amounts;  // of one pod, and how many ask for it
    for (std::size_t s = 0; s < tree_.standings.size(); ++s)
      if (item.classes_below[s] > 0)
        amounts.emplace_back(workspace_.wanted(s, t), item.classes_below[s]);
    std::ranges::sort(amounts);
    std::int64_t left = item.missing();
    for (const auto& [amount, count] : amounts) {
      least[t] += amount * std::min(left, count);
      left -= std::min(left, count);
    }
  }
  return least;
}

bool Placer::demand_fits(std::uint32_t id, const Domain& domain) {
  const std::vector<std::int64_t>& least = demand(id);
  const Workspace::Totals totals = workspace_.totals(domain);
  if (least.back() > totals.slots) return false;
  for (std::size_t t = 0; t + 1 < least.size(); ++t)
    if (least[t] > totals.amounts[t].free) return false;
  return true;
}

DomainBound Placer::bound(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  DomainBound bound{.domain = std::string(domain.name),
                    .fits_at_most = fits_in(id, domain),
                    .needed = 0,
                    .ready = 0};
  if (item.is_leaf()) {
    bound.needed = item.missing();
  } else {
    bound.needed = item.minimum;
    for (const std::uint32_t child : item.children)
      bound.ready += can_meet_minimum(child, domain) ? 1 : 0;
  }
  return bound;
}

}  // namespace muster::scheduler
