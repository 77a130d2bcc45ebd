#include "controllers/leaderworkerset/lws_rollout.h"

#include <algorithm>

namespace muster::controllers {
namespace {

struct Limits {
  std::int64_t surge;
  std::int64_t unavailable;
};

Limits limits_of(const api::LeaderWorkerSetView& set) {
  const std::int64_t replicas = set.replicas;
  return {.surge = std::min(set.surge_max.of_rounded_up(replicas), replicas),
          .unavailable = set.unavailable_max.of_rounded_down(replicas)};
}

std::int64_t wanted_replicas(const LwsRolloutState& state, const Limits& limits,
                             std::int64_t unfinished) {
  if (unfinished > limits.surge) return state.set.replicas + limits.surge;
  return state.set.replicas + std::max<std::int64_t>(0, unfinished - limits.unavailable);
}

std::int64_t next_partition(const LwsRolloutState& state, const Limits& limits) {
  const std::int64_t count = state.now.replicas;
  // Replicas above those asked for stand in for as many that are taken down.
  const std::int64_t step =
      limits.unavailable + std::max<std::int64_t>(0, count - state.set.replicas);
  std::int64_t partition = std::max<std::int64_t>(0, count - state.table.finished_tail() - step);
  partition += state.table.unready_between(0, partition);
  partition = std::min(partition, count);
  const std::int64_t top = std::min(partition, count - 1);
  // Replicas that do not serve, or are new already, can be updated for nothing.
  if (const std::int64_t lowest = state.table.lowest_free_to_update(top); lowest <= top)
    partition = lowest;
  return std::min(partition, state.now.partition);
}

}  // namespace

LwsRollout next_rollout(const LwsRolloutState& state) {
  const Limits limits = limits_of(state.set);
  const std::int64_t wanted = state.set.replicas;
  const std::int64_t lowest = std::min<std::int64_t>(state.set.partition, wanted);
  const auto bounded = [&](std::int64_t replicas, std::int64_t partition) {
    return LwsRollout{.replicas = replicas,
                      .partition = std::max<std::int64_t>(partition, state.set.partition)};
  };
  if (state.new_revision)
    return bounded(wanted_replicas(state, limits, wanted - lowest),
                   std::min(wanted, state.now.replicas));
  const bool updating = state.now.partition > state.set.partition ||
                        state.table.has_outdated_between(lowest, wanted) ||
                        (!state.resized && state.now.replicas > wanted);
  if (!updating) return bounded(wanted, 0);
  // Beyond the surge the number does not matter.
  const std::int64_t unfinished = state.table.unfinished_between(lowest, wanted, limits.surge + 1);
  const std::int64_t replicas = wanted_replicas(state, limits, unfinished);
  if (state.resized) return bounded(replicas, std::min(state.now.partition, wanted + limits.surge));
  return bounded(replicas, next_partition(state, limits));
}

}  // namespace muster::controllers
