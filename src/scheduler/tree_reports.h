#pragma once

#include "client/kit/event_recorder.h"
#include "client/kit/status_writer.h"
#include "scheduler/queue/scheduling_queue.h"

namespace muster::scheduler {

// Tells users of trees that are wrong in themselves: every group gets a condition that names the
// culprit, pods that wait get an event. A group that was scheduled once keeps its condition and
// gets an event instead. When the tree is right again the condition goes, at once. A group that
// would be disrupted by itself below one that is disrupted as a whole is right, but told so.
class TreeReports {
 public:
  TreeReports(SchedulingQueue& queue, client::StatusWriter& statuses,
              client::EventRecorder& recorder)
      : queue_(queue), statuses_(statuses), recorder_(recorder) {}

  // Says what there is to say since the last call.
  void run(Time now);

 private:
  void report(const GroupSpec& group, Time now);
  void warn_of_nesting(const GroupSpec& group, Time now);
  void tell(const api::Object& about, std::string_view reason, const std::string& message,
            Time now);

  SchedulingQueue& queue_;
  client::StatusWriter& statuses_;
  client::EventRecorder& recorder_;
};

}  // namespace muster::scheduler
