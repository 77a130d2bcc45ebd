#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {
namespace {

constexpr GroupVersion kCoreV1{.group = "", .version = "v1", .package = "core/v1"};

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

Kind limit_range() {
  Kind kind = plain_kind(kCoreV1, "LimitRange", "limitranges");
  kind.short_names = {"limits"};
  kind.create_on_update = true;
  return kind;
}

Kind persistent_volume() {
  Kind kind = plain_kind(kCoreV1, "PersistentVolume", "persistentvolumes");
  kind.short_names = {"pv"};
  kind.namespaced = false;
  kind.subresources = {status_part(kind)};
  kind.answers_delete_with_object = true;
  return kind;
}

Kind persistent_volume_claim() {
  Kind kind = plain_kind(kCoreV1, "PersistentVolumeClaim", "persistentvolumeclaims");
  kind.short_names = {"pvc"};
  kind.subresources = {status_part(kind)};
  kind.answers_delete_with_object = true;
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
  return {config_map(),
          endpoints(),
          limit_range(),
          persistent_volume(),
          persistent_volume_claim(),
          pod_template(),
          replication_controller(),
          resource_quota(),
          secret(),
          service(),
          service_account()};
}

}  // namespace muster::api::kinds
