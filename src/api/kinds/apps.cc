#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {
namespace {

constexpr GroupVersion kAppsV1{.group = "apps", .version = "v1", .package = "apps/v1"};

Kind workload_kind(std::string_view name, std::string_view plural, std::string_view short_name) {
  Kind kind = plain_kind(kAppsV1, name, plural);
  kind.short_names = {std::string(short_name)};
  kind.categories = {"all"};
  kind.keeps_generation = true;
  if (name != "DaemonSet") kind.subresources.push_back(scale_part());
  kind.subresources.push_back(status_part(kind));
  return kind;
}

Kind replica_set() {
  Kind kind = workload_kind("ReplicaSet", "replicasets", "rs");
  kind.selectable_fields = {"status.replicas"};
  return kind;
}

}  // namespace

std::vector<Kind> apps_kinds() {
  return {plain_kind(kAppsV1, "ControllerRevision", "controllerrevisions"),
          workload_kind("DaemonSet", "daemonsets", "ds"),
          workload_kind("Deployment", "deployments", "deploy"), replica_set(),
          workload_kind("StatefulSet", "statefulsets", "sts")};
}

}  // namespace muster::api::kinds
