#include "sim/pretend_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "api/scratch.h"
#include "api/values/string_pairs.h"
#include "api/views/pod_view.h"
#include "base/log.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

Json condition(std::string_view type, bool status, Time now, std::string_view reason) {
  JsonObject made{{"type", type}, {"status", status ? "True" : "False"}};
  made["lastProbeTime"] = nullptr;
  made["lastTransitionTime"] = format_time(now);
  if (!reason.empty()) made["reason"] = reason;
  return made;
}

JsonObject container_state(bool running, std::int64_t code, Time started, Time now) {
  if (running) return {{"running", JsonObject{{"startedAt", format_time(started)}}}};
  return {{"terminated", JsonObject{{"exitCode", code},
                                    {"reason", code == 0 ? "Completed" : "Error"},
                                    {"startedAt", format_time(started)},
                                    {"finishedAt", format_time(now)}}}};
}

// What a running container has got. The pretend node has what it takes, so a resize is done as soon
// as it is seen.
void add_resources(const Json& container, JsonObject& status) {
  const JsonObject* const resources = api::find_object(container, "resources");
  if (resources == nullptr || resources->empty()) return;
  status["resources"] = *resources;
  if (const Json* requests = resources->if_contains("requests"))
    status["allocatedResources"] = *requests;
}

// The statuses of one list of containers of the pod's spec.
JsonArray container_statuses(const Json& document, std::string_view list, bool running,
                             std::int64_t code, Time started, Time now) {
  JsonArray statuses;
  const Json* spec = api::find(document, "spec");
  const JsonArray* containers = spec == nullptr ? nullptr : api::find_array(*spec, list);
  if (containers == nullptr) return statuses;
  for (const Json& container : *containers) {
    const std::string_view image = api::find_string(container, "image");
    JsonObject status{{"name", api::find_string(container, "name")},
                      {"state", container_state(running, code, started, now)},
                      {"ready", running},
                      {"started", running},
                      {"restartCount", 0},
                      {"image", image},
                      {"imageID", fmt::format("pretend://{}", image)}};
    if (running) add_resources(container, status);
    statuses.push_back(std::move(status));
  }
  return statuses;
}

// The part of a pod's status that its containers decide: they run (code absent) or have ended.
JsonObject containers_part(const Json& document, std::optional<std::int64_t> code, Time started,
                           Time now) {
  const bool running = !code.has_value();
  JsonObject status;
  JsonArray init = container_statuses(document, "initContainers", false, 0, started, now);
  if (!init.empty()) status["initContainerStatuses"] = std::move(init);
  status["containerStatuses"] =
      container_statuses(document, "containers", running, code.value_or(0), started, now);
  JsonArray ephemeral =
      container_statuses(document, "ephemeralContainers", running, code.value_or(0), started, now);
  if (!ephemeral.empty()) status["ephemeralContainerStatuses"] = std::move(ephemeral);
  return status;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ms", 1e3}, {"us", 1.0}, {"h", 3600e6}, {"m", 60e6}, {"s", 1e6}};
  if (text.empty()) return std::nullopt;
  double micros = 0;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !(number >= 0) || number > 1e9) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) {  // a bare number counts seconds
      micros += number * 1e6;
      break;
    }
    const auto unit =
        std::ranges::find_if(kUnits, [&](const auto& u) { return text.starts_with(u.first); });
    if (unit == std::end(kUnits)) return std::nullopt;
    micros += number * unit->second;
    text.remove_prefix(unit->first.size());
  }
  return Duration{static_cast<std::int64_t>(micros)};
}

std::optional<Duration> annotated_duration(const api::Object& pod, std::string_view annotation) {
  const std::string* text = api::lookup(pod.meta().annotations, annotation);
  if (text == nullptr) return std::nullopt;
  const std::optional<Duration> duration = parse_duration(*text);
  if (!duration)
    log(LogLevel::Warning,
        "pod {}: annotation {}: \"{}\" is no length of time such as 30s; ignored",
        api::key_text(pod.meta()), annotation, *text);
  return duration;
}

std::optional<Duration> run_time(const api::Object& pod) {
  const std::string* text = api::lookup(pod.meta().annotations, kRunTimeAnnotation);
  if (text != nullptr && *text == kForever) return std::nullopt;
  if (text != nullptr) return annotated_duration(pod, kRunTimeAnnotation);
  const bool of_job = std::ranges::any_of(pod.meta().owners, [](const api::OwnerReference& owner) {
    return owner.controller && owner.kind == "Job";
  });
  return of_job ? std::optional(kJobRunTime) : std::nullopt;
}

std::int64_t exit_code(const api::Object& pod) {
  const std::string* text = api::lookup(pod.meta().annotations, kExitCodeAnnotation);
  std::int64_t code = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), code);
  return code;
}

Json node_conditions(Time now) {
  struct Row {
    std::string_view type, status, reason, message;
  };
  constexpr Row kRows[] = {
      {"MemoryPressure", "False", "KubeletHasSufficientMemory",
       "kubelet has sufficient memory available"},
      {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
      {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
      {"Ready", "True", "KubeletReady", "pretend kubelet is posting ready status"}};
  JsonArray conditions;
  for (const Row& row : kRows)
    conditions.push_back(JsonObject{{"type", row.type},
                                    {"status", row.status},
                                    {"lastHeartbeatTime", format_time(now)},
                                    {"lastTransitionTime", format_time(now)},
                                    {"reason", row.reason},
                                    {"message", row.message}});
  return conditions;
}

Json pod_status(const api::Object& pod, std::optional<std::int64_t> code, Time started, Time now) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"spec"});
  const bool running = !code.has_value();
  JsonObject status = containers_part(document, code, started, now);
  status["phase"] = running ? "Running" : *code == 0 ? "Succeeded" : "Failed";
  const std::string_view idle = running ? "" : "PodCompleted";
  status["conditions"] =
      JsonArray{condition("PodReadyToStartContainers", running, now, ""),
                condition("Initialized", true, now, idle), condition("Ready", running, now, idle),
                condition("ContainersReady", running, now, idle)};
  status["observedGeneration"] = pod.meta().generation;
  return status;
}

Json changed_status(const api::Object& pod, Time started, Time now) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"spec"});
  JsonObject status = containers_part(document, std::nullopt, started, now);
  status["observedGeneration"] = pod.meta().generation;
  return status;
}

std::int64_t observed_generation(const api::Object& pod) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"status"});
  const Json* const observed = api::find_path(document, "status.observedGeneration");
  return observed != nullptr && observed->is_int64() ? observed->get_int64() : 0;
}

std::optional<Time> start_time(const api::Object& pod) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"status"});
  const Json* start = api::find_path(document, "status.startTime");
  if (start == nullptr || !start->is_string()) return std::nullopt;
  return parse_time(start->get_string());
}

std::string pretend_address(std::uint32_t number) {
  return fmt::format("10.{}.{}.{}", (number >> 16U) & 0xFFU, (number >> 8U) & 0xFFU,
                     number & 0xFFU);
}

std::optional<std::uint32_t> address_number(std::string_view address) {
  constexpr std::string_view kNet = "10.";
  if (!address.starts_with(kNet)) return std::nullopt;
  std::uint32_t number = 0;
  const char* at = address.data() + kNet.size();
  const char* const end = address.data() + address.size();
  for (int part = 0; part < 3; ++part) {
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || value > 0xFFU) return std::nullopt;
    number = number << 8U | value;
    if (part < 2 && (stop == end || *stop != '.')) return std::nullopt;
    at = stop + (part < 2 ? 1 : 0);
  }
  return at == end ? std::optional(number) : std::nullopt;
}

std::string internal_address(const api::Object& node) {
  const Json document = node.document();
  const Json* const addresses = api::find_path(document, "status.addresses");
  if (addresses == nullptr || !addresses->is_array()) return "";
  for (const Json& address : addresses->get_array())
    if (api::find_string(address, "type") == "InternalIP")
      return std::string(api::find_string(address, "address"));
  return "";
}

std::string pod_address(const api::Object& pod) {
  const Json document = pod.document();
  const Json* const status = api::find(document, "status");
  return status == nullptr ? "" : std::string(api::find_string(*status, "podIP"));
}

}  // namespace muster::sim
