#include "explain/roots.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "api/views/group_view.h"
#include "api/views/workload_view.h"
#include "explain/words.h"

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

bool is_controlled_by(const api::Object& group, const WorkloadOwner& owner) {
  return std::ranges::any_of(group.meta().owners, [&](const api::OwnerReference& each) {
    return each.controller && each.kind == owner.kind && each.name == owner.name &&
           each.api_version.starts_with(owner.group + "/");
  });
}

// Groups of its Workload, and those that its controller made from templates of another's.
std::vector<api::ObjectPtr> groups_of(const Objects& objects, const WorkloadOwner& owner,
                                      const std::set<std::string_view>& workloads) {
  std::vector<api::ObjectPtr> out;
  for (const api::ObjectPtr& group : objects.groups)
    if (group->meta().name_space == owner.name_space &&
        (workloads.contains(group->view<api::GroupView>().workload) ||
         is_controlled_by(*group, owner)))
      out.push_back(group);
  return out;
}

}  // namespace

Result<std::vector<GroupKey>> root_groups(const Objects& objects, const WorkloadOwner& owner) {
  if (!objects.workloads_unread.empty())
    return fail(Reason::Forbidden, "cannot find the groups of {} {}: {}", owner.kind, owner.name,
                objects.workloads_unread);
  const std::set<std::string_view> workloads = workloads_of(objects, owner);
  const std::vector<api::ObjectPtr> groups = groups_of(objects, owner, workloads);
  if (groups.empty() && workloads.empty())
    return fail(
        Reason::NotFound,
        "{} {} in namespace {} has no Workload: it is not scheduled as a whole; its pods can be "
        "explained one by one (`muster explain pod NAME`)",
        owner.kind, owner.name, owner.name_space);
  if (groups.empty())
    return fail(Reason::NotFound, "{} {} has a Workload ({}) and no groups yet", owner.kind,
                owner.name, *workloads.begin());
  std::set<std::string_view> composites;
  for (const api::ObjectPtr& group : groups)
    if (&group->kind() == &api::kinds::composite_pod_group()) composites.insert(group->meta().name);
  std::vector<api::ObjectPtr> staying, going;
  for (const api::ObjectPtr& group : groups)
    if (!composites.contains(group->view<api::GroupView>().parent))
      (group->meta().deletion_time ? going : staying).push_back(group);
  std::vector<api::ObjectPtr>& roots = staying.empty() ? going : staying;
  std::ranges::sort(roots, [](const api::ObjectPtr& a, const api::ObjectPtr& b) {
    return counts_before(a->meta().name, b->meta().name);
  });
  std::vector<GroupKey> out;
  for (const api::ObjectPtr& group : roots)
    out.push_back({&group->kind() == &api::kinds::pod_group() ? GroupKind::PodGroup
                                                              : GroupKind::CompositePodGroup,
                   owner.name_space, group->meta().name});
  return out;
}

}  // namespace muster::explain
