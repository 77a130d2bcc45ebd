#include "scheduler/placement/bounds.h"

#include <algorithm>

#include "base/saturating.h"

namespace muster::scheduler {

std::span<const Domain> Bounds::candidates(std::uint32_t id, const Domain& within) {
  const std::span<const Domain> all = required(id, within);
  if (!tree_.items[id].preferred || all.empty()) return all;
  const auto [at, is_new] =
      preferred_.try_emplace({id, within.cells.data(), within.cells.size()}, Preferred{});
  if (is_new) at->second = preferred(id, all);
  return at->second.domains;
}

std::span<const Domain> Bounds::widest(std::uint32_t id, const Domain& within) {
  return tree_.items[id].insists ? candidates(id, within) : required(id, within);
}

std::span<const Domain> Bounds::required(std::uint32_t id, const Domain& within) {
  const GroupTree::Item& item = tree_.items[id];
  if (!item.key) return {&within, 1};
  const bool is_generated = workspace_.topology().is_generated(*item.key);
  if (item.has_unlabelled || (item.pinned_to.size() > 1 && !is_generated)) return {};
  const std::span<const Domain> domains = workspace_.topology().split(within, *item.key);
  if (item.pinned_to.empty()) return domains;
  if (is_generated) return that_hold_all(id, within, domains);
  const auto pinned = std::ranges::equal_range(domains, std::string_view(item.pinned_to.front()),
                                               {}, &Domain::name);
  return {pinned.begin(), pinned.end()};
}

// Domains of plugins overlap, so that several may hold all running members.
std::span<const Domain> Bounds::that_hold_all(std::uint32_t id, const Domain& within,
                                              std::span<const Domain> domains) {
  const auto [at, is_new] = holding_all_.try_emplace({id, within.cells.data()});
  if (is_new)
    for (const Domain& domain : domains)
      if (std::ranges::binary_search(tree_.items[id].pinned_to, domain.name))
        at->second.push_back(domain);
  return at->second;
}

// --- how many fit ---

std::int64_t Bounds::fits_at_most(std::uint32_t id, const Domain& within) {
  std::int64_t most = 0;
  for (const Domain& domain : widest(id, within)) most = std::max(most, fits_in(id, domain));
  return most;
}

// Three bounds, each true by itself, so the least of them is. By class: no more than there are, and
// no more than the nodes take of that class alone; pods of other classes can only take room away.
// By totals: see below. By child: each child gets no more than in its best domain, as if it had the
// whole of this one to itself.
std::int64_t Bounds::fits_in(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  budget_.work += 1 + domain.cells.size() / 8;
  std::int64_t by_class = 0;
  for (std::size_t c = 0; c < tree_.standings.size(); ++c)
    if (item.classes_below[c] > 0)
      by_class += std::min<std::int64_t>(item.classes_below[c], workspace_.cap_sum(c, domain));
  const std::int64_t most = std::min(by_class, fits_by_totals(id, domain));
  if (item.children.empty()) return most;
  std::int64_t by_child = 0;
  for (const std::uint32_t child : item.children) by_child += fits_at_most(child, domain);
  return std::min(most, by_child);
}

// What the pods of the subtree ask for of one resource, and how many do, the smallest first. The
// same in every domain.
const Bounds::Amounts& Bounds::smallest_first(std::uint32_t id, std::size_t tracked) {
  const std::size_t resources = workspace_.tracked().size();
  if (smallest_.empty()) smallest_.resize(tree_.items.size() * resources);
  Amounts& amounts = smallest_[id * resources + tracked];
  if (!amounts.empty()) return amounts;
  const GroupTree::Item& item = tree_.items[id];
  for (std::size_t c = 0; c < tree_.standings.size(); ++c)
    if (item.classes_below[c] > 0)
      amounts.emplace_back(workspace_.wanted(c, tracked), item.classes_below[c]);
  std::ranges::sort(amounts);
  return amounts;
}

// By slots, and per resource by how many of the smallest requests add up to what is free: any other
// choice of as many pods asks for more, and nodes that share the free amount between them can only
// waste some of it.
std::int64_t Bounds::fits_by_totals(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  const Workspace::Totals totals = workspace_.totals(domain);
  std::int64_t most = std::min(item.queued_below, totals.slots);
  for (std::size_t t = 0; t < totals.amounts.size(); ++t) {
    std::int64_t left = totals.amounts[t].free;
    std::int64_t fits = 0;
    for (const auto& [amount, pods] : smallest_first(id, t)) {
      const std::int64_t here = amount == 0 ? pods : std::min(pods, left / amount);
      fits += here;
      left -= here * amount;
      if (here < pods) break;
    }
    most = std::min(most, fits);
  }
  return most;
}

// --- whether minimums can be met ---

bool Bounds::can_meet_minimum(std::uint32_t id, const Domain& within) {
  return std::ranges::any_of(widest(id, within),
                             [&](const Domain& domain) { return meets_in(id, domain); });
}

// A leaf's least demand needs no look of its own: if as many as it misses fit by totals, the
// lightest of them do, and they are that demand.
bool Bounds::meets_in(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.is_leaf()) {
    if (item.missing() == 0) return true;
    if (static_cast<std::int64_t>(item.members.size()) < item.missing()) return false;
    return meets_with(id, fits_in(id, domain));
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

// --- the least that minimums take ---

const std::vector<std::int64_t>& Bounds::demand(std::uint32_t id) {
  if (demands_.empty()) demands_.resize(tree_.items.size());
  if (demands_[id].empty()) demands_[id] = least_demand(id);
  return demands_[id];
}

// A leaf takes at least its lightest pods, a composite at least its lightest children, resource by
// resource: the lightest by cpu need not be the lightest by memory, so no plan may reach all of
// these numbers at once, but none can stay below any.
std::vector<std::int64_t> Bounds::least_demand(std::uint32_t id) {
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
        least[t] = saturating_add(least[t], amounts[static_cast<std::size_t>(i)]);
    }
    return least;
  }
  least[resources] = item.missing();
  for (std::size_t t = 0; t < resources; ++t) {
    std::int64_t left = item.missing();
    for (const auto& [amount, count] : smallest_first(id, t)) {
      least[t] = saturating_add(least[t], saturating_multiply(amount, std::min(left, count)));
      left -= std::min(left, count);
    }
  }
  return least;
}

bool Bounds::demand_fits(std::uint32_t id, const Domain& domain) {
  const std::vector<std::int64_t>& least = demand(id);
  const Workspace::Totals totals = workspace_.totals(domain);
  if (least.back() > totals.slots) return false;
  for (std::size_t t = 0; t + 1 < least.size(); ++t)
    if (least[t] > totals.amounts[t].free) return false;
  return true;
}

DomainBound Bounds::bound(std::uint32_t id, const Domain& domain) {
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
