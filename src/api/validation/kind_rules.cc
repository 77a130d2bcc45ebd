#include "api/validation/kind_rules.h"

namespace muster::api {
namespace {

constexpr std::string_view kApps = "apps";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kResource = "resource.k8s.io";
constexpr std::string_view kStorage = "storage.k8s.io";

constexpr KindRules kRules[] = {
    {"", "ConfigMap", nullptr, rules::validate_config_map},
    {"", "LimitRange", rules::default_limit_range, rules::validate_limit_range},
    {"", "PersistentVolume", nullptr, rules::validate_persistent_volume},
    {"", "PersistentVolumeClaim", nullptr, rules::validate_persistent_volume_claim},
    {"", "PodTemplate", rules::default_pod_template_object, rules::validate_pod_template_object},
    {"", "ReplicationController", rules::default_replication_controller,
     rules::validate_replication_controller},
    {"", "ResourceQuota", nullptr, rules::validate_resource_quota},
    {"", "Secret", rules::default_secret, rules::validate_secret},
    {"", "Service", rules::default_service, rules::validate_service},
    {kApps, "ControllerRevision", nullptr, rules::validate_controller_revision},
    {kApps, "DaemonSet", rules::default_daemon_set, rules::validate_daemon_set},
    {kApps, "Deployment", rules::default_deployment, rules::validate_deployment},
    {kApps, "ReplicaSet", rules::default_replica_set, rules::validate_replica_set},
    {kApps, "StatefulSet", rules::default_stateful_set, rules::validate_stateful_set},
    {"policy", "PodDisruptionBudget", nullptr, rules::validate_disruption_budget},
    {kRbac, "ClusterRole", nullptr, rules::validate_cluster_role},
    {kRbac, "ClusterRoleBinding", rules::default_role_binding,
     rules::validate_cluster_role_binding},
    {kRbac, "Role", nullptr, rules::validate_role},
    {kRbac, "RoleBinding", rules::default_role_binding, rules::validate_role_binding},
    {"discovery.k8s.io", "EndpointSlice", nullptr, rules::validate_endpoint_slice},
    {kStorage, "CSIDriver", rules::default_csi_driver, rules::validate_csi_driver},
    {kStorage, "CSINode", nullptr, rules::validate_csi_node},
    {kStorage, "CSIStorageCapacity", nullptr, rules::validate_csi_storage_capacity},
    {kStorage, "StorageClass", nullptr, rules::validate_storage_class},
    {kStorage, "VolumeAttachment", nullptr, rules::validate_volume_attachment},
    {kStorage, "VolumeAttributesClass", nullptr, rules::validate_volume_attributes_class},
    {kResource, "ResourceClaim", rules::default_device_requests, rules::validate_resource_claim},
    {kResource, "ResourceClaimTemplate", rules::default_device_requests,
     rules::validate_resource_claim_template},
    {kResource, "ResourceSlice", nullptr, rules::validate_resource_slice},
    {"jobset.x-k8s.io", "JobSet", rules::default_job_set, rules::validate_job_set,
     rules::predefault_job_set},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", rules::default_leader_worker_set,
     rules::validate_leader_worker_set},
};

}  // namespace

const KindRules* find_kind_rules(const Kind& kind) {
  for (const KindRules& found : kRules)
    if (found.kind == kind.kind && found.group == kind.group) return &found;
  return nullptr;
}

}  // namespace muster::api
