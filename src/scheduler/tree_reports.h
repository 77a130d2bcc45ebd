#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/kit/event_recorder.h"
#include "client/kit/status_writer.h"
#include "scheduler/groups/cluster_model.h"

namespace muster::scheduler {

// Reports trees that are invalid: every group gets a condition that names the culprit, pods that
// wait get an event. A group that was scheduled once keeps its condition and gets an event instead.
// The condition is removed as soon as the tree is valid again. A group that would be disrupted by
// itself below one that is disrupted as a whole is valid, but gets a warning.
class TreeReports {
 public:
  TreeReports(ClusterModel& model, client::StatusWriter& statuses, client::EventRecorder& recorder)
      : model_(model), statuses_(statuses), recorder_(recorder) {}

  // A pod joined a tree that is invalid.
  void joined_invalid(const api::ObjectPtr& pod) { joined_invalid_.push_back(pod); }
  // Reports what changed since the last call.
  void run(Time now);

 private:
  void report(const GroupSpec& group, Time now);
  void warn_of_nesting(const GroupSpec& group, Time now);
  void warn(const api::Object& about, std::string_view reason, const std::string& message,
            Time now);

  ClusterModel& model_;
  client::StatusWriter& statuses_;
  client::EventRecorder& recorder_;
  std::vector<api::ObjectPtr> joined_invalid_;
};

}  // namespace muster::scheduler
