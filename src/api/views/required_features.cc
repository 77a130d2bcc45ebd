#include "api/views/required_features.h"

#include <algorithm>

namespace muster::api {
namespace {

template <typename Test>
bool any_entry(const Json& value, std::string_view member, Test&& test) {
  const JsonArray* array = find_array(value, member);
  return array != nullptr && std::ranges::any_of(*array, test);
}

bool restarts_all_containers(const Json& spec) {
  const auto restarts_all = [](const Json& container) {
    return any_entry(container, "restartPolicyRules", [](const Json& rule) {
      return find_string(rule, "action") == "RestartAllContainers";
    });
  };
  return any_entry(spec, "containers", restarts_all) ||
         any_entry(spec, "initContainers", restarts_all);
}

bool maps_users_of_host_network(const Json& spec) {
  const Json* network = find(spec, "hostNetwork");
  const Json* users = find(spec, "hostUsers");
  return network != nullptr && users != nullptr && *network == Json(true) && *users == Json(false);
}

bool has_bind_mount_options(const Json& spec) {
  const auto has_options = [](const Json& container) {
    return any_entry(container, "volumeMounts",
                     [](const Json& mount) { return find(mount, "bindMountOptions") != nullptr; });
  };
  return any_entry(spec, "containers", has_options) ||
         any_entry(spec, "initContainers", has_options);
}

}  // namespace

std::vector<std::string_view> required_features(const Json& spec) {
  std::vector<std::string_view> features;
  if (restarts_all_containers(spec)) features.emplace_back("RestartAllContainersOnContainerExits");
  if (maps_users_of_host_network(spec)) features.emplace_back("UserNamespacesHostNetworkSupport");
  if (has_bind_mount_options(spec)) features.emplace_back("VolumeBindMountOptions");
  return features;
}

}  // namespace muster::api
