#include "controllers/job/job_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/views/job_view.h"
#include "api/views/workload_view.h"
#include "base/check.h"
#include "controllers/job/job_status.h"
#include "controllers/job/pod_maker.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kOwnName = "kubernetes.io/job-controller";  // in spec.managedBy
// What pods do is collected for a moment, so that a Job of many costs few looks.
constexpr Duration kBatchPeriod = std::chrono::seconds{1};
// How many pods are adopted, or let go of, in one look.
constexpr std::size_t kPodsMax = 500;
constexpr std::string_view kGonePrefix = "job:";    // of keys that name a Job that is gone, by uid
constexpr std::string_view kOrphanPrefix = "pod:";  // of keys that name a pod without a Job

const api::Kind& job_kind() {
  static const api::Kind* const kKind = api::find_kind("batch", "Job");
  CHECK(kKind != nullptr);
  return *kKind;
}

bool is_job(const api::OwnerReference& owner) {
  return owner.kind == "Job" && owner.api_version.starts_with("batch/");
}

std::string uid_term(std::string_view uid) { return "uid/" + std::string(uid); }

bool is_ours(const api::JobView& job) {
  return job.managed_by.empty() || job.managed_by == kOwnName;
}

// Jobs are found by uid; those that select pods in their own way also by a label that these must
// have, as long as they take any; those of an owner by the owner.
void index_job(const api::Object& job, std::vector<std::string>& out) {
  out.push_back(uid_term(job.meta().uid));
  const auto& view = job.view<api::JobView>();
  if (view.manual_selector && view.selector && is_ours(view) && !view.is_finished() &&
      !job.meta().deletion_time)
    index_selector(job.meta().name_space, *view.selector, out);
  if (const api::OwnerReference* owner = controller_of(job))
    out.push_back(workload_term(job.meta().name_space, *owner));
}

std::string orphan_key(const api::Object& pod) {
  return std::string(kOrphanPrefix) + api::key_text(pod.meta());
}

}  // namespace

api::Request untrack_request(const api::Object& pod) {
  return patch_meta_request(pod,
                            {{"$deleteFromPrimitiveList/finalizers", JsonArray{kJobTracking}}});
}

JobController::JobController(workload::JobOptions options, client::ComponentContext context)
    : JobController{JobMetrics(context), options, std::move(context)} {}

JobController::JobController(JobMetrics metrics, workload::JobOptions options,
                             client::ComponentContext context)
    : PodController("job", std::move(context), watches(*this)),
      options_(options),
      jobs_({.own = index_job}),
      pods_({.owners = true, .own = index_free}),
      workloads_({.own = index_by_root}),
      pod_groups_({.owners = true}),
      metrics_(std::move(metrics)) {}

std::vector<JobController::Watch> JobController::watches(JobController& self) {
  return {{.kind = &job_kind(),
           .mirror = &self.jobs_,
           .keys_of = [&self](const Change& change) { return self.on_job(change); }},
          {.kind = &api::kinds::pod(),
           .mirror = &self.pods_,
           .keys_of = [&self](const Change& change) { return self.on_pod(change); }},
          {.kind = &api::kinds::workload(),
           .mirror = &self.workloads_,
           .keys_of = [&self](const Change& change) { return self.on_workload(change); }},
          {.kind = &api::kinds::pod_group(),
           .mirror = &self.pod_groups_,
           .keys_of = [&self](const Change& change) { return self.on_pod_group(change); }}};
}

api::ObjectPtr JobController::find_job(std::string_view uid) const {
  const auto& found = jobs_.indexed(uid_term(uid));
  return found.empty() ? nullptr : (*found.begin())->object;
}

JobController::Keys JobController::on_job(const Change& change) {
  std::string key = api::key_text(change.newest().meta());
  showed(key, change);
  if (change.after == nullptr) {
    const api::ObjectMeta& gone = change.before->meta();
    if (pods_.owned_by(gone.uid).empty()) return {std::move(key)};
    orphaned_.insert_or_assign(gone.uid, nullptr);
    return {std::move(key), fmt::format("{}{}/{}", kGonePrefix, gone.name_space, gone.uid)};
  }
  const bool only_status =
      change.before != nullptr &&
      change.before->meta().generation == change.after->meta().generation &&
      change.before->meta().deletion_time == change.after->meta().deletion_time;
  if (!only_status) return {std::move(key)};
  work().add_at(change.at + kBatchPeriod, key);
  return {};
}

std::string JobController::job_of(const api::Object& object) const {
  const api::OwnerReference* owner = controller_of(object);
  if (owner == nullptr || !is_job(*owner)) return {};
  const api::ObjectPtr job = jobs_.find(object.meta().name_space, owner->name);
  return job != nullptr && job->meta().uid == owner->uid ? api::key_text(job->meta()) : "";
}

// Jobs that might want a pod that belongs to nobody.
void JobController::add_adopters(const api::Object& pod, Time now) {
  for (const api::ObjectPtr& job : find_selecting(jobs_, pod))
    if (job->view<api::JobView>().selector->matches(pod.meta().labels))
      work().add(api::key_text(job->meta()), now);
}

JobController::Keys JobController::on_pod(const Change& change) {
  for (const api::ObjectPtr& version : {change.before, change.after}) {
    if (version == nullptr) continue;
    const std::string key = job_of(*version);
    if (key.empty()) continue;
    showed(key, change);
    work().add_at(change.at + kBatchPeriod, key);
  }
  if (change.after == nullptr) return {};
  const api::Object& pod = *change.after;
  if (controller_of(pod) == nullptr && !pod.meta().deletion_time)
    if (const std::string* uid = api::lookup(pod.meta().labels, kControllerUid))
      if (const api::ObjectPtr job = find_job(*uid))
        work().add(api::key_text(job->meta()), change.at);
  for (const std::string& key : free_key(jobs_, change.after)) work().add(key, change.at);
  // Whether its Job is really gone is known once all Jobs are.
  if (is_tracked(pod) && job_of(pod).empty()) return {orphan_key(pod)};
  return {};
}

JobController::Pods JobController::pods_of(const api::Object& job) const {
  Pods out;
  for (const auto* entry : pods_.owned_by(job.meta().uid)) {
    const api::OwnerReference* owner = controller_of(*entry->object);
    if (owner != nullptr && owner->uid == job.meta().uid) out.emplace_back(entry->object);
  }
  return out;
}

void JobController::reconcile(const std::string& key, Time now) {
  if (is_free_key(key)) {
    const api::ObjectPtr pod = find_free(pods_, key);
    if (!free_key(jobs_, pod).empty()) add_adopters(*pod, now);
    return;
  }
  if (key.starts_with(kGonePrefix)) return look_at_pods_of_gone(key, now);
  begin_look(key);
  if (key.starts_with(kOrphanPrefix)) return look_at_orphan(key);
  const auto [name_space, name] = client::split_key(key);
  const api::ObjectPtr job = jobs_.find(name_space, name);
  if (job == nullptr || !is_ours(job->view<api::JobView>())) {
    memory_.erase(key);
    forget_writes(key);
    return;
  }
  if (waits(key, now)) return;
  if (!job->view<api::JobView>().is_finished()) return look_at(key, job, now);
  memory_.erase(key);
  std::size_t untracked = 0;
  for (const JobPod& pod : pods_of(*job)) {
    if (!pod.tracked) continue;
    if (++untracked > kPodsMax) return;  // the next look goes on, when these have been seen
    untrack(key, *pod.object);
  }
}

void JobController::look_at(const std::string& key, const api::ObjectPtr& job, Time now) {
  const auto start = metrics_.stopwatch();
  const auto& view = job->view<api::JobView>();
  if (!view.completion_mode.empty() && !view.is_indexed() && view.completion_mode != "NonIndexed")
    return record(*job,
                  {"Warning", "UnknownCompletionMode", "Reconciling",
                   "Skipped Job sync because completion mode is unknown"},
                  now);
  if (claim(key, *job)) return;
  const Pods pods = pods_of(*job);
  Memory& memory = memory_[key];
  GroupingStep step = grouping_step(*job, pods);
  // What the server refused is said before it is tried again.
  const bool says_refusal = memory.refusal && !view.is_true("SchedulingBlocked");
  const bool stepped = !says_refusal && carry_out_step(key, job, step, now);
  // A Job that has nothing yet waits for its Workload and its group before anything else.
  if (stepped && pods.empty() && step.what != GroupingStep::What::DeleteGroup) return;
  JobState state{.job = view,
                 .deleting = job->meta().deletion_time.has_value(),
                 .pods = pods,
                 .now = now,
                 .may_create = step.what == GroupingStep::What::Go};
  if (step.what == GroupingStep::What::Blocked)
    state.blocked = {"SchedulingBlocked", "True", step.reason, step.message, 0};
  else if (step.what != GroupingStep::What::Go)
    state.blocked = memory.refusal;
  const JobPlan plan = plan_job(state, memory.backoff);
  if (plan.again) work().add_at(*plan.again, key);

  const bool writes = plan.tracking.changed || !plan.tracking.untrack.empty();
  const bool changes_pods = plan.changes_pods() && !(memory.changed_pods && writes);
  memory.changed_pods = changes_pods;
  std::string_view action = "reconciling";
  if (!changes_pods) {
    if (writes) action = "tracking";
    write(key, job, plan, now);
  } else if (!plan.pods.remove.empty()) {
    action = "pods_deleted";
    remove(key, job, plan);
  } else {
    action = "pods_created";
    create(key, job, plan.pods.create, step.group.get(), now);
  }
  metrics_.looked(view, action, metrics_.stopwatch() - start);
}

// Some of the pods that it had are to be looked at, then it is others' turn.
void JobController::look_at_pods_of_gone(const std::string& key, Time now) {
  const auto at = orphaned_.find(client::split_key(key).name);
  if (at == orphaned_.end()) return;
  const client::Mirror::Entries& pods = pods_.owned_by(at->first);
  const client::Mirror::Entry last{at->second};
  auto next = at->second == nullptr ? pods.begin() : pods.upper_bound(&last);
  for (std::size_t i = 0; i < kPodsMax && next != pods.end(); ++i, ++next) {
    at->second = (*next)->object;
    if (is_tracked(*at->second)) work().add(orphan_key(*at->second), now);
  }
  if (next != pods.end()) return work().add(key, now);
  orphaned_.erase(at);
}

// A pod with our finalizer whose Job is gone: nobody else would let it go.
void JobController::look_at_orphan(const std::string& key) {
  const auto [name_space, name] =
      client::split_key(std::string_view(key).substr(kOrphanPrefix.size()));
  const api::ObjectPtr pod = pods_.find(name_space, name);
  if (pod == nullptr || !is_tracked(*pod)) return;
  const api::OwnerReference* owner = controller_of(*pod);
  if (owner != nullptr && (!is_job(*owner) || !job_of(*pod).empty())) return;
  if (owner == nullptr)
    if (const std::string* uid = api::lookup(pod->meta().labels, kControllerUid);
        uid != nullptr && find_job(*uid) != nullptr)
      return;
  untrack(key, *pod);
}

bool JobController::claim(const std::string& key, const api::Object& job) {
  const auto& view = job.view<api::JobView>();
  if (!view.selector) return false;
  std::size_t calls = 0;
  for (const JobPod& pod : pods_of(job)) {
    if (view.selector->matches(pod.object->meta().labels)) continue;
    if (++calls > kPodsMax) return true;
    release(key, job, *pod.object);
  }
  for (const api::ObjectPtr& pod : find_adoptable(pods_, job, *view.selector)) {
    if (++calls > kPodsMax) return true;
    adopt(key, job, *pod);
  }
  return calls > 0;
}

void JobController::adopt(const std::string& key, const api::Object& job, const api::Object& pod) {
  write_call(key, patch_meta_request(pod, {{"ownerReferences", JsonArray{owner_reference(job)}},
                                           {"finalizers", JsonArray{kJobTracking}}}));
}

void JobController::release(const std::string& key, const api::Object& job,
                            const api::Object& pod) {
  write_call(key, patch_meta_request(
                      pod, {{"ownerReferences",
                             JsonArray{JsonObject{{"$patch", "delete"}, {"uid", job.meta().uid}}}},
                            {"$deleteFromPrimitiveList/finalizers", JsonArray{kJobTracking}}}));
}

void JobController::untrack(const std::string& key, const api::Object& pod) {
  write_call(key, untrack_request(pod));
}

}  // namespace muster::controllers
