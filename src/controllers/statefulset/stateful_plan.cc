#include "controllers/statefulset/stateful_plan.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace muster::controllers {
namespace {

using api::StatefulSetView;
using Why = StatefulPlan::Why;

// The pods that the set should no longer have, highest first.
std::vector<const StatefulPod*> condemned(const Roster& roster, std::size_t limit) {
  std::vector<const StatefulPod*> out;
  const auto& pods = roster.pods();
  for (auto at = pods.rbegin(); at != pods.rend() && out.size() < limit; ++at) {
    if (at->first < roster.free().end()) break;
    out.push_back(&at->second);
  }
  // Those below the range.
  const auto inside = pods.lower_bound(static_cast<std::int32_t>(roster.free().first()));
  for (auto at = inside; at != pods.begin() && out.size() < limit;) out.push_back(&(--at)->second);
  return out;
}

// The first ordinal that is not as it should be decides; nothing happens beyond it. True if all
// are.
bool plan_in_order(const Roster& roster, StatefulPlan& plan) {
  const auto first =
      roster.unavailable().lower_bound(static_cast<std::int32_t>(roster.free().first()));
  std::optional<std::int64_t> troubled;
  if (first != roster.unavailable().end() && roster.is_inside(*first)) troubled = *first;
  const std::optional<std::int64_t> missing = roster.free().lowest();
  if (!troubled && !missing) return true;
  if (missing && (!troubled || *missing < *troubled)) {
    plan.create.push_back(static_cast<std::int32_t>(*missing));
    return false;
  }
  const auto ordinal = static_cast<std::int32_t>(*troubled);
  if (roster.ended().contains(ordinal)) plan.remove.push_back({roster.find(ordinal), Why::Ended});
  return false;
}

// Scales down by one, and only while all above and below are well: one that is not may be the only
// one that holds the others' data.
bool remove_in_order(const Roster& roster, StatefulPlan& plan) {
  const auto pods = condemned(roster, 1);
  if (pods.empty()) return true;
  const StatefulPod& pod = *pods.front();
  if (pod.terminating) return false;
  const bool well = !roster.unavailable().contains(pod.ordinal);
  if (well || *roster.unavailable().begin() == pod.ordinal)
    plan.remove.push_back({&pod, Why::Scaled});
  return false;
}

void plan_in_parallel(const Roster& roster, StatefulPlan& plan) {
  plan.create = roster.free().lowest(kSetChangesMax);
  for (const std::int32_t ordinal : roster.ended())
    if (roster.is_inside(ordinal) && plan.remove.size() < kSetChangesMax)
      plan.remove.push_back({roster.find(ordinal), Why::Ended});
  for (const StatefulPod* pod : condemned(roster, kSetChangesMax))
    if (!pod->terminating && plan.remove.size() < kSetChangesMax)
      plan.remove.push_back({pod, Why::Scaled});
}

// Pods inside the range that are not of the update revision and not being deleted, highest first,
// down to `lowest`; at most `limit`.
std::vector<const StatefulPod*> outdated(const StatefulState& state, std::int64_t lowest,
                                         std::size_t limit) {
  const Roster& roster = state.roster;
  std::vector<std::int32_t> found;
  for (const auto& [revision, ordinals] : roster.revisions()) {
    if (revision == state.update_revision) continue;
    std::size_t taken = 0;
    for (auto at = std::make_reverse_iterator(ordinals.lower_bound(
             static_cast<std::int32_t>(std::min<std::int64_t>(roster.free().end(), INT32_MAX))));
         at != ordinals.rend() && *at >= lowest && taken < limit; ++at, ++taken)
      found.push_back(*at);
  }
  std::ranges::sort(found, std::greater{});
  if (found.size() > limit) found.resize(limit);
  std::vector<const StatefulPod*> out;
  out.reserve(found.size());
  for (const std::int32_t ordinal : found) out.push_back(roster.find(ordinal));
  return out;
}

// A pod that runs goes only while fewer than the maximum are unavailable altogether. One that does
// not run anyway goes without making it worse, but not before those above it are updated and well.
void plan_update(const StatefulState& state, StatefulPlan& plan) {
  const Roster& roster = state.roster;
  const auto max = static_cast<std::size_t>(state.set.unavailable_max);
  const std::int64_t lowest = roster.free().first() + state.set.partition;
  const auto pods = outdated(state, lowest, std::min(max, kSetChangesMax));
  if (pods.empty()) return;
  const Roster::Ordinals& all = roster.unavailable();
  std::vector<std::int32_t> troubled;  // inside the range, highest first
  for (const std::int32_t ordinal : std::views::reverse(all))
    if (roster.is_inside(ordinal)) troubled.push_back(ordinal);
  const std::size_t unavailable = troubled.size() + static_cast<std::size_t>(roster.free().count());
  std::size_t worse = 0;   // that become unavailable by this plan
  std::size_t passed = 0;  // of `troubled`
  for (const StatefulPod* pod : pods) {
    if (pod->ended) continue;  // goes anyway
    while (passed < troubled.size() && troubled[passed] > pod->ordinal) ++passed;
    const std::size_t above =
        passed + static_cast<std::size_t>(roster.free().count_from(pod->ordinal));
    const bool runs = !all.contains(pod->ordinal);
    if (runs ? unavailable + worse >= max : above + worse >= max) return;
    if (runs) ++worse;
    plan.remove.push_back({pod, Why::Updated});
  }
}

}  // namespace

bool is_held_back(const StatefulSetView& set, std::int32_t ordinal) {
  return !set.on_delete && ordinal < std::int64_t{set.first_ordinal} + set.partition;
}

StatefulPlan plan_stateful(const StatefulState& state) {
  StatefulPlan plan;
  if (state.set.parallel) {
    plan_in_parallel(state.roster, plan);
  } else {
    if (!plan_in_order(state.roster, plan)) return plan;
    if (!remove_in_order(state.roster, plan)) return plan;
  }
  if (!state.set.on_delete) plan_update(state, plan);
  return plan;
}

StatefulSetView::Status stateful_status(const StatefulState& state, std::int64_t generation,
                                        const StatefulRevisions& revisions) {
  const Roster& roster = state.roster;
  const auto size = [&](const std::string& revision) {
    return static_cast<std::int32_t>(roster.of_revision(revision).size());
  };
  StatefulSetView::Status out{.observed_generation = generation,
                              .replicas = roster.count(),
                              .ready = roster.ready(),
                              .available = roster.available(),
                              .current = size(revisions.current),
                              .updated = size(revisions.update),
                              .current_revision = revisions.current,
                              .update_revision = revisions.update,
                              .collisions = revisions.collisions};
  const std::int32_t wanted = state.set.replicas;
  if (!state.set.on_delete && out.updated == wanted && out.ready == wanted &&
      out.replicas == wanted) {
    out.current = out.updated;
    out.current_revision = out.update_revision;
  }
  return out;
}

}  // namespace muster::controllers
