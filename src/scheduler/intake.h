#pragma once

#include <string>

#include "client/component.h"
#include "scheduler/commit.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/report.h"

namespace muster::scheduler {

// Feeds the model from the watch, and passes on what its changes mean: the queue learns who waits
// and whom an event could wake, the binders what is confirmed or void, the reports what is
// outdated.
class Intake final : public ModelListener {
 public:
  Intake(ClusterModel& model, SchedulingQueue& queue, Commit& commit, Report& report);
  ~Intake() override;
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  void apply(const client::Event& event, Time now);

  void on_pod(const PodChange& change) override;
  void on_node(const NodeChange& change) override;
  void on_group(const GroupChange& change) override;
  void on_namespace(const NamespaceChange& change) override;
  void on_workload(const TreeFaults::Anchors& judged) override;
  void on_volume(const VolumeChange& change) override;

 private:
  void pod_waits(const PodChange& change);
  void waiting_pod_terminates(const PodChange& change);
  void pod_assigned(const PodChange& change);
  void pod_finished(const PodChange& change);
  void pod_gone(const PodChange& change);
  void leave_node(const api::ObjectPtr& pod);
  void stop_waiting(const PodChange& change);
  void release_nomination(const api::ObjectPtr& pod);

  ClusterModel& model_;
  SchedulingQueue& queue_;
  Commit& commit_;
  Report& report_;
  Time now_;  // of the event that is being applied
};

}  // namespace muster::scheduler
