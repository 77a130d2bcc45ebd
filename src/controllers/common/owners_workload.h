#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"

// The Workload whose templates an object's groups are made from, where the object's owner made
// it.
namespace muster::controllers {

// The term that a Workload is found by: the object that its spec.controllerRef names.
std::string workload_term(std::string_view name_space, std::string_view group,
                          std::string_view kind, std::string_view name);
std::string workload_term(std::string_view name_space, const api::OwnerReference& owner);
// For mirrors of Workloads: each is found by its term.
void index_by_root(const api::Object& workload, std::vector<std::string>& out);

struct OwnersWorkload {
  api::ObjectPtr found = nullptr;
  std::string why_not = {};  // it was not found
};
// `workloads` are those that name the owner: there must be exactly one.
OwnersWorkload owners_workload(const api::OwnerReference& owner,
                               const std::vector<api::ObjectPtr>& workloads);

// "a, b, c".
std::string names_of(const std::vector<api::ObjectPtr>& objects);

}  // namespace muster::controllers
