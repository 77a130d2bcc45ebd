#pragma once

#include <string_view>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// The rules of a kind that are neither in its table nor in the server, for kinds where documents
// alone decide. Metadata is judged by the caller.
struct KindRules {
  std::string_view group;
  std::string_view kind;
  // Defaults that depend on other members. Null: none.
  void (*set_defaults)(JsonObject& document) = nullptr;
  // What is wrong with `now`; `old` is what it replaces, null on create. Null: nothing can be.
  void (*validate)(const Json& now, const Json* old, FieldErrors& errors) = nullptr;
  // Defaults that go before those of the table. Null: none.
  void (*predefault)(JsonObject& document) = nullptr;
};

// Null if the kind has none.
const KindRules* find_kind_rules(const Kind& kind);

// What the files of this room contribute; only kind_rules.cc uses it.
namespace rules {

void default_limit_range(JsonObject& range);
void default_secret(JsonObject& secret);
void validate_config_map(const Json& now, const Json* old, FieldErrors& errors);
void validate_secret(const Json& now, const Json* old, FieldErrors& errors);

void default_service(JsonObject& service);
void validate_service(const Json& now, const Json* old, FieldErrors& errors);
void validate_endpoint_slice(const Json& now, const Json* old, FieldErrors& errors);

void validate_limit_range(const Json& now, const Json* old, FieldErrors& errors);
void validate_resource_quota(const Json& now, const Json* old, FieldErrors& errors);

void default_daemon_set(JsonObject& document);
void default_deployment(JsonObject& document);
void default_pod_template_object(JsonObject& document);
void default_replica_set(JsonObject& document);
void default_replication_controller(JsonObject& document);
void default_stateful_set(JsonObject& document);
void validate_controller_revision(const Json& now, const Json* old, FieldErrors& errors);
void validate_daemon_set(const Json& now, const Json* old, FieldErrors& errors);
void validate_deployment(const Json& now, const Json* old, FieldErrors& errors);
void validate_pod_template_object(const Json& now, const Json* old, FieldErrors& errors);
void validate_replica_set(const Json& now, const Json* old, FieldErrors& errors);
void validate_replication_controller(const Json& now, const Json* old, FieldErrors& errors);
void validate_stateful_set(const Json& now, const Json* old, FieldErrors& errors);

void validate_disruption_budget(const Json& now, const Json* old, FieldErrors& errors);

void default_role_binding(JsonObject& binding);
void validate_role(const Json& now, const Json* old, FieldErrors& errors);
void validate_cluster_role(const Json& now, const Json* old, FieldErrors& errors);
void validate_role_binding(const Json& now, const Json* old, FieldErrors& errors);
void validate_cluster_role_binding(const Json& now, const Json* old, FieldErrors& errors);

void default_csi_driver(JsonObject& driver);
void validate_csi_driver(const Json& now, const Json* old, FieldErrors& errors);
void validate_csi_node(const Json& now, const Json* old, FieldErrors& errors);
void validate_csi_storage_capacity(const Json& now, const Json* old, FieldErrors& errors);
void validate_persistent_volume(const Json& now, const Json* old, FieldErrors& errors);
void validate_persistent_volume_claim(const Json& now, const Json* old, FieldErrors& errors);
void validate_storage_class(const Json& now, const Json* old, FieldErrors& errors);
void validate_volume_attachment(const Json& now, const Json* old, FieldErrors& errors);
void validate_volume_attributes_class(const Json& now, const Json* old, FieldErrors& errors);

void default_device_requests(JsonObject& document);
void validate_resource_claim(const Json& now, const Json* old, FieldErrors& errors);
void validate_resource_claim_template(const Json& now, const Json* old, FieldErrors& errors);
void validate_resource_slice(const Json& now, const Json* old, FieldErrors& errors);

void predefault_job_set(JsonObject& set);
void default_job_set(JsonObject& set);
void validate_job_set(const Json& now, const Json* old, FieldErrors& errors);
void default_leader_worker_set(JsonObject& set);
void validate_leader_worker_set(const Json& now, const Json* old, FieldErrors& errors);

}  // namespace rules
}  // namespace muster::api
