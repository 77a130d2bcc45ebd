// The candidates of a group with a preferred topology.
#include <fmt/format.h>

#include <algorithm>

#include "scheduler/placement/bounds.h"

namespace muster::scheduler {
namespace {

// Of domains that are joined, so many are named.
constexpr std::size_t kNamed = 4;

// How many of the domains in order are joined: what the minimum and all pods may need, a few more
// than the minimum one by one, then in growing steps, since a key may have as many domains as there
// are nodes.
std::vector<std::size_t> union_sizes(std::size_t for_minimum, std::size_t for_all,
                                     std::size_t parts) {
  constexpr std::size_t kOneByOne = 4;
  std::vector<std::size_t> sizes{for_all};
  for (std::size_t size = for_minimum, tried = 0; size < parts; ++tried) {
    sizes.push_back(size);
    size += tried < kOneByOne ? 1 : 1 + size / 4;
  }
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  std::erase_if(sizes, [parts](std::size_t size) { return size < 2 || size >= parts; });
  return sizes;
}

}  // namespace

// While the group insists, those where members run, if any do; else these count for nothing new.
Bounds::Preferred Bounds::preferred(std::uint32_t id, std::span<const Domain> all) {
  const GroupTree::Item& item = tree_.items[id];
  Preferred out;
  for (const Domain& domain : all)
    for (Domain part : workspace_.topology().split(domain, *item.preferred)) {
      const bool has_members = std::ranges::binary_search(item.prefers_at, part.name);
      if (item.insists && !item.prefers_at.empty() && !has_members) continue;
      if (has_members) part.parts = 0;
      out.domains.push_back(part);
    }
  if (item.insists) return out;
  for (const Domain& domain : all)
    add_unions(id, workspace_.topology().split(domain, *item.preferred), out);
  for (Domain domain : all) {
    domain.parts = UINT32_MAX;
    out.domains.push_back(domain);
  }
  return out;
}

// Those with members first, then those that hold most: for pods of one class no choice of fewer
// domains holds as many.
void Bounds::add_unions(std::uint32_t id, std::span<const Domain> parts, Preferred& out) {
  struct Part {
    const Domain* domain;
    bool has_members;
    std::int64_t fits;
  };
  const GroupTree::Item& item = tree_.items[id];
  std::vector<Part> order;
  for (const Domain& part : parts)
    order.push_back(
        {&part, std::ranges::binary_search(item.prefers_at, part.name), fits_in(id, part)});
  std::ranges::stable_sort(order, [](const Part& a, const Part& b) {
    return a.has_members != b.has_members ? a.has_members : a.fits > b.fits;
  });
  const auto enough_for = [&order](std::int64_t pods) {
    std::size_t size = 0;
    for (std::int64_t fits = 0; size < order.size() && fits < pods; ++size)
      fits += order[size].fits;
    return size;
  };
  const auto with_members = static_cast<std::size_t>(
      std::ranges::count_if(order, [](const Part& part) { return part.has_members; }));
  const std::size_t least = std::max({std::size_t{2}, with_members, enough_for(demand(id).back())});
  for (const std::size_t size : union_sizes(least, enough_for(item.queued_below), order.size())) {
    std::vector<CellId>& cells = out.cells.emplace_back();
    std::string& name = out.names.emplace_back();
    for (std::size_t i = 0; i < size; ++i) {
      const Domain& part = *order[i].domain;
      cells.insert(cells.end(), part.cells.begin(), part.cells.end());
      if (i < kNamed) name += fmt::format("{}{}", i == 0 ? "" : "+", part.name);
    }
    if (size > kNamed) name += fmt::format("+{} more", size - kNamed);
    budget_.work += 1 + cells.size() / 8;
    out.domains.push_back(
        {name, cells, static_cast<std::uint32_t>(size - std::min(size, with_members))});
  }
}

}  // namespace muster::scheduler
