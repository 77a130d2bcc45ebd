#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {
namespace {

constexpr std::string_view kGroup = "scheduling.k8s.io";
constexpr GroupVersion kV1{.group = kGroup, .version = "v1", .package = "scheduling/v1"};
constexpr GroupVersion kV1beta1{
    .group = kGroup, .version = "v1beta1", .package = "scheduling/v1beta1"};
constexpr GroupVersion kV1alpha3{
    .group = kGroup, .version = "v1alpha3", .package = "scheduling/v1alpha3"};

Kind priority_class_kind() {
  Kind kind = plain_kind(kV1, "PriorityClass", "priorityclasses");
  kind.short_names = {"pc"};
  kind.namespaced = false;
  kind.keeps_generation = true;
  return kind;
}

Kind workload_kind() {
  Kind kind = plain_kind(kV1beta1, "Workload", "workloads");
  kind.versions.emplace_back("v1alpha3");
  kind.short_names = {"wl"};
  kind.unconditional_update = false;
  return kind;
}

Kind pod_group_kind() {
  Kind kind = plain_kind(kV1beta1, "PodGroup", "podgroups");
  kind.versions.emplace_back("v1alpha3");
  kind.short_names = {"pg"};
  kind.subresources = {explanation_part(), status_part(kind)};
  kind.unconditional_update = false;
  return kind;
}

Kind composite_pod_group_kind() {
  Kind kind = plain_kind(kV1alpha3, "CompositePodGroup", "compositepodgroups");
  kind.short_names = {"cpg"};
  kind.subresources = {explanation_part(), status_part(kind)};
  kind.unconditional_update = false;
  return kind;
}

// A request, not an object: binds the pods of a tree of groups at once.
Kind group_binding_kind() {
  Kind kind = plain_kind(
      {.group = "scheduling.muster.dev", .version = "v1alpha1", .package = "muster/v1alpha1"},
      "GroupBinding", "groupbindings");
  kind.stored = false;
  return kind;
}

}  // namespace

std::vector<Kind> scheduling_kinds() {
  return {priority_class_kind(), workload_kind(), pod_group_kind(), composite_pod_group_kind(),
          group_binding_kind()};
}

}  // namespace muster::api::kinds
