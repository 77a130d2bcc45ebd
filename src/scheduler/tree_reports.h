#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/kit/event_recorder.h"
#include "client/kit/status_writer.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/groups/namespace_turns.h"

namespace muster::scheduler {

// Reports trees that are invalid: every group gets a condition that names the culprit, pods that
// wait get an event. A group that was scheduled once keeps its condition and gets an event instead.
// The condition is removed as soon as the tree is valid again. A group that would be disrupted by
// itself below one that is disrupted as a whole is valid, but gets a warning.
//
// A change at the top of a large tree may concern a hundred thousand groups. They are looked at,
// and then reported, as fast as their namespace may. A group's report says what is true when its
// turn comes, whatever changed meanwhile, and is skipped if it says nothing new.
class TreeReports {
 public:
  TreeReports(ClusterModel& model, client::StatusWriter& statuses, client::EventRecorder& recorder);

  // A pod joined a tree that is invalid.
  void joined_invalid(const api::ObjectPtr& pod) { joined_invalid_.push_back(pod); }
  // Looks at groups that are left over. Returns the trees that may be tried again, or not any more.
  TreeFaults::Anchors judge(Time now);
  // Reports what changed since the last call.
  void run(Time now);
  // When there is more to do of either.
  std::optional<Time> next_deadline() const;

 private:
  std::size_t report(const GroupSpec& group, Time now);
  void warn_of_nesting(const GroupSpec& group, Time now);
  void warn(const api::Object& about, std::string_view reason, const std::string& message,
            Time now);

  ClusterModel& model_;
  client::StatusWriter& statuses_;
  client::EventRecorder& recorder_;
  std::vector<api::ObjectPtr> joined_invalid_;
  NamespaceTurns looks_{{}};
  NamespaceTurns words_;
  std::string looked_last_;  // the namespaces that had their turns
  std::string spoke_last_;
};

}  // namespace muster::scheduler
