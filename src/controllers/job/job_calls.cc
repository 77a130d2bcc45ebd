#include <utility>

#include "api/views/group_view.h"
#include "controllers/job/job_controller.h"
#include "controllers/job/job_status.h"
#include "controllers/job/pod_maker.h"

// How a plan for a Job becomes calls.
namespace muster::controllers {

void JobController::create(const std::string& key, const api::ObjectPtr& job,
                           std::vector<NewPod> pods, const api::Object* group, Time now) {
  const bool replaces_failed = memory_[key].backoff.failures() > 0;
  const std::size_t count = pods.size();
  PodBatch batch{.key = key,
                 .owner = job,
                 .count = count,
                 .start_making =
                     [job, group_name = group == nullptr ? std::string() : group->meta().name,
                      pods = std::move(pods)] {
                       return [&pods, maker = PodMaker(*job, group_name)](std::size_t index) {
                         return maker.make(pods[index]);
                       };
                     },
                 .whole = group != nullptr && group->view<api::GroupView>().gang,
                 .on_each =
                     [this, replaces_failed](const client::Outcome& outcome, Time) {
                       metrics_.pod_created(replaces_failed, outcome.has_value());
                     }};
  const auto& view = job->view<api::JobView>();
  if (is_beyond_groups(view) && !view.status.start_time)
    record(*job,
           {"Normal", "RunsUngrouped", "Reconciling",
            fmt::format("Pods run without a PodGroup: no group can have priority class {}",
                        view.priority_class)},
           now);
  create_pods(std::move(batch));
}

void JobController::remove(const std::string& key, const api::ObjectPtr& job, const JobPlan& plan) {
  for (const JobPod* pod : plan.pods.remove) {
    if (plan.keep_tracked || !pod->tracked) {
      delete_pod(key, job, pod->object);
      continue;
    }
    write_call(key, untrack_request(*pod->object),
               [this, key, job, object = pod->object](const client::Outcome& outcome, Time) {
                 if (outcome) delete_pod(key, job, object);
               });
  }
}

void JobController::write(const std::string& key, const api::ObjectPtr& job, const JobPlan& plan,
                          Time now) {
  for (const JobPod* pod : plan.tracking.untrack) untrack(key, *pod->object);
  if (!plan.tracking.changed) return;
  const Tracking& tracking = plan.tracking;
  Report said{.suspended = tracking.suspended,
              .resumed = tracking.resumed,
              .end = tracking.finished ? plan.end : std::nullopt,
              .too_many_succeeded = plan.too_many_succeeded,
              .blocked = tracking.blocked};
  write_call(key, status_request(*job, tracking.status, now),
             [this, job, said = std::move(said)](const client::Outcome& outcome, Time at) {
               if (outcome) this->report(*job, said, at);
             });
}

void JobController::report(const api::Object& job, const Report& said, Time now) {
  const auto say = [&](std::string type, std::string reason, std::string message) {
    record(job, {std::move(type), std::move(reason), "Reconciling", std::move(message)}, now);
  };
  if (said.blocked) {
    const bool missing = said.blocked->reason.ends_with("NotFound");
    say("Warning", missing ? "SchedulingDependencyNotFound" : said.blocked->reason,
        said.blocked->message);
  }
  if (said.suspended) say("Normal", "Suspended", "Job suspended");
  if (said.resumed) say("Normal", "Resumed", "Job resumed");
  if (!said.end) return;
  if (said.too_many_succeeded)
    say("Warning", "TooManySucceededPods",
        "Too many succeeded pods running after completion count reached");
  if (said.end->success)
    say("Normal", "Completed", "Job completed");
  else
    say("Warning", said.end->reason, said.end->message);
  metrics_.finished(job.view<api::JobView>(), said.end->success, said.end->reason);
}

}  // namespace muster::controllers
