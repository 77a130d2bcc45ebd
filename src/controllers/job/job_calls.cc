#include <algorithm>
#include <utility>

#include "api/views/group_view.h"
#include "controllers/job/job_controller.h"
#include "controllers/job/job_status.h"
#include "controllers/job/pod_maker.h"

// How a plan for a Job becomes calls.
namespace muster::controllers {

void JobController::create(const std::string& key, const api::ObjectPtr& job,
                           const std::vector<NewPod>& pods, const api::Object* group, Time now) {
  const auto batch = std::make_shared<Batch>();
  batch->key = key;
  batch->job = job;
  batch->gang = group != nullptr && group->view<api::GroupView>().gang;
  const PodMaker maker(*job, group == nullptr ? std::string_view() : group->meta().name);
  batch->pods.reserve(pods.size());
  for (const NewPod& pod : pods) batch->pods.push_back(maker.make(pod));
  batch->replaces_failed = memory_[key].backoff.failures() > 0;
  const auto& view = job->view<api::JobView>();
  if (is_beyond_groups(view) && !view.status.start_time)
    record(*job,
           {"Normal", "RunsUngrouped", "Reconciling",
            fmt::format("Pods run without a PodGroup: no group can have priority class {}",
                        view.priority_class)},
           now);
  send_batch(batch);
}

void JobController::send_batch(const BatchPtr& batch) {
  const std::size_t end = std::min(batch->pods.size(), batch->next + batch->size);
  batch->under_way = end - batch->next;
  // Outcomes may arrive before the last call is made.
  for (std::size_t at = std::exchange(batch->next, end); at < end; ++at)
    write_call(batch->key,
               client::create_request(api::kinds::pod(), batch->job->meta().name_space,
                                      std::move(batch->pods[at])),
               [this, batch](const client::Outcome& outcome, Time now) {
                 on_created(batch, outcome, now);
               });
}

void JobController::on_created(const BatchPtr& batch, const client::Outcome& outcome, Time now) {
  metrics_.pod_created(batch->replaces_failed, outcome.has_value());
  if (outcome) {
    if (const auto* answer = std::get_if<api::ObjectAnswer>(&outcome->what))
      record(*batch->job,
             {"Normal", "SuccessfulCreate", "Reconciling",
              "Created pod: " + answer->object->meta().name},
             now);
  } else if (!is_name_space_ending(outcome.error())) {
    batch->failed = true;
    record(*batch->job,
           {"Warning", "FailedCreate", "Reconciling", "Error creating: " + outcome.error().message},
           now);
  }
  if (--batch->under_way > 0) return;
  if (batch->failed) return retry_once(batch->key, now);
  if (batch->next == batch->pods.size()) return;
  batch->size = batch->gang ? batch->pods.size() : batch->size * 2;
  send_batch(batch);
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

void JobController::delete_pod(const std::string& key, const api::ObjectPtr& job,
                               const api::ObjectPtr& pod) {
  write_call(
      key, client::delete_request(*pod, std::nullopt),
      [this, job, pod](const client::Outcome& outcome, Time now) {
        if (outcome)
          record(*job,
                 {"Normal", "SuccessfulDelete", "Reconciling", "Deleted pod: " + pod->meta().name},
                 now);
        else if (outcome.error().reason != Reason::NotFound)
          record(*job,
                 {"Warning", "FailedDelete", "Reconciling",
                  "Error deleting: " + outcome.error().message},
                 now);
      });
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
