#include "scheduler/preemption/least_on_node.h"

#include <algorithm>
#include <functional>

#include "base/saturating.h"
#include "scheduler/framework/counted_wants.h"

namespace muster::scheduler {

LeastOnNode::LeastOnNode(const Cluster& cluster, const Standing& standing, const UnitTable& table)
    : cluster_(cluster), table_(table), wants_(counted_wants(standing, cluster)) {
  counts_room_ = std::ranges::any_of(standing.filters(), [](const Standing::NamedFilter& filter) {
    return filter.name == kRoomFilter;
  });
}

void LeastOnNode::find_missing(NodeId node, std::int64_t count) {
  missing_.clear();
  for (const PodClass::Want& want : wants_) {
    const ResourceColumns& columns = cluster_.resource(want.resource);
    const std::int64_t amount = saturating_add(saturating_multiply(want.amount, count),
                                               columns.requested[node] - columns.allocatable[node]);
    if (amount > 0) missing_.push_back({want.resource, amount});
  }
  const std::int64_t slots = count + cluster_.pods_on()[node] - cluster_.pod_slots()[node];
  if (slots > 0) missing_.push_back({std::nullopt, slots});
}

std::int64_t LeastOnNode::freed(const Lower& lower, const Missing& missing) {
  if (!missing.resource) return 1;
  for (const PodClass::Want& used : lower.pods->usage)
    if (used.resource == *missing.resource) return used.amount;
  return 0;
}

// How many of them, those that free most first, make up for what is missing; one more than there
// are if all together do not.
std::int64_t LeastOnNode::count_to(std::span<const Lower> lower, const Missing& missing) {
  amounts_.clear();
  for (const Lower& it : lower) amounts_.push_back(freed(it, missing));
  std::ranges::sort(amounts_, std::greater{});
  std::int64_t left = missing.amount;
  std::int64_t count = 0;
  for (; left > 0 && count < std::ssize(amounts_); ++count)
    left -= amounts_[static_cast<std::size_t>(count)];
  return left > 0 ? count + 1 : count;
}

// Pods of the lowest priorities are not enough up to some level: so making room takes a pod of that
// level or above. If none above goes, at best all below it are gone, and as many of the level go as
// make up for the rest.
std::optional<LeastOnNode::Least> LeastOnNode::on(NodeId node, std::int64_t count,
                                                  std::span<const char> taken) {
  Least least;
  if (!counts_room_) return least;
  find_missing(node, count);
  if (missing_.empty()) return least;
  lower_.clear();
  for (const std::uint32_t number : table_.on(node)) {
    const UnitTable::Pod& pod = table_.pods()[number];
    if (taken.empty() || !taken[pod.unit])
      lower_.push_back({table_.units()[pod.unit].priority, pod.pods});
  }
  const auto all = std::span<const Lower>(lower_);
  for (const Missing& missing : missing_) least.pods = std::max(least.pods, count_to(all, missing));
  if (least.pods > std::ssize(lower_)) return std::nullopt;
  std::ranges::sort(lower_, {}, &Lower::priority);
  for (std::size_t from = 0; from < lower_.size();) {
    std::size_t to = from;
    while (to < lower_.size() && lower_[to].priority == lower_[from].priority) ++to;
    const auto level = all.subspan(from, to - from);
    least.top = lower_[from].priority;
    least.at_top = 1;
    for (const Missing& missing : missing_)
      least.at_top = std::max(least.at_top, count_to(level, missing));
    if (least.at_top <= std::ssize(level)) return least;
    for (Missing& missing : missing_)
      for (const Lower& it : level) missing.amount -= freed(it, missing);
    from = to;
  }
  return least;
}

}  // namespace muster::scheduler
