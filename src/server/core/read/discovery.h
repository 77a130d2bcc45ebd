#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/core/request/served.h"

// What the API serves, as clients ask for it. Pure functions of the served kinds;
// ETags and content negotiation belong to server/http.
namespace muster::server {

// GET /api: {"kind":"APIVersions",…}. `server_address` is HOST:PORT as the client reached us.
std::string api_versions_json(std::string_view server_address);
// GET /apis: {"kind":"APIGroupList",…}.
std::string api_group_list_json(Kinds kinds = api::all_kinds());
// GET /apis/G: {"kind":"APIGroup",…}; nullopt if the group is not served.
std::optional<std::string> api_group_json(std::string_view group, Kinds kinds = api::all_kinds());
// GET /api/v1 (group "") and /apis/G/V: {"kind":"APIResourceList",…}; nullopt if not served.
std::optional<std::string> api_resource_list_json(std::string_view group, std::string_view version,
                                                  Kinds kinds = api::all_kinds());

// GET /api and /apis in the form
// application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList.
std::string aggregated_core_json(Kinds kinds = api::all_kinds());
std::string aggregated_groups_json(Kinds kinds = api::all_kinds());

}  // namespace muster::server
