#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/kinds/kinds_of_groups.h"
#include "base/check.h"

// Every kind the API serves: those our own components speak of are written here, the others beside
// their groups (kinds/).
namespace muster::api {
namespace {

// An endpoint that takes the whole object but changes only a part of it.
Subresource part_of(const Kind& kind, std::string name) {
  return {.name = std::move(name),
          .kind = kind.kind,
          .body_group = {},
          .body_version = {},
          .verbs = {"get", "patch", "update"}};
}

Subresource status_of(const Kind& kind) { return part_of(kind, "status"); }

// The old form of pods/binding: the body names the pod.
Kind binding() {
  Kind kind;
  kind.versions = {"v1"};
  kind.kind = "Binding";
  kind.plural = "bindings";
  kind.singular = "binding";
  kind.message = &schema::message("core/v1", "Binding");
  kind.stored = false;
  return kind;
}

Kind event() {
  Kind kind;
  kind.versions = {"v1"};
  kind.kind = "Event";
  kind.plural = "events";
  kind.singular = "event";
  kind.short_names = {"ev"};
  kind.message = &schema::message("core/v1", "Event");
  kind.create_on_update = true;
  kind.selectable_fields = {"involvedObject.kind",
                            "involvedObject.namespace",
                            "involvedObject.name",
                            "involvedObject.uid",
                            "involvedObject.apiVersion",
                            "involvedObject.resourceVersion",
                            "involvedObject.fieldPath",
                            "reason",
                            "reportingComponent",
                            "source",
                            "type"};
  return kind;
}

Kind name_space() {
  Kind kind;
  kind.versions = {"v1"};
  kind.kind = "Namespace";
  kind.plural = "namespaces";
  kind.singular = "namespace";
  kind.short_names = {"ns"};
  kind.namespaced = false;
  kind.subresources = {{.name = "finalize",
                        .kind = "Namespace",
                        .body_group = {},
                        .body_version = {},
                        .verbs = {"update"}},
                       status_of(kind)};
  kind.message = &schema::message("core/v1", "Namespace");
  kind.answers_delete_with_object = true;
  kind.deletes_collections = false;
  kind.selectable_fields = {"status.phase"};
  return kind;
}

Kind node() {
  Kind kind;
  kind.versions = {"v1"};
  kind.kind = "Node";
  kind.plural = "nodes";
  kind.singular = "node";
  kind.short_names = {"no"};
  kind.namespaced = false;
  kind.subresources = {status_of(kind)};
  kind.message = &schema::message("core/v1", "Node");
  kind.selectable_fields = {"spec.unschedulable"};
  return kind;
}

Kind pod() {
  Kind kind;
  kind.versions = {"v1"};
  kind.kind = "Pod";
  kind.plural = "pods";
  kind.singular = "pod";
  kind.short_names = {"po"};
  kind.categories = {"all"};
  kind.subresources = {{.name = "binding",
                        .kind = "Binding",
                        .body_group = {},
                        .body_version = {},
                        .verbs = {"create"}},
                       part_of(kind, "ephemeralcontainers"),
                       {.name = "eviction",
                        .kind = "Eviction",
                        .body_group = "policy",
                        .body_version = "v1",
                        .verbs = {"create"}},
                       part_of(kind, "resize"),
                       status_of(kind)};
  kind.message = &schema::message("core/v1", "Pod");
  kind.keeps_generation = true;
  kind.answers_delete_with_object = true;
  kind.selectable_fields = {"spec.nodeName",
                            "spec.host",
                            "spec.restartPolicy",
                            "spec.schedulerName",
                            "spec.serviceAccountName",
                            "spec.hostNetwork",
                            "status.phase",
                            "status.podIP",
                            "status.podIPs",
                            "status.nominatedNodeName"};
  return kind;
}

Kind priority_class() {
  Kind kind;
  kind.group = "scheduling.k8s.io";
  kind.versions = {"v1"};
  kind.kind = "PriorityClass";
  kind.plural = "priorityclasses";
  kind.singular = "priorityclass";
  kind.short_names = {"pc"};
  kind.namespaced = false;
  kind.message = &schema::message("scheduling/v1", "PriorityClass");
  kind.keeps_generation = true;
  return kind;
}

// Workload, PodGroup and CompositePodGroup share group and rules; versions differ.
Kind scheduling_kind(std::string name, std::string plural, std::string singular) {
  Kind kind;
  kind.group = "scheduling.k8s.io";
  kind.versions = {"v1beta1", "v1alpha3"};
  kind.kind = std::move(name);
  kind.plural = std::move(plural);
  kind.singular = std::move(singular);
  kind.message = &schema::message("scheduling/v1beta1", kind.kind);
  kind.unconditional_update = false;
  return kind;
}

Kind workload() { return scheduling_kind("Workload", "workloads", "workload"); }

Kind pod_group() {
  Kind kind = scheduling_kind("PodGroup", "podgroups", "podgroup");
  kind.subresources = {status_of(kind)};
  return kind;
}

Kind composite_pod_group() {
  Kind kind;
  kind.group = "scheduling.k8s.io";
  kind.versions = {"v1alpha3"};
  kind.kind = "CompositePodGroup";
  kind.plural = "compositepodgroups";
  kind.singular = "compositepodgroup";
  kind.subresources = {status_of(kind)};
  kind.message = &schema::message("scheduling/v1alpha3", "CompositePodGroup");
  kind.unconditional_update = false;
  return kind;
}

Kind lease() {
  Kind kind;
  kind.group = "coordination.k8s.io";
  kind.versions = {"v1"};
  kind.kind = "Lease";
  kind.plural = "leases";
  kind.singular = "lease";
  kind.message = &schema::message("coordination/v1", "Lease");
  kind.unconditional_update = false;
  kind.create_on_update = true;
  return kind;
}

Kind group_binding() {
  Kind kind;
  kind.group = "scheduling.muster.dev";
  kind.versions = {"v1alpha1"};
  kind.kind = "GroupBinding";
  kind.plural = "groupbindings";
  kind.singular = "groupbinding";
  kind.message = &schema::message("muster/v1alpha1", "GroupBinding");
  kind.stored = false;
  return kind;
}

// What most kinds have in common, and what all of them must have.
std::unique_ptr<const Kind> finished(Kind kind) {
  if (kind.stored_version.empty()) kind.stored_version = kind.versions.front();
  if (kind.store_prefix.empty()) kind.store_prefix = kind.plural;
  CHECK_THAT(kind.message->members.front()->name == "metadata", "{} has no metadata", kind.kind);
  return std::make_unique<const Kind>(std::move(kind));
}

// The order of upstream (wire.md 1.4); groups that it does not have come last.
constexpr std::array<std::string_view, 14> kGroupOrder{"",
                                                       "apps",
                                                       "events.k8s.io",
                                                       "authentication.k8s.io",
                                                       "authorization.k8s.io",
                                                       "autoscaling",
                                                       "batch",
                                                       "policy",
                                                       "rbac.authorization.k8s.io",
                                                       "storage.k8s.io",
                                                       "scheduling.k8s.io",
                                                       "coordination.k8s.io",
                                                       "discovery.k8s.io",
                                                       "resource.k8s.io"};

bool stands_before(const Kind* a, const Kind* b) {
  const auto rank = [](const Kind* kind) { return std::ranges::find(kGroupOrder, kind->group); };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return a->group != b->group ? a->group < b->group : a->plural < b->plural;
}

struct Registry {
  std::vector<std::unique_ptr<const Kind>> kept;
  std::vector<const Kind*> all;  // in discovery order

  Registry() {
    for (Kind (*make)() : {binding, event, name_space, node, pod, priority_class,
                           composite_pod_group, pod_group, workload, lease, group_binding}) {
      kept.push_back(finished(make()));
    }
    for (auto make :
         {kinds::access_kinds, kinds::core_kinds, kinds::apps_kinds, kinds::batch_kinds,
          kinds::discovery_kinds, kinds::events_kinds, kinds::policy_kinds, kinds::rbac_kinds,
          kinds::resource_kinds, kinds::storage_kinds, kinds::third_party_kinds})
      for (Kind& kind : make()) kept.push_back(finished(std::move(kind)));
    for (const auto& kind : kept) all.push_back(kind.get());
    std::ranges::sort(all, stands_before);
  }
};

}  // namespace

std::span<const Kind* const> all_kinds() {
  static const Registry* const kRegistry = new Registry();
  return kRegistry->all;
}

}  // namespace muster::api
