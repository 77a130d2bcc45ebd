#include "controllers/jobset/set_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "api/reading.h"
#include "api/views/group_view.h"
#include "api/views/workload_view.h"
#include "controllers/common/owners.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonObject;
using api::ObjectPtr;
using workload::JobSetMapping;

api::Condition blocked(std::string_view reason, std::string message) {
  return {"SchedulingBlocked", "True", std::string(reason), std::move(message), 0};
}

bool has_pods(const ChildJob& job) {
  return job.view->status.active > 0 || job.view->status.terminating.value_or(0) > 0;
}

// A Job that rests has no pods, and will have none before it is resumed: its controller says that
// it has seen that it should rest, or has not begun.
bool rests(const ChildJob& job) {
  return job.view->suspend && !has_pods(job) &&
         (job.view->is_true("Suspended") || !job.view->status.start_time);
}

// No Job of the set has pods, or will have any before it is resumed.
bool is_idle(const ChildJobs& jobs) {
  return jobs.previous.empty() && std::ranges::all_of(jobs.active, rests);
}

// Pods from before a rest: those that come must not join them.
bool has_leaving_pods(const ChildJobs& jobs) {
  return std::ranges::any_of(jobs.active,
                             [](const ChildJob& job) { return job.view->suspend && !rests(job); });
}

// Those that no other one is below.
void remove_leaves(const std::vector<ObjectPtr>& groups, const std::set<std::string_view>& parents,
                   GroupsStep& step) {
  for (const ObjectPtr& group : groups)
    if (!group->meta().deletion_time && step.remove.size() < kGroupChangesMax &&
        (group->kind().kind == "PodGroup" || !parents.contains(group->meta().name)))
      step.remove.push_back(group);
}

std::set<std::string_view> parents_of(const std::vector<ObjectPtr>& groups) {
  std::set<std::string_view> out;
  for (const ObjectPtr& group : groups) out.insert(group->view<api::GroupView>().parent);
  return out;
}

// Takes everything away, from the leaves to the Workload.
void dissolve(const GroupsState& state, const ObjectPtr& workload, GroupsStep& step) {
  remove_leaves(state.groups, parents_of(state.groups), step);
  if (state.groups.empty() && workload != nullptr && !workload->meta().deletion_time &&
      is_controlled_by(*workload, state.uid))
    step.remove.push_back(workload);
}

class Builder {
 public:
  Builder(const GroupsState& state, const ObjectPtr& workload, GroupsStep& step)
      : state_(state),
        workload_(*workload),
        wanted_(state.compiled.object->view<api::WorkloadView>()),
        step_(step) {}

  void run() {
    for (const ObjectPtr& group : state_.groups) present_.emplace(key(*group), group);
    step_.ready = true;
    resize_workload();
    const std::int32_t attempt = state_.set.status.restarts;
    state_.mapping.visit_groups(
        attempt, [&](JobSetMapping::Group group) { return look_at(std::move(group)); });
    // Groups of the attempt before go when their Jobs have.
    const JobSetMapping::GroupNames wanted = state_.mapping.group_names(attempt);
    std::vector<ObjectPtr> stale;
    for (const ObjectPtr& group : state_.groups)
      if (const auto& [composite, name] = key(*group); !wanted.contains(name, composite))
        stale.push_back(group);
    if (state_.jobs.previous.empty()) remove_leaves(stale, parents_of(state_.groups), step_);
    if (has_leaving_pods(state_.jobs)) step_.ready = false;
  }

 private:
  using Key = std::pair<bool, std::string>;  // composite, name

  static Key key(const api::Object& group) {
    return {group.kind().kind == "CompositePodGroup", group.meta().name};
  }

  const api::WorkloadView::Template* template_of(std::string_view name) const {
    return wanted_.find(name);
  }

  void resize_workload() {
    const auto& stored = workload_.view<api::WorkloadView>();
    for (const auto& wanted : wanted_.templates) {
      const auto* now = stored.find(wanted.name);
      if (now == nullptr || !now->gang || !wanted.gang || now->minimum == wanted.minimum) continue;
      step_.resize.push_back(
          {state_.find(api::kinds::workload(), workload_.meta().name),
           JsonObject{{"metadata",
                       JsonObject{{"uid", workload_.meta().uid},
                                  {"resourceVersion", std::to_string(workload_.revision().value)}}},
                      {"spec", workload::resized_templates(workload_.document(),
                                                           *state_.compiled.document)}}});
      return;
    }
  }

  // Goes on while it meets groups that are there, or can be made.
  JobSetMapping::Next look_at(JobSetMapping::Group group) {
    using enum JobSetMapping::Next;
    const auto found = present_.find({group.composite, group.name});
    if (found == present_.end()) {
      step_.ready = false;
      if (const ObjectPtr other = state_.find(*group.kind, group.name);
          other != nullptr && !is_controlled_by(*other, state_.uid)) {
        step_.blocked = blocked("SchedulingObjectExists",
                                fmt::format("{} {} exists and does not belong to the JobSet",
                                            group.kind->kind, group.name));
        return Group;
      }
      if (step_.create.size() == kGroupChangesMax) return End;
      const auto parent = present_.find({true, group.parent});
      const bool under = parent != present_.end() && !parent->second->meta().deletion_time;
      if (!group.parent.empty() && !under) return Template;  // nor do others have theirs
      step_.create.push_back(std::move(group));
      return Group;
    }
    if (found->second->meta().deletion_time)
      step_.ready = false;
    else
      resize(found->second);
    return Group;
  }

  void resize(const ObjectPtr& group) {
    const auto& view = group->view<api::GroupView>();
    const auto* from = template_of(view.template_name);
    if (from == nullptr || from->composite || !from->gang || !view.gang ||
        from->minimum == view.minimum || step_.resize.size() > kGroupChangesMax)
      return;
    const JsonObject gang{{"gang", JsonObject{{"minCount", from->minimum}}}};
    step_.resize.push_back({group, JsonObject{{"metadata", JsonObject{{"uid", group->meta().uid}}},
                                              {"spec", JsonObject{{"schedulingPolicy", gang}}}}});
  }

  const GroupsState& state_;
  const api::Object& workload_;
  const api::WorkloadView& wanted_;
  GroupsStep& step_;
  std::map<Key, ObjectPtr> present_;
};

}  // namespace

CompiledWorkload::CompiledWorkload(const JobSetMapping& mapping)
    : document(mapping.grouped() ? mapping.workload() : Result<Json>(nullptr)) {
  if (document && document->is_object())
    object = api::Object::make(api::kinds::workload(), *document);
}

GroupsStep next_groups_step(const GroupsState& state) {
  GroupsStep step;
  const ObjectPtr workload = state.find(api::kinds::workload(), state.mapping.workload_name());
  if (state.set.suspend || !state.mapping.grouped()) {
    step.ready = !state.set.suspend && state.groups.empty();
    if (is_idle(state.jobs)) dissolve(state, workload, step);
    return step;
  }
  if (!state.mapping.may_group()) {
    step.blocked = blocked("APINotAvailable",
                           "Workloads and PodGroups are not served, or feature gate "
                           "GenericWorkload is off");
    return step;
  }
  const Result<Json>& compiled = state.compiled.document;
  if (!compiled) {
    step.blocked = blocked("FailedWorkloadCompilation", compiled.error().message);
    return step;
  }
  if (workload == nullptr) {
    step.workload = *compiled;
    return step;
  }
  if (!is_controlled_by(*workload, state.uid)) {
    step.blocked = blocked(
        "SchedulingObjectExists",
        fmt::format("Workload {} exists and does not belong to the JobSet", workload->meta().name));
    return step;
  }
  if (workload->meta().deletion_time) return step;
  // Something else is asked for than when it was made: what runs goes on as it is.
  if (const std::string* shape =
          api::lookup(workload->meta().annotations, workload::kShapeAnnotation);
      shape != nullptr && *shape != state.mapping.shape()) {
    if (is_idle(state.jobs)) dissolve(state, workload, step);
    return step;
  }
  Builder(state, workload, step).run();
  return step;
}

}  // namespace muster::controllers
