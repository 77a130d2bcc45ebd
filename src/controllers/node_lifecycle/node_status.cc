#include "controllers/node_lifecycle/node_status.h"

#include <array>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/views/condition.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "client/client.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::array<std::string_view, 4> kKubeletConditions = {"Ready", "MemoryPressure",
                                                                "DiskPressure", "PIDPressure"};

api::Request status_patch(const api::Object& object, JsonArray conditions) {
  return client::patch_request(
      object.kind(), object.meta().name_space, object.meta().name, "status",
      api::PatchType::StrategicMerge,
      JsonObject{{"metadata", JsonObject{{"uid", object.meta().uid}}},
                 {"status", JsonObject{{"conditions", std::move(conditions)}}}});
}

std::string_view label(const api::Object& node, std::string_view key) {
  const std::string* value = api::lookup(node.meta().labels, key);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

}  // namespace

Readiness readiness(const api::Object& node) {
  const api::Condition* ready = api::lookup(node.view<api::NodeView>().conditions, "Ready");
  if (ready == nullptr) return Readiness::Unsaid;
  if (ready->status == "True") return Readiness::True;
  return ready->status == "False" ? Readiness::False : Readiness::Unknown;
}

std::string heartbeat_text(const api::Object& node) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, node, {"status"});
  for (const Json& condition : api::elements(api::part_of(document, "status"), "conditions"))
    if (api::find_string(condition, "type") == "Ready")
      return std::string(api::find_string(condition, "lastHeartbeatTime"));
  return "";
}

std::optional<api::Request> declare_silent(const api::Object& node, Time now) {
  const auto& said = node.view<api::NodeView>().conditions;
  JsonArray conditions;
  for (const std::string_view type : kKubeletConditions) {
    const api::Condition* current = api::lookup(said, type);
    if (current != nullptr && current->status == "Unknown") continue;
    JsonObject condition{{"type", type},
                         {"status", "Unknown"},
                         {"reason", "NodeStatusUnknown"},
                         {"message", "Kubelet stopped posting node status."},
                         {"lastTransitionTime", format_time(now)}};
    if (current == nullptr) {
      condition["reason"] = "NodeStatusNeverUpdated";
      condition["message"] = "Kubelet never posted node status.";
      condition["lastHeartbeatTime"] = format_time(node.meta().creation_time.value_or(now));
    }
    conditions.push_back(std::move(condition));
  }
  if (conditions.empty()) return std::nullopt;
  return status_patch(node, std::move(conditions));
}

std::optional<api::Request> declare_not_ready(const api::Object& pod, Time now) {
  const api::Condition* ready = pod.view<api::PodView>().condition("Ready");
  if (ready == nullptr || ready->status == "False") return std::nullopt;
  return status_patch(
      pod, JsonArray{JsonObject{
               {"type", "Ready"}, {"status", "False"}, {"lastTransitionTime", format_time(now)}}});
}

std::string zone_of(const api::Object& node) {
  std::string zone(label(node, "topology.kubernetes.io/region"));
  zone += '/';
  zone += label(node, "topology.kubernetes.io/zone");
  return zone;
}

}  // namespace muster::controllers
