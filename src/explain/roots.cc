#include "explain/roots.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "api/views/group_view.h"
#include "api/views/workload_view.h"

namespace muster::explain {
namespace {

using scheduler::GroupKey;
using scheduler::GroupKind;

std::set<std::string_view> workloads_of(const Objects& objects, const WorkloadOwner& owner) {
  std::set<std::string_view> out;
  for (const api::ObjectPtr& workload : objects.workloads) {
    const auto& view = workload->view<api::WorkloadView>();
    if (workload->meta().name_space == owner.name_space && view.owner_group == owner.group &&
        view.owner_kind == owner.kind && view.owner_name == owner.name)
      out.insert(workload->meta().name);
  }
  return out;
}

}  // namespace

Result<std::vector<Subject>> root_groups(const Objects& objects, const WorkloadOwner& owner) {
  if (!objects.workloads_unread.empty())
    return fail(Reason::Forbidden, "cannot find the groups of {} {}: {}", owner.kind, owner.name,
                objects.workloads_unread);
  const std::set<std::string_view> workloads = workloads_of(objects, owner);
  if (workloads.empty())
    return fail(
        Reason::NotFound,
        "{} {} in namespace {} has no Workload: it is not scheduled as a whole, or there "
        "is none of this name; pods can be explained one by one (`muster explain pod NAME`)",
        owner.kind, owner.name, owner.name_space);
  std::vector<api::ObjectPtr> staying, going;
  for (const api::ObjectPtr& group : objects.groups) {
    const auto& view = group->view<api::GroupView>();
    if (group->meta().name_space == owner.name_space && view.parent.empty() &&
        workloads.contains(view.workload))
      (group->meta().deletion_time ? going : staying).push_back(group);
  }
  std::vector<api::ObjectPtr>& roots = staying.empty() ? going : staying;
  if (roots.empty())
    return fail(Reason::NotFound, "{} {} has a Workload ({}) and no groups yet", owner.kind,
                owner.name, *workloads.begin());
  std::ranges::sort(roots, {}, [](const api::ObjectPtr& group) { return group->meta().name; });
  std::vector<Subject> out;
  for (const api::ObjectPtr& group : roots)
    out.emplace_back(GroupKey{
        group->kind().kind == "PodGroup" ? GroupKind::PodGroup : GroupKind::CompositePodGroup,
        owner.name_space, group->meta().name});
  return out;
}

}  // namespace muster::explain
