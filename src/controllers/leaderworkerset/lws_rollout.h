#pragma once

#include <cstdint>

#include "api/views/leader_worker_set_view.h"
#include "controllers/leaderworkerset/lws_table.h"

namespace muster::controllers {

// How many leaders the leader StatefulSet has, and from which index on they are made from the
// newest revision.
struct LwsRollout {
  std::int64_t replicas = 0;
  std::int64_t partition = 0;
  friend bool operator==(const LwsRollout&, const LwsRollout&) = default;
};

struct LwsRolloutState {
  const api::LeaderWorkerSetView& set;
  const LwsTable& table;      // arranged as the leader set is
  LwsRollout now;             // of the leader set
  bool new_revision = false;  // the leader set is of an older revision
  bool resized = false;       // the set's replicas changed since the leader set was written
};
// The next step. The partition only goes down in a rollout; what is already unavailable is counted,
// so at most maxUnavailable replicas are, and surplus replicas (maxSurge) leave as the others
// become ready.
LwsRollout next_rollout(const LwsRolloutState& state);

}  // namespace muster::controllers
