#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "api/tables/printer.h"

namespace muster::api::tables {
namespace {

constexpr Column kColumns[] = {
    kName,
    {.name = "Ready", .description = "Containers that are ready, of all."},
    {.name = "Status", .description = "What the pod is doing, or what keeps it from doing it."},
    {.name = "Restarts", .description = "How often containers were started again, and when last."},
    kAge,
    {.name = "IP", .description = "Address of the pod.", .priority = 1},
    {.name = "Node", .description = "Node the pod is bound to.", .priority = 1},
    {.name = "Nominated Node", .description = "Node being freed for the pod.", .priority = 1},
    {.name = "Readiness Gates",
     .description = "Extra conditions that hold, of all.",
     .priority = 1},
};

// What the containers of a pod add up to.
struct Summary {
  std::string reason;
  std::int64_t ready = 0;
  std::int64_t restarts = 0;
  std::optional<Time> restarted_at;

  void count_restarts(const Json& status) {
    restarts += integer(status, "restartCount");
    const Json& terminated = part(part(status, "lastState"), "terminated");
    if (terminated.is_null()) return;
    const std::optional<Time> at = time(terminated, "finishedAt");
    if (at && (!restarted_at || *restarted_at < *at)) restarted_at = at;
  }
};

// Why a container ended: its reason, else its signal, else its exit code.
std::string ending(const Json& terminated) {
  if (const std::string_view reason = find_string(terminated, "reason"); !reason.empty())
    return std::string(reason);
  if (const std::int64_t signal = integer(terminated, "signal"); signal != 0)
    return fmt::format("Signal:{}", signal);
  return fmt::format("ExitCode:{}", integer(terminated, "exitCode"));
}

bool is_sidecar(const Json& spec, std::string_view name) {
  return std::ranges::any_of(list(spec, "initContainers"), [&](const Json& container) {
    return find_string(container, "name") == name &&
           find_string(container, "restartPolicy") == "Always";
  });
}

// Goes through init containers up to the first that has not finished; true if there is one.
// `sidecars` receives the restarts that still count once the pod is initialized.
bool summarize_init(const Json& spec, const Json& status, Summary& summary, Summary& sidecars) {
  std::size_t index = 0;
  for (const Json& container : list(status, "initContainerStatuses")) {
    const std::size_t at = index++;
    const bool sidecar = is_sidecar(spec, find_string(container, "name"));
    summary.count_restarts(container);
    if (sidecar) sidecars.count_restarts(container);
    const Json& state = part(container, "state");
    const Json& terminated = part(state, "terminated");
    if (!terminated.is_null() && integer(terminated, "exitCode") == 0) continue;
    if (sidecar && truth(container, "started")) {
      if (truth(container, "ready")) ++summary.ready;
      continue;
    }
    const std::string_view waiting = find_string(part(state, "waiting"), "reason");
    if (!terminated.is_null())
      summary.reason = "Init:" + ending(terminated);
    else if (!waiting.empty() && waiting != "PodInitializing")
      summary.reason = fmt::format("Init:{}", waiting);
    else
      summary.reason = fmt::format("Init:{}/{}", at, list(spec, "initContainers").size());
    return true;
  }
  return false;
}

void summarize_containers(const Json& status, Summary& summary) {
  bool running = false;
  std::string failure;
  const JsonArray& containers = list(status, "containerStatuses");
  for (std::size_t i = containers.size(); i-- > 0;) {
    const Json& container = containers[i];
    summary.count_restarts(container);
    const Json& state = part(container, "state");
    const Json& terminated = part(state, "terminated");
    const std::string_view waiting = find_string(part(state, "waiting"), "reason");
    if (!waiting.empty()) {
      summary.reason = waiting;
    } else if (!terminated.is_null()) {
      summary.reason = ending(terminated);
      if (integer(terminated, "exitCode") != 0) failure = summary.reason;
    } else if (truth(container, "ready") && is_set(state, "running")) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.reason != "Completed") return;
  if (running && condition_is_true(status, "Ready"))
    summary.reason = "Running";
  else if (!failure.empty())
    summary.reason = failure;
  else if (running)
    summary.reason = "NotReady";
}

Summary summarize(const Object& object, const Json& spec, const Json& status) {
  Summary summary;
  const std::string_view phase = find_string(status, "phase");
  const std::string_view reason = find_string(status, "reason");
  summary.reason = reason.empty() ? phase : reason;
  if (const Json* scheduled = condition(status, "PodScheduled");
      scheduled != nullptr && find_string(*scheduled, "reason") == "SchedulingGated")
    summary.reason = "SchedulingGated";
  Summary sidecars;
  const bool initializing = summarize_init(spec, status, summary, sidecars);
  if (!initializing || condition_is_true(status, "Initialized")) {
    summary.restarts = sidecars.restarts;
    summary.restarted_at = sidecars.restarted_at;
    summarize_containers(status, summary);
  }
  if (!object.meta().deletion_time) return summary;
  if (reason == "NodeLost")
    summary.reason = "Unknown";
  else if (phase != "Succeeded" && phase != "Failed")
    summary.reason = "Terminating";
  return summary;
}

std::string readiness_text(const Json& spec, const Json& status) {
  const JsonArray& gates = list(spec, "readinessGates");
  if (gates.empty()) return "<none>";
  const auto open = std::ranges::count_if(gates, [&](const Json& gate) {
    return condition_is_true(status, find_string(gate, "conditionType"));
  });
  return fmt::format("{}/{}", open, gates.size());
}

void print_pod(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& status = part(document, "status");
  const Summary summary = summarize(object, spec, status);
  std::size_t total = list(spec, "containers").size();
  for (const Json& container : list(spec, "initContainers"))
    if (find_string(container, "restartPolicy") == "Always") ++total;

  cells.text(object.meta().name);
  cells.text(fmt::format("{}/{}", summary.ready, total));
  cells.text(summary.reason);
  if (summary.restarts != 0 && summary.restarted_at)
    cells.text(fmt::format("{} ({} ago)", summary.restarts, cells.age_text(summary.restarted_at)));
  else
    cells.text(std::to_string(summary.restarts));
  cells.age(object.meta().creation_time);
  const JsonArray& ips = list(status, "podIPs");
  cells.text_or(ips.empty() ? std::string_view() : find_string(ips.front(), "ip"), "<none>");
  cells.text_or(find_string(spec, "nodeName"), "<none>");
  cells.text_or(find_string(status, "nominatedNodeName"), "<none>");
  cells.text(readiness_text(spec, status));
}

std::string_view pod_conditions(const Json& document) {
  const std::string_view phase = find_string(part(document, "status"), "phase");
  if (phase == "Succeeded")
    return R"([{"type":"Completed","status":"True","reason":"Succeeded","message":"The pod has completed successfully."}])";
  if (phase == "Failed")
    return R"([{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}])";
  return {};
}

}  // namespace

std::span<const Printer> pod_printers() {
  static constexpr Printer kPrinters[] = {{"", "Pod", kColumns, print_pod, pod_conditions}};
  return kPrinters;
}

}  // namespace muster::api::tables
