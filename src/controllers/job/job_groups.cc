#include <algorithm>
#include <utility>

#include "api/reading.h"
#include "api/views/workload_view.h"
#include "controllers/job/job_controller.h"

// The Workload and the PodGroup of a Job.
namespace muster::controllers {
namespace {

using api::JsonArray;
using api::JsonObject;
using What = GroupingStep::What;

JsonObject gang_of(std::int32_t minimum) {
  return {{"schedulingPolicy", JsonObject{{"gang", JsonObject{{"minCount", minimum}}}}}};
}

// All templates of the Workload, one with another minimum. Patches replace the list as a whole.
JsonArray resized_templates(const GroupingStep& step) {
  const api::Json document = step.object->document();
  JsonArray templates = api::elements(api::part_of(document, "spec"), "podGroupTemplates");
  for (api::Json& entry : templates)
    if (api::find_string(entry, "name") == step.template_name)
      api::ensure_object(api::ensure_object(entry.as_object(), "schedulingPolicy"),
                         "gang")["minCount"] = step.minimum;
  return templates;
}

api::Request resize_request(const GroupingStep& step) {
  const api::ObjectMeta& meta = step.object->meta();
  JsonObject metadata{{"uid", meta.uid}};
  JsonObject spec;
  if (step.what == What::ResizeWorkload) {
    metadata["resourceVersion"] = std::to_string(step.object->revision().value);
    spec["podGroupTemplates"] = resized_templates(step);
  } else {
    spec = gang_of(step.minimum);
  }
  return client::patch_request(
      step.object->kind(), meta.name_space, meta.name, "", api::PatchType::Merge,
      JsonObject{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
}

}  // namespace

JobController::Keys JobController::on_workload(const Change& change) {
  for (const api::ObjectPtr& version : {change.before, change.after}) {
    if (version == nullptr) continue;
    const auto& view = version->view<api::WorkloadView>();
    const std::string& name_space = version->meta().name_space;
    if (view.owner_group == "batch" && view.owner_kind == "Job") {
      const std::string key = name_space + "/" + view.owner_name;
      showed(key, change);
      work().add(key, change.at);
    }
    for (const auto* entry : jobs_.indexed(
             workload_term(name_space, view.owner_group, view.owner_kind, view.owner_name))) {
      const std::string key = api::key_text(entry->object->meta());
      showed(key, change);
      work().add(key, change.at);
    }
  }
  return {};
}

JobController::Keys JobController::on_pod_group(const Change& change) {
  std::string key = job_of(change.newest());
  if (key.empty()) return {};
  showed(key, change);
  // What the scheduler says in its status does not concern the Job.
  const bool same = change.before != nullptr && change.after != nullptr &&
                    change.before->meta().generation == change.after->meta().generation &&
                    change.before->meta().deletion_time == change.after->meta().deletion_time;
  if (same) return {};
  return {std::move(key)};
}

GroupingStep JobController::grouping_step(const api::Object& job, const Pods& pods) const {
  const auto& view = job.view<api::JobView>();
  const api::ObjectMeta& meta = job.meta();
  if (meta.deletion_time || view.is_true("FailureTarget") || view.is_true("SuccessCriteriaMet") ||
      is_beyond_groups(view))
    return {};
  GroupingState state{
      .meta = meta,
      .job = view,
      .grouping = workload::grouping_of(
          meta, {.says_scheduling = view.says_scheduling, .pods_name_group = view.pods_name_group},
          options_)};
  if (state.grouping.role == workload::JobRole::Ungrouped) return {};
  const bool root = state.grouping.role == workload::JobRole::Root;
  const std::string term = root ? workload_term(meta.name_space, "batch", "Job", meta.name)
                                : workload_term(meta.name_space, state.grouping.delegation.owner);
  for (const auto* entry : workloads_.indexed(term)) state.workloads.push_back(entry->object);
  for (const auto* entry : pod_groups_.owned_by(meta.uid))
    if (job_of(*entry->object) == api::key_text(meta)) state.groups.push_back(entry->object);
  state.has_pods = !pods.empty();
  for (const JobPod& pod : pods) {
    state.has_ungrouped_pods |= pod.view->scheduling_group.empty();
    state.has_unended_pods |= !pod.view->is_terminal();
  }
  return next_grouping_step(state);
}

// Makes the call that the step needs. None: it needs none; what stands against it is in `step`
// then.
bool JobController::carry_out_step(const std::string& key, const api::ObjectPtr& job,
                                   GroupingStep& step, Time now) {
  switch (step.what) {
    case What::CreateWorkload:
    case What::CreateGroup: return create_object(key, job, step, now);
    case What::ResizeWorkload:
    case What::ResizeGroup: write_call(key, resize_request(step)); return true;
    case What::DeleteGroup:
      write_call(key, client::delete_request(*step.object, std::nullopt));
      return true;
    case What::Go:
    case What::Wait:
    case What::Blocked: return false;
  }
  return false;
}

bool JobController::create_object(const std::string& key, const api::ObjectPtr& job,
                                  GroupingStep& step, Time now) {
  const bool is_workload = step.what == What::CreateWorkload;
  const api::Json document = job->document();
  const auto& view = job->view<api::JobView>();
  const workload::JobGrouping grouping = workload::grouping_of(
      job->meta(),
      {.says_scheduling = view.says_scheduling, .pods_name_group = view.pods_name_group}, options_);
  Result<api::Json> made =
      is_workload ? workload::job_workload(document, options_)
      : grouping.role == workload::JobRole::Delegated
          ? workload::delegated_pod_group(document, grouping.delegation, step.object->document())
          : workload::job_pod_group(document, step.object->document());
  if (!made) {
    step = {.what = What::Blocked,
            .reason = "FailedWorkloadCompilation",
            .message = made.error().message};
    return false;
  }
  const api::Kind& kind = is_workload ? api::kinds::workload() : api::kinds::pod_group();
  write_call(key, client::create_request(kind, job->meta().name_space, *std::move(made)),
             [this, key, job, is_workload, start = now](const client::Outcome& outcome, Time at) {
               on_object_created(key, *job, is_workload, outcome, start, at);
             });
  return true;
}

void JobController::on_object_created(const std::string& key, const api::Object& job,
                                      bool is_workload, const client::Outcome& outcome, Time start,
                                      Time now) {
  const std::string what = is_workload ? "Workload" : "PodGroup";
  metrics_.object_created(what, outcome.has_value(), now - start);
  const auto memory = memory_.find(key);  // none if the Job has gone meanwhile
  if (outcome) {
    if (memory != memory_.end()) memory->second.refusal.reset();
    const auto* answer = std::get_if<api::ObjectAnswer>(&outcome->what);
    return record(
        job,
        {"Normal", what + "Created", "Reconciling",
         fmt::format("Created {} {}", what, answer == nullptr ? "" : answer->object->meta().name)},
        now);
  }
  const Error& error = outcome.error();
  record(job,
         {"Warning", "Failed" + what + "Create", "Reconciling",
          fmt::format("Error creating {}: {}", what, error.message)},
         now);
  // Trying again will not help a server that has looked at it and refused; the Job says so.
  if (memory != memory_.end() &&
      (error.reason == Reason::Invalid || error.reason == Reason::Forbidden))
    memory->second.refusal = {"SchedulingBlocked", "True", "Failed" + what + "Create",
                              error.message, 0};
  if (error.reason == Reason::NotFound) retry_once(key, now);
}

}  // namespace muster::controllers
