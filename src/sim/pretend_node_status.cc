#include "sim/pretend_node_status.h"

#include <span>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/views/condition.h"
#include "api/views/node_view.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kNotReadyReason = "KubeletNotReady";

struct Amount {
  std::string_view resource, value;
};
// Of a node that says nothing about itself.
constexpr Amount kMachine[] = {{"cpu", "32"}, {"memory", "256Gi"}};
// What every node has, whatever else is said of it.
constexpr Amount kAlways[] = {{"ephemeral-storage", "100Gi"}, {"pods", "110"}};

struct Row {
  std::string_view type, status, reason, message;
};
constexpr Row kHealthy[] = {
    {"MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"Ready", "True", "KubeletReady", "pretend kubelet is posting ready status"}};
constexpr Row kFailing = {"Ready", "False", kNotReadyReason,
                          "pretend kubelet was made to fail by annotation muster.dev/fail"};

JsonObject condition(const Row& row, Time now) {
  return {{"type", row.type},
          {"status", row.status},
          {"lastHeartbeatTime", format_time(now)},
          {"lastTransitionTime", format_time(now)},
          {"reason", row.reason},
          {"message", row.message}};
}

JsonArray healthy_conditions(Time now) {
  JsonArray out;
  for (const Row& row : kHealthy) out.push_back(condition(row, now));
  return out;
}

void add_missing(JsonObject& amounts, std::span<const Amount> more) {
  for (const Amount& amount : more)
    if (!amounts.contains(amount.resource)) amounts[amount.resource] = amount.value;
}

void fill_amounts(JsonObject& status) {
  const bool silent = !status.contains("capacity") && !status.contains("allocatable");
  if (!status.contains("allocatable"))
    status["allocatable"] = status.contains("capacity") ? status.at("capacity") : JsonObject();
  if (!status.contains("capacity")) status["capacity"] = status.at("allocatable");
  for (const std::string_view member : {"capacity", "allocatable"}) {
    JsonObject& amounts = api::ensure_object(status, member);
    if (silent) add_missing(amounts, kMachine);
    add_missing(amounts, kAlways);
  }
}

// Whether the pretend kubelet wrote, or somebody wrote for it, what it can take back.
bool may_speak(const api::Condition* ready) {
  return ready == nullptr || ready->status == "Unknown" || ready->reason == kNotReadyReason;
}

}  // namespace

void fill_node_status(JsonObject& status, std::string_view name, std::string_view address,
                      Time now) {
  fill_amounts(status);
  status["conditions"] = healthy_conditions(now);
  status["addresses"] = JsonArray{JsonObject{{"type", "InternalIP"}, {"address", address}},
                                  JsonObject{{"type", "Hostname"}, {"address", name}}};
  status["nodeInfo"] = JsonObject{{"kubeletVersion", "v1.37.0-pretend"},
                                  {"operatingSystem", "linux"},
                                  {"architecture", "amd64"},
                                  {"osImage", "pretend"},
                                  {"kernelVersion", "pretend"},
                                  {"containerRuntimeVersion", "pretend://1"}};
}

std::optional<Json> node_report(const api::Object& node, std::string_view address, Time now) {
  const api::PretendHealth health = api::pretend_health(node.meta().annotations);
  const api::Condition* const ready = api::lookup(node.view<api::NodeView>().conditions, "Ready");
  switch (health) {
    case api::PretendHealth::Silent: return std::nullopt;
    case api::PretendHealth::NotReady:
      if (ready != nullptr && ready->status == "False") return std::nullopt;
      return JsonObject{{"conditions", JsonArray{condition(kFailing, now)}}};
    case api::PretendHealth::Healthy: break;
  }
  if ((ready != nullptr && ready->status == "True") || !may_speak(ready)) return std::nullopt;
  if (ready != nullptr) return JsonObject{{"conditions", healthy_conditions(now)}};
  const Json document = node.document();
  JsonObject status = api::members(document, "status");
  fill_node_status(status, node.meta().name, address, now);
  return status;
}

std::string internal_address(const api::Object& node) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, node, {"status"});
  for (const Json& address : api::elements(api::part_of(document, "status"), "addresses"))
    if (api::find_string(address, "type") == "InternalIP")
      return std::string(api::find_string(address, "address"));
  return "";
}

}  // namespace muster::sim
