#include "controllers/common/owners_workload.h"

#include <fmt/format.h>

#include "api/views/workload_view.h"
#include "controllers/common/owners.h"

namespace muster::controllers {

std::string workload_term(std::string_view name_space, std::string_view group,
                          std::string_view kind, std::string_view name) {
  return fmt::format("{}/{}/{}/{}", name_space, group, kind, name);
}

std::string workload_term(std::string_view name_space, const api::OwnerReference& owner) {
  return workload_term(name_space, group_of(owner.api_version), owner.kind, owner.name);
}

void index_by_root(const api::Object& workload, std::vector<std::string>& out) {
  const auto& view = workload.view<api::WorkloadView>();
  if (!view.owner_kind.empty())
    out.push_back(workload_term(workload.meta().name_space, view.owner_group, view.owner_kind,
                                view.owner_name));
}

std::string names_of(const std::vector<api::ObjectPtr>& objects) {
  std::string out;
  for (const api::ObjectPtr& object : objects)
    out += (out.empty() ? "" : ", ") + object->meta().name;
  return out;
}

OwnersWorkload owners_workload(const api::OwnerReference& owner,
                               const std::vector<api::ObjectPtr>& workloads) {
  if (workloads.empty())
    return {.why_not = fmt::format("There is no Workload of {} {} yet", owner.kind, owner.name)};
  if (workloads.size() > 1)
    return {.why_not = fmt::format("Several Workloads refer to {} {}: {}", owner.kind, owner.name,
                                   names_of(workloads))};
  return {.found = workloads.front()};
}

}  // namespace muster::controllers
