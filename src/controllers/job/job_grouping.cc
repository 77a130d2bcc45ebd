#include "controllers/job/job_grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/views/group_view.h"
#include "api/views/workload_view.h"
#include "controllers/common/owners.h"
#include "controllers/common/owners_workload.h"

namespace muster::controllers {
namespace {

using api::GroupView;
using api::ObjectPtr;
using api::WorkloadView;
using workload::JobRole;
using What = GroupingStep::What;

constexpr std::string_view kUnsupported = "UnsupportedWorkloadStructure";

GroupingStep blocked(std::string_view reason, std::string message) {
  return {.what = What::Blocked, .reason = std::string(reason), .message = std::move(message)};
}

// Nothing of the Job has happened yet, so its scheduling objects may still be made.
bool is_new(const GroupingState& state) {
  const api::JobView::Status& status = state.job.status;
  return !state.has_pods && !status.start_time && status.succeeded == 0 && status.failed == 0 &&
         state.job.condition("Suspended") == nullptr;
}

// A gang is never started without its group, not even a second time.
bool may_begin(const GroupingState& state) {
  return is_new(state) || (state.job.says_scheduling && !state.has_ungrouped_pods);
}

// The Workload of the Job: the one it owns, else one that somebody made for it.
GroupingStep find_workload(const GroupingState& state, ObjectPtr& found) {
  std::vector<ObjectPtr> own, others;
  for (const ObjectPtr& workload : state.workloads)
    (is_controlled_by(*workload, state.meta.uid) ? own : others).push_back(workload);
  const std::vector<ObjectPtr>& these = own.empty() ? others : own;
  if (these.size() > 1)
    return blocked(kUnsupported,
                   fmt::format("Several Workloads refer to the Job: {}", names_of(these)));
  if (these.empty()) return {};
  found = these.front();
  const auto& templates = found->view<WorkloadView>().templates;
  if (templates.size() != 1 || templates.front().composite)
    return blocked(kUnsupported,
                   fmt::format("Workload {} must have exactly one podGroupTemplate for the Job",
                               found->meta().name));
  return {};
}

// The Workload that the owner of a delegated Job has made, with the template that is meant.
GroupingStep find_owners_workload(const GroupingState& state, ObjectPtr& found) {
  const workload::Delegation& delegation = state.grouping.delegation;
  OwnersWorkload owners = owners_workload(delegation.owner, state.workloads);
  if (owners.found == nullptr)
    return blocked(state.workloads.empty() ? "WorkloadNotFound" : kUnsupported,
                   std::move(owners.why_not));
  found = owners.found;
  const auto& view = found->view<WorkloadView>();
  const WorkloadView::Template* meant =
      delegation.template_name.empty() ? view.first_leaf() : view.find(delegation.template_name);
  if (meant == nullptr || meant->composite)
    return blocked("PodGroupTemplateNotFound",
                   fmt::format("Workload {} has no podGroupTemplate \"{}\"", found->meta().name,
                               delegation.template_name));
  return {};
}

// The minimum that templates and groups of the Job should have.
std::int32_t wanted_minimum(const GroupingState& state) {
  return std::max(1, state.job.gang_minimum.value_or(state.job.parallelism));
}

GroupingStep match_size(const GroupingState& state, const ObjectPtr& workload, ObjectPtr group) {
  const auto& view = workload->view<WorkloadView>();
  const auto& has = group->view<GroupView>();
  const WorkloadView::Template* made_from = view.find(has.template_name);
  if (made_from != nullptr && made_from->gang && has.gang) {
    const bool own =
        state.grouping.role == JobRole::Root && is_controlled_by(*workload, state.meta.uid);
    const std::int32_t wanted = own ? wanted_minimum(state) : made_from->minimum;
    if (made_from->minimum != wanted)
      return {.what = What::ResizeWorkload,
              .object = workload,
              .template_name = made_from->name,
              .minimum = wanted};
    if (has.minimum != wanted)
      return {.what = What::ResizeGroup, .object = std::move(group), .minimum = wanted};
  }
  return {.what = What::Go, .group = std::move(group)};
}

GroupingStep step_of_group(const GroupingState& state, const ObjectPtr& workload) {
  if (state.groups.size() > 1)
    return blocked(kUnsupported,
                   fmt::format("The Job has several PodGroups: {}", names_of(state.groups)));
  if (state.groups.empty()) {
    if (state.job.suspend || workload == nullptr) return {};
    if (state.has_ungrouped_pods) return {};
    return {.what = What::CreateGroup, .object = workload};
  }
  const ObjectPtr& group = state.groups.front();
  // Its members must be gone before there is another of the same name.
  if (group->meta().deletion_time) return {.what = What::Wait};
  if (state.job.suspend)
    return state.has_unended_pods ? GroupingStep{}
                                  : GroupingStep{.what = What::DeleteGroup, .object = group};
  if (workload == nullptr) return {.what = What::Go, .group = group};
  return match_size(state, workload, group);
}

}  // namespace

bool is_beyond_groups(const api::JobView& job) {
  return !job.says_scheduling && job.priority_class.starts_with("system-");
}

GroupingStep next_grouping_step(const GroupingState& state) {
  if (state.grouping.role == JobRole::Ungrouped) return {};
  ObjectPtr workload;
  if (state.grouping.role == JobRole::Root) {
    if (GroupingStep step = find_workload(state, workload); step.what == What::Blocked) return step;
    if (workload == nullptr && state.groups.empty())
      return may_begin(state) ? GroupingStep{.what = What::CreateWorkload} : GroupingStep{};
  } else {
    GroupingStep step = find_owners_workload(state, workload);
    // A Job that runs without a group goes on so; one that has its group needs no more.
    if (step.what == What::Blocked && state.groups.empty())
      return state.has_ungrouped_pods ? GroupingStep{} : step;
    if (step.what == What::Blocked) workload = nullptr;
  }
  return step_of_group(state, workload);
}

}  // namespace muster::controllers
