#include "api/views/projection.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {
namespace {

// A member that is kept; of an object, or of each object in a list, only what stands below it, if
// anything does.
struct Kept {
  std::string_view name;
  std::span<const Kept> below = {};
};

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
constexpr Kept kContainerStatus[]{{"name"}, {"allocatedResources"}, {"resources"}};
constexpr Kept kPodStatus[]{{"phase"},
                            {"startTime"},
                            {"nominatedNodeName"},
                            {"conditions"},
                            {"allocatedResources"},
                            {"resources"},
                            {"containerStatuses", kContainerStatus},
                            {"initContainerStatuses", kContainerStatus}};
constexpr Kept kPod[]{{"metadata"}, {"spec", kPodSpec}, {"status", kPodStatus}};

constexpr Kept kNodeSpec[]{{"unschedulable"}, {"taints"}};
constexpr Kept kNodeStatus[]{{"allocatable"}, {"images"}, {"declaredFeatures"}, {"conditions"}};
constexpr Kept kNode[]{{"metadata"}, {"spec", kNodeSpec}, {"status", kNodeStatus}};

// What makes pods: only whom they select matters.
constexpr Kept kOwnerSpec[]{{"selector"}};
constexpr Kept kOwner[]{{"metadata"}, {"spec", kOwnerSpec}};

void keep(Json& value, std::span<const Kept> kept) {
  if (JsonArray* const items = value.if_array()) {
    for (Json& item : *items) keep(item, kept);
    return;
  }
  JsonObject* const object = value.if_object();
  if (object == nullptr) return;
  std::vector<std::string> dropped;
  for (JsonObject::value_type& member : *object) {
    const auto at = std::ranges::find(kept, std::string_view(member.key()), &Kept::name);
    if (at == kept.end())
      dropped.emplace_back(member.key());
    else if (!at->below.empty())
      keep(member.value(), at->below);
  }
  for (const std::string& name : dropped) object->erase(name);
}

std::span<const Kept> kept_of(const Kind& kind) {
  if (&kind == &kinds::pod()) return kPod;
  if (&kind == &kinds::node()) return kNode;
  const bool is_owner =
      (kind.group == "apps" && (kind.kind == "ReplicaSet" || kind.kind == "StatefulSet")) ||
      (kind.group.empty() && kind.kind == "ReplicationController");
  return is_owner ? std::span<const Kept>(kOwner) : std::span<const Kept>();
}

}  // namespace

void project_for_scheduler(const Kind& kind, Json& document) {
  if (JsonObject* const object = document.if_object())
    if (Json* const metadata = object->if_contains("metadata");
        metadata != nullptr && metadata->is_object()) {
      metadata->get_object().erase("managedFields");
      if (Json* const notes = metadata->get_object().if_contains("annotations");
          notes != nullptr && notes->is_object())
        notes->get_object().erase("kubectl.kubernetes.io/last-applied-configuration");
    }
  if (const std::span<const Kept> kept = kept_of(kind); !kept.empty()) keep(document, kept);
}

}  // namespace muster::api
