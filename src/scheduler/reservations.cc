#include "scheduler/reservations.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/count_of.h"
#include "scheduler/preemption/preemption.h"

namespace muster::scheduler {
namespace {

// Of the nodes that are kept, so many are named in the event.
constexpr std::size_t kNamed = 8;

template <typename Visit>
void for_each_pod(const Group& group, Visit&& visit) {
  for (const PendingPod& pending : group.pods) visit(pending);
  for (const Group& child : group.children) for_each_pod(child, visit);
}

std::set<std::string_view> nodes_of(const Reservation& reservation) {
  std::set<std::string_view> nodes;
  for (const PreemptionPlan::Place& place : reservation.places) nodes.insert(place.node);
  return nodes;
}

std::string words_for(const Reservation& reservation) {
  const std::set<std::string_view> nodes = nodes_of(reservation);
  std::vector<std::string_view> named(nodes.begin(), nodes.end());
  const std::size_t more = named.size() > kNamed ? named.size() - kNamed : 0;
  named.resize(named.size() - more);
  return fmt::format("Keeping room for {} on {}: {}{}",
                     count_of(std::ssize(reservation.places), "pod"),
                     count_of(std::ssize(nodes), "node"), fmt::join(named, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : std::string());
}

}  // namespace

Reservations::Reservations(ClusterModel& model, Report& report, Metrics* metrics)
    : model_(model), report_(report) {
  if (metrics == nullptr) return;
  trees_ = metrics->gauge("muster_group_reservations",
                          "Trees of groups that have waited for long and that room is kept for.");
  nodes_ = metrics->gauge("muster_group_reserved_nodes",
                          "Nodes on which room is kept for trees that have waited for long.");
  made_ = metrics->counter("muster_group_reservations_total",
                           "How often room was set aside for a tree that had waited for long.");
}

std::optional<Reservation> Reservations::consider(const Group& root, const PreemptionArgs& args,
                                                  Time now) {
  if (args.reserve_after <= Duration::zero() || !root.waits_since) return std::nullopt;
  if (now < *root.waits_since + args.reserve_after) return std::nullopt;
  const std::size_t nodes_max =
      model_.cluster().node_count() * static_cast<std::size_t>(args.reserve_nodes_percentage) / 100;
  const std::size_t others = nodes_of_others(root.key);
  if (others >= nodes_max) return std::nullopt;
  // Another place each time would never be free; but those who run at this one may never end.
  if (const auto at = by_root_.find(root.key); at != by_root_.end())
    if (now < at->second.since + args.reserve_after && is_whole(at->second.what, root))
      return at->second.what;
  Reservation found = reserve_for_group(model_, root, args, now);
  if (found.places.size() < 2 || others + found.nodes > nodes_max) return std::nullopt;
  return found;
}

// Every pod of it still waits, and every node is there.
bool Reservations::is_whole(const Reservation& reservation, const Group& root) const {
  boost::unordered_flat_set<std::string_view> waiting;
  for_each_pod(root, [&](const PendingPod& pending) { waiting.insert(pending.pod->meta().uid); });
  return std::ranges::all_of(reservation.places, [&](const PreemptionPlan::Place& place) {
    return waiting.contains(place.pod->meta().uid) && model_.node(place.node) != nullptr;
  });
}

std::size_t Reservations::nodes_of_others(const GroupKey& root) const {
  std::size_t nodes = 0;
  for (const auto& [key, entry] : by_root_)
    if (key != root) nodes += entry.what.nodes;
  return nodes;
}

void Reservations::decided(const Group& root, const std::optional<Reservation>& reservation,
                           Time now) {
  if (!reservation) return forget(root.key);
  const auto at = by_root_.find(root.key);
  if (at != by_root_.end() && nodes_of(at->second.what) == nodes_of(*reservation)) {
    at->second.what = *reservation;
    return;
  }
  by_root_.insert_or_assign(root.key, Entry{now, *reservation});
  made_.add();
  count();
  if (root.object != nullptr) report_.reserved(*root.object, words_for(*reservation), now);
}

void Reservations::forget(const GroupKey& root) {
  if (by_root_.erase(root) > 0) count();
}

void Reservations::count() {
  std::size_t nodes = 0;
  for (const auto& [key, entry] : by_root_) nodes += entry.what.nodes;
  trees_.set(static_cast<double>(by_root_.size()));
  nodes_.set(static_cast<double>(nodes));
}

}  // namespace muster::scheduler
