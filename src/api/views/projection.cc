#include "api/views/projection.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "api/values/waits_for.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"

namespace muster::api {
namespace {

// Who manages which field, and what kubectl wrote down about its last apply, is often half of an
// object.
constexpr Kept kAnnotations[]{
    {.name = "kubectl.kubernetes.io/last-applied-configuration", .dropped = true}, {kTheOthers}};
constexpr Kept kMetadata[]{
    {.name = "managedFields", .dropped = true}, {"annotations", kAnnotations}, {kTheOthers}};
constexpr Kept kWithoutBookkeeping[]{{"metadata", kMetadata}, {kTheOthers}};

constexpr Kept kBindMount[]{{"bindMountOptions"}};
constexpr Kept kContainer[]{{"name"},
                            {"image"},
                            {"ports"},
                            {"resources"},
                            {"restartPolicy"},
                            {"restartPolicyRules"},
                            {"volumeMounts", kBindMount}};
constexpr Kept kClaimSource[]{{"claimName"}};
constexpr Kept kNothing[]{{"-"}};
constexpr Kept kVolume[]{{"name"},
                         {"image"},
                         {"gcePersistentDisk"},
                         {"awsElasticBlockStore"},
                         {"iscsi"},
                         {"rbd"},
                         {"azureDisk"},
                         {"cinder"},
                         {"persistentVolumeClaim", kClaimSource},
                         {"ephemeral", kNothing}};
constexpr Kept kPodSpec[]{{"nodeName"},
                          {"schedulerName"},
                          {"priority"},
                          {"preemptionPolicy"},
                          {"schedulingGates"},
                          {"schedulingGroup"},
                          {"affinity"},
                          {"tolerations"},
                          {"nodeSelector"},
                          {"topologySpreadConstraints"},
                          {"overhead"},
                          {"resources"},
                          {"resourceClaims"},
                          {"hostNetwork"},
                          {"hostUsers"},
                          {"terminationGracePeriodSeconds"},
                          {"volumes", kVolume},
                          {"containers", kContainer},
                          {"initContainers", kContainer}};
// Without the times: of nodes they change every few seconds.
constexpr Kept kCondition[]{{"type"}, {"status"}, {"reason"}, {"message"}, {"observedGeneration"}};
constexpr Kept kContainerStatus[]{{"name"}, {"allocatedResources"}, {"resources"}};
constexpr Kept kPodStatus[]{{"phase"},
                            {"startTime"},
                            {"nominatedNodeName"},
                            {"conditions", kCondition},
                            {"allocatedResources"},
                            {"resources"},
                            {"containerStatuses", kContainerStatus},
                            {"initContainerStatuses", kContainerStatus}};
// No scheduler reads annotations of pods, but one ends the listing of a watch.
constexpr Kept kPodAnnotations[]{{"k8s.io/initial-events-end"}};
constexpr Kept kPodMetadata[]{{.name = "managedFields", .dropped = true},
                              {.name = "generateName", .dropped = true},
                              {"annotations", kPodAnnotations},
                              {kTheOthers}};
constexpr Kept kPod[]{{"metadata", kPodMetadata}, {"spec", kPodSpec}, {"status", kPodStatus}};

constexpr Kept kNodeCondition[]{{"type"}, {"status"}};
constexpr Kept kNodeSpec[]{{"unschedulable"}, {"taints"}};
constexpr Kept kNodeStatus[]{
    {"allocatable"}, {"images"}, {"declaredFeatures"}, {"conditions", kNodeCondition}};
constexpr Kept kNode[]{{"metadata", kMetadata}, {"spec", kNodeSpec}, {"status", kNodeStatus}};

// What makes pods: only which pods they select matters.
constexpr Kept kOwnerSpec[]{{"selector"}};
constexpr Kept kOwner[]{{"metadata", kMetadata}, {"spec", kOwnerSpec}};

// The conditions of a pod that a scheduler writes, or reads before it evicts. What a kubelet says
// of a pod that runs is more than all the rest that is kept of it.
// PodScheduled stands first: of pods that have their node it is left out.
constexpr std::array<std::string_view, 3> kPodConditions{"PodScheduled", "DisruptionTarget",
                                                         kWaitsForCondition};

JsonObject* part_to_edit(Json& document, std::string_view member) {
  JsonObject* const object = document.if_object();
  Json* const found = object == nullptr ? nullptr : object->if_contains(member);
  return found == nullptr ? nullptr : found->if_object();
}

void drop_other_conditions(Json& pod, bool is_settled) {
  JsonObject* const status = part_to_edit(pod, "status");
  Json* const found = status == nullptr ? nullptr : status->if_contains("conditions");
  JsonArray* const conditions = found == nullptr ? nullptr : found->if_array();
  if (conditions == nullptr) return;
  const auto read = std::span(kPodConditions).subspan(is_settled ? 1 : 0);
  const auto is_other = [&](const Json& condition) {
    return std::ranges::find(read, find_string(condition, "type")) == read.end();
  };
  const auto others = std::ranges::remove_if(*conditions, is_other);
  conditions->erase(others.begin(), others.end());
}

bool has_node_or_is_over(const Json& pod) {
  const std::string_view phase = find_string(part_of(pod, "status"), "phase");
  return !find_string(part_of(pod, "spec"), "nodeName").empty() || phase == "Succeeded" ||
         phase == "Failed";
}

std::shared_ptr<Object> made_with(const Kind& kind, Json& document, std::unique_ptr<View> view,
                                  bool without_bytes) {
  if (without_bytes)
    for (const std::string_view part : {"spec", "status"}) document.as_object().erase(part);
  std::shared_ptr<Object> object = Object::make(kind, document);
  object->set_view(std::move(view));
  return object;
}

}  // namespace

std::shared_ptr<Object> made_for_scheduler(const Kind& kind, Json& document,
                                           PodTemplates& templates) {
  if (&kind == &kinds::node()) return made_with(kind, document, NodeView::of(document), true);
  if (&kind != &kinds::pod()) return Object::make(kind, document);
  const bool is_settled = has_node_or_is_over(document);
  drop_other_conditions(document, is_settled);
  // Which nodes it would tolerate matters no more; every pod has two tolerations at least.
  if (JsonObject* spec = part_to_edit(document, "spec"); spec != nullptr && is_settled)
    spec->erase("tolerations");
  return made_with(kind, document, PodView::of(document, &templates), is_settled);
}

std::span<const Kept> kept_by_scheduler(const Kind& kind) {
  if (&kind == &kinds::pod()) return kPod;
  if (&kind == &kinds::node()) return kNode;
  const bool is_owner =
      (kind.group == "apps" && (kind.kind == "ReplicaSet" || kind.kind == "StatefulSet")) ||
      (kind.group.empty() && kind.kind == "ReplicationController");
  return is_owner ? std::span<const Kept>(kOwner) : std::span<const Kept>(kWithoutBookkeeping);
}

std::span<const Kept> kept_by_controllers(const Kind& /*kind*/) { return kWithoutBookkeeping; }

}  // namespace muster::api
