#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {
namespace {

constexpr GroupVersion kCoreV1{.group = "", .version = "v1", .package = "core/v1"};

// The old form of pods/binding: the body names the pod.
Kind binding_kind() {
  Kind kind = plain_kind(kCoreV1, "Binding", "bindings");
  kind.stored = false;
  return kind;
}

Kind config_map() {
  Kind kind = plain_kind(kCoreV1, "ConfigMap", "configmaps");
  kind.short_names = {"cm"};
  return kind;
}

Kind endpoints() {
  Kind kind = plain_kind(kCoreV1, "Endpoints", "endpoints");
  kind.short_names = {"ep"};
  kind.create_on_update = true;
  return kind;
}

Kind event_kind() {
  Kind kind = plain_kind(kCoreV1, "Event", "events");
  kind.short_names = {"ev"};
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

Kind limit_range() {
  Kind kind = plain_kind(kCoreV1, "LimitRange", "limitranges");
  kind.short_names = {"limits"};
  kind.create_on_update = true;
  return kind;
}

Kind name_space_kind() {
  Kind kind = plain_kind(kCoreV1, "Namespace", "namespaces");
  kind.short_names = {"ns"};
  kind.namespaced = false;
  kind.subresources = {{.name = "finalize",
                        .kind = "Namespace",
                        .body_group = {},
                        .body_version = {},
                        .verbs = {"update"}},
                       status_part(kind)};
  kind.answers_delete_with_object = true;
  kind.deletes_collections = false;
  kind.selectable_fields = {"status.phase"};
  return kind;
}

Kind node_kind() {
  Kind kind = plain_kind(kCoreV1, "Node", "nodes");
  kind.short_names = {"no"};
  kind.namespaced = false;
  kind.subresources = {status_part(kind)};
  kind.selectable_fields = {"spec.unschedulable"};
  return kind;
}

Kind persistent_volume_kind() {
  Kind kind = plain_kind(kCoreV1, "PersistentVolume", "persistentvolumes");
  kind.short_names = {"pv"};
  kind.namespaced = false;
  kind.subresources = {status_part(kind)};
  kind.answers_delete_with_object = true;
  return kind;
}

Kind persistent_volume_claim_kind() {
  Kind kind = plain_kind(kCoreV1, "PersistentVolumeClaim", "persistentvolumeclaims");
  kind.short_names = {"pvc"};
  kind.subresources = {status_part(kind)};
  kind.answers_delete_with_object = true;
  return kind;
}

// A part that the kubelet of the pod's node answers; the body, if any, is a stream.
Subresource kubelet_part(std::string name, std::string kind, std::vector<std::string> verbs) {
  return {.name = std::move(name),
          .kind = std::move(kind),
          .body_group = {},
          .body_version = {},
          .verbs = std::move(verbs)};
}

Kind pod_kind() {
  Kind kind = plain_kind(kCoreV1, "Pod", "pods");
  kind.short_names = {"po"};
  kind.categories = {"all"};
  kind.subresources = {kubelet_part("attach", "PodAttachOptions", {"create", "get"}),
                       {.name = "binding",
                        .kind = "Binding",
                        .body_group = {},
                        .body_version = {},
                        .verbs = {"create"}},
                       whole_part(kind, "ephemeralcontainers"),
                       {.name = "eviction",
                        .kind = "Eviction",
                        .body_group = "policy",
                        .body_version = "v1",
                        .verbs = {"create"}},
                       kubelet_part("exec", "PodExecOptions", {"create", "get"}),
                       explanation_part(),
                       kubelet_part("log", "Pod", {"get"}),
                       kubelet_part("portforward", "PodPortForwardOptions", {"create", "get"}),
                       whole_part(kind, "resize"),
                       status_part(kind)};
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

Kind pod_template() {
  Kind kind = plain_kind(kCoreV1, "PodTemplate", "podtemplates");
  kind.keeps_generation = true;
  kind.answers_delete_with_object = true;
  return kind;
}

Kind replication_controller() {
  Kind kind = plain_kind(kCoreV1, "ReplicationController", "replicationcontrollers");
  kind.short_names = {"rc"};
  kind.categories = {"all"};
  kind.subresources = {scale_part(), status_part(kind)};
  kind.keeps_generation = true;
  kind.selectable_fields = {"status.replicas"};
  return kind;
}

Kind resource_quota() {
  Kind kind = plain_kind(kCoreV1, "ResourceQuota", "resourcequotas");
  kind.short_names = {"quota"};
  kind.subresources = {status_part(kind)};
  kind.answers_delete_with_object = true;
  return kind;
}

Kind secret() {
  Kind kind = plain_kind(kCoreV1, "Secret", "secrets");
  kind.selectable_fields = {"type"};
  return kind;
}

Kind service() {
  Kind kind = plain_kind(kCoreV1, "Service", "services");
  kind.short_names = {"svc"};
  kind.categories = {"all"};
  kind.subresources = {status_part(kind)};
  kind.create_on_update = true;
  kind.answers_delete_with_object = true;
  kind.selectable_fields = {"spec.clusterIP", "spec.type"};
  return kind;
}

Kind service_account() {
  Kind kind = plain_kind(kCoreV1, "ServiceAccount", "serviceaccounts");
  kind.short_names = {"sa"};
  kind.subresources = {{.name = "token",
                        .kind = "TokenRequest",
                        .body_group = "authentication.k8s.io",
                        .body_version = "v1",
                        .verbs = {"create"}}};
  kind.answers_delete_with_object = true;
  return kind;
}

}  // namespace

std::vector<Kind> core_kinds() {
  return {binding_kind(),
          config_map(),
          endpoints(),
          event_kind(),
          limit_range(),
          name_space_kind(),
          node_kind(),
          persistent_volume_kind(),
          persistent_volume_claim_kind(),
          pod_kind(),
          pod_template(),
          replication_controller(),
          resource_quota(),
          secret(),
          service(),
          service_account()};
}

}  // namespace muster::api::kinds
