#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/views/condition.h"
#include "controllers/common/owners_workload.h"
#include "controllers/common/pod_controller.h"
#include "controllers/job/job_grouping.h"
#include "controllers/job/job_metrics.h"
#include "controllers/job/job_plan.h"

namespace muster::controllers {

// Runs Jobs: makes their pods, counts how they end, and says when a Job is complete or has failed.
//
//   feeds ──▶ mirrors ──▶ look at a Job: JobState ──▶ plan_job() ──▶ calls
//               ▲                                                     │
//               └──────────── seen again (OwnWrites) ◀────────────────┘
//
// Every look starts from what is stored, so it does not matter when the controller was started. A
// look either changes pods or writes the status and takes finalizers off; if there is always
// something to do for both, they take turns.
class JobController final : public PodController {
 public:
  JobController(workload::JobOptions options, client::ComponentContext context);

 private:
  // What is remembered of a Job between looks; everything else is in the API.
  struct Memory {
    PodBackoff backoff;
    bool changed_pods = false;  // in the last look
    // Why the server refuses the Job's Workload or PodGroup.
    std::optional<api::Condition> refusal;
  };
  // Which events to record once the status is written.
  struct Report {
    bool suspended = false;
    bool resumed = false;
    std::optional<JobEnd> end;
    bool too_many_succeeded = false;
    std::optional<api::Condition> blocked;
  };
  using Pods = std::vector<JobPod>;

  JobController(JobMetrics metrics, workload::JobOptions options, client::ComponentContext context);
  static std::vector<Watch> watches(JobController& self);
  Keys on_job(const Change& change);
  Keys on_pod(const Change& change);
  Keys on_workload(const Change& change);
  Keys on_pod_group(const Change& change);
  // The key of the Job that controls the object; empty if none does.
  std::string job_of(const api::Object& object) const;
  void add_adopters(const api::Object& pod, Time now);
  api::ObjectPtr find_job(std::string_view uid) const;

  void reconcile(const std::string& key, Time now) override;
  void look_at(const std::string& key, const api::ObjectPtr& job, Time now);
  void look_at_orphan(const std::string& key);
  void look_at_pods_of_gone(const std::string& key, Time now);
  // Adopts pods that match the selector and belong to nobody, releases those that no longer match.
  // True if calls were made.
  bool claim(const std::string& key, const api::Object& job);
  void adopt(const std::string& key, const api::Object& job, const api::Object& pod);
  void release(const std::string& key, const api::Object& job, const api::Object& pod);
  Pods pods_of(const api::Object& job) const;

  GroupingStep grouping_step(const api::Object& job, const Pods& pods) const;
  bool carry_out_step(const std::string& key, const api::ObjectPtr& job, GroupingStep& step,
                      Time now);
  bool create_object(const std::string& key, const api::ObjectPtr& job, GroupingStep& step,
                     Time now);
  void on_object_created(const std::string& key, const api::Object& job, bool is_workload,
                         const client::Outcome& outcome, Time start, Time now);

  // `group`: that of the new pods; null: none.
  void create(const std::string& key, const api::ObjectPtr& job, std::vector<NewPod> pods,
              const api::Object* group, Time now);
  void remove(const std::string& key, const api::ObjectPtr& job, const JobPlan& plan);
  void untrack(const std::string& key, const api::Object& pod);
  void write(const std::string& key, const api::ObjectPtr& job, const JobPlan& plan, Time now);
  void report(const api::Object& job, const Report& report, Time now);

  const workload::JobOptions options_;
  client::Mirror jobs_;
  client::Mirror pods_;
  client::Mirror workloads_;
  client::Mirror pod_groups_;
  std::map<std::string, Memory, std::less<>> memory_;  // by key; of Jobs that have not finished
  // Jobs that went, by uid: the last of their pods that was made due; null: none was.
  std::map<std::string, api::ObjectPtr, std::less<>> orphaned_;
  JobMetrics metrics_;
};

// Takes the finalizer off a pod.
api::Request untrack_request(const api::Object& pod);

}  // namespace muster::controllers
