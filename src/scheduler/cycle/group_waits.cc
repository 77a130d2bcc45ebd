// Which pods of a tree without a place wait for a node, and which for others of the tree.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "scheduler/cycle/group_report.h"

namespace muster::scheduler {

std::int64_t GroupReport::Room::left(std::uint32_t class_index) {
  if (!domain) return std::numeric_limits<std::int64_t>::max();
  const auto [at, is_new] = by_class.try_emplace(class_index, 0);
  if (is_new) at->second = workspace->cap_sum(class_index, *domain);
  return std::max(std::int64_t{0}, std::min(pods, at->second));
}

void GroupReport::Room::use(std::uint32_t class_index, std::int64_t count) {
  if (!domain) return;
  pods -= count;
  by_class.at(class_index) -= count;
}

GroupReport::Closest GroupReport::closest(std::uint32_t id, std::span<const Domain> domains) {
  Closest best;
  for (const Domain& domain : domains)
    if (DomainBound here = placer_.bounds().bound(id, domain);
        best.domain == nullptr || here.ready > best.bound.ready ||
        (here.ready == best.bound.ready && here.fits_at_most > best.bound.fits_at_most))
      best = {&domain, std::move(here)};
  return best;
}

GroupReport::Room GroupReport::room(std::uint32_t id, const Domain& within) {
  const Closest best = closest(id, placer_.bounds().widest(id, within));
  if (best.domain == nullptr) return {within, &workspace_, 0, {}};
  return {*best.domain, &workspace_, best.bound.fits_at_most, {}};
}

bool GroupReport::lacks_others(std::uint32_t id) const {
  if (!why_beyond_room(id).empty()) return true;
  return id != 0 && lacks_others(tree_.items[id].parent);
}

// There is room for as many as the closest domain holds at most, in the order of the tree: of eight
// equal pods and seven free nodes seven wait for their siblings and one for a node. Only those at
// the border change, so room that comes and goes changes the conditions of few pods.
std::vector<WaitsFor> GroupReport::waits(std::uint32_t id, const Domain* within) {
  const GroupTree::Item& item = tree_.items[id];
  const bool lacks = lacks_others(id);
  lacks_anybody_ = lacks_anybody_ || lacks;
  if (lacks) return std::vector<WaitsFor>(item.members.size(), WaitsFor::Siblings);
  if (!tree_room_) tree_room_ = room(0, workspace_.topology().everywhere());
  Room own = within == nullptr ? Room{} : room(id, *within);
  std::vector<WaitsFor> waits;
  waits.reserve(item.members.size());
  const auto kind_of = [&](std::uint32_t member) { return tree_.members[member].class_index; };
  for (auto at = item.members.begin(); at != item.members.end();) {
    const std::uint32_t kind = kind_of(*at);
    const auto end = std::find_if(at, item.members.end(),
                                  [&](std::uint32_t member) { return kind_of(member) != kind; });
    if (fits_alone_[kind] != 0) {
      const std::int64_t count =
          std::min({std::int64_t{end - at}, own.left(kind), tree_room_->left(kind)});
      own.use(kind, count);
      tree_room_->use(kind, count);
      waits.insert(waits.end(), static_cast<std::size_t>(count), WaitsFor::Siblings);
      at += count;
    }
    waits.insert(waits.end(), static_cast<std::size_t>(end - at), WaitsFor::Node);
    at = end;
  }
  return waits;
}

bool GroupReport::needs_a_node() const {
  return answer_ == SearchResult::Infeasible && !lacks_anybody_ && !tree_.items.front().insists;
}

}  // namespace muster::scheduler
