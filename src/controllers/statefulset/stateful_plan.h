#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/views/stateful_set_view.h"
#include "controllers/statefulset/roster.h"

namespace muster::controllers {

// How many pods one look makes or deletes.
inline constexpr std::size_t kSetChangesMax = 500;

// The result of a look at a StatefulSet. A value: the controller turns it into calls.
struct StatefulPlan {
  enum class Why : std::uint8_t { Ended, Scaled, Updated };
  struct Removal {
    const StatefulPod* pod;
    Why why;
  };
  std::vector<std::int32_t> create;  // ordinals
  std::vector<Removal> remove;
};

struct StatefulState {
  const api::StatefulSetView& set;
  const Roster& roster;  // arranged as the set says, advanced to now
  const std::string& update_revision;
};
StatefulPlan plan_stateful(const StatefulState& state);

// Whether a new pod of this ordinal is made from the current revision instead of the update's.
bool is_held_back(const api::StatefulSetView& set, std::int32_t ordinal);

// What the status should say. When a rolling update is finished, the update revision becomes the
// current one.
struct StatefulRevisions {
  std::string current;
  std::string update;
  std::int32_t collisions = 0;
};
api::StatefulSetView::Status stateful_status(const StatefulState& state, std::int64_t generation,
                                             const StatefulRevisions& revisions);

}  // namespace muster::controllers
