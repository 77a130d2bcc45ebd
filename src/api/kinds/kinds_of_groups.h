#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kinds/kind.h"

// The kinds of each API group, one file per group. all_kinds.cc joins and sorts them.
namespace muster::api::kinds {

std::vector<Kind> access_kinds();
std::vector<Kind> core_kinds();
std::vector<Kind> apps_kinds();
std::vector<Kind> batch_kinds();
std::vector<Kind> coordination_kinds();
std::vector<Kind> discovery_kinds();
std::vector<Kind> events_kinds();
std::vector<Kind> policy_kinds();
std::vector<Kind> rbac_kinds();
std::vector<Kind> resource_kinds();
std::vector<Kind> scheduling_kinds();
std::vector<Kind> storage_kinds();
std::vector<Kind> third_party_kinds();

// How the kinds above are written.
struct GroupVersion {
  std::string_view group;    // "batch"
  std::string_view version;  // "v1"
  std::string_view package;  // of the schema: "batch/v1"
};
// A namespaced kind with nothing special about it.
Kind plain_kind(const GroupVersion& in, std::string_view name, std::string_view plural);

// An endpoint that gets the whole object but changes only a part of it.
Subresource whole_part(const Kind& kind, std::string_view name);
// status: read and written separately from the rest.
Subresource status_part(const Kind& kind);
// explanation: why it waits and what would help, answered by Muster's own server.
Subresource explanation_part();
// scale: the number of replicas, as an autoscaling/v1 Scale.
Subresource scale_part();

}  // namespace muster::api::kinds
