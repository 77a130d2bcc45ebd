#include "api/views/unjudged_fields.h"

#include <algorithm>

namespace muster::api {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

bool has_entries(const Json& value, std::string_view member) {
  const JsonArray* array = find_array(value, member);
  return array != nullptr && !array->empty();
}

bool requires_pods(const Json& spec, std::string_view path) {
  const Json* affinity = find_path(spec, path);
  return affinity != nullptr && has_entries(*affinity, kRequired);
}

template <typename Test>
bool any_entry(const Json& value, std::string_view member, Test&& test) {
  const JsonArray* array = find_array(value, member);
  return array != nullptr && std::ranges::any_of(*array, test);
}

bool spreads_strictly(const Json& spec) {
  return any_entry(spec, "topologySpreadConstraints", [](const Json& constraint) {
    return find_string(constraint, "whenUnsatisfiable") == "DoNotSchedule";
  });
}

// What NodeDeclaredFeatures would require of a node.
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

std::vector<std::string_view> unjudged_fields(const Json& spec) {
  std::vector<std::string_view> fields;
  const auto add_if = [&](bool is_used, std::string_view path) {
    if (is_used) fields.push_back(path);
  };
  // InterPodAffinity.
  add_if(requires_pods(spec, "affinity.podAffinity"),
         "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  add_if(requires_pods(spec, "affinity.podAntiAffinity"),
         "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  // PodTopologySpread.
  add_if(spreads_strictly(spec), "spec.topologySpreadConstraints");
  // NodeDeclaredFeatures.
  add_if(restarts_all_containers(spec), "spec.containers[*].restartPolicyRules");
  add_if(maps_users_of_host_network(spec), "spec.hostUsers");
  add_if(has_bind_mount_options(spec), "spec.containers[*].volumeMounts[*].bindMountOptions");
  return fields;
}

}  // namespace muster::api
