#include "sim/pretend_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/values/string_pairs.h"
#include "api/views/pod_view.h"
#include "base/log.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

// Of an annotation, in the log: an annotation may have 256 KiB.
constexpr int kQuoteMax = 64;

Json condition(std::string_view type, bool status, Time now, std::string_view reason) {
  JsonObject made{{"type", type}, {"status", status ? "True" : "False"}};
  made["lastProbeTime"] = nullptr;
  made["lastTransitionTime"] = format_time(now);
  if (!reason.empty()) made["reason"] = reason;
  return made;
}

JsonObject terminated(std::int64_t code, Time started, Time finished) {
  return {{"terminated", JsonObject{{"exitCode", code},
                                    {"reason", code == 0 ? "Completed" : "Error"},
                                    {"startedAt", format_time(started)},
                                    {"finishedAt", format_time(finished)}}}};
}

JsonObject container_state(const Containers& containers, std::string_view name,
                           const api::Object& pod, Time now) {
  if (containers.ended) return terminated(*containers.ended, containers.started, now);
  if (!containers.waiting)
    return {{"running", JsonObject{{"startedAt", format_time(containers.started)}}}};
  const auto pause =
      std::chrono::duration_cast<std::chrono::seconds>(restart_pause(containers.restarts));
  return {{"waiting",
           JsonObject{{"reason", "CrashLoopBackOff"},
                      {"message", fmt::format("back-off {}s restarting failed container={} pod={}",
                                              pause.count(), name, api::key_text(pod.meta()))}}}};
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
JsonArray container_statuses(const api::Object& pod, const Json& document, std::string_view list,
                             const Containers& containers, Time now) {
  JsonArray statuses;
  const bool running = !containers.ended && !containers.waiting;
  for (const Json& container : api::elements(api::part_of(document, "spec"), list)) {
    const std::string_view image = api::find_string(container, "image");
    const std::string_view name = api::find_string(container, "name");
    JsonObject status{{"name", name},
                      {"state", container_state(containers, name, pod, now)},
                      {"ready", running},
                      {"started", running},
                      {"restartCount", containers.restarts},
                      {"image", image},
                      {"imageID", fmt::format("pretend://{}", image)}};
    if (containers.last)
      status["lastState"] =
          terminated(containers.last->code, containers.last->started, containers.last->ended);
    if (running) add_resources(container, status);
    statuses.push_back(std::move(status));
  }
  return statuses;
}

// The part of a pod's status that its containers decide.
JsonObject containers_part(const api::Object& pod, const Json& document,
                           const Containers& containers, Time now) {
  JsonObject status;
  const Containers done{.ended = 0, .started = containers.started};
  JsonArray init = container_statuses(pod, document, "initContainers", done, now);
  if (!init.empty()) status["initContainerStatuses"] = std::move(init);
  status["containerStatuses"] = container_statuses(pod, document, "containers", containers, now);
  // These are there to look inside: nothing restarts them.
  const Containers lookers{.ended = containers.ended, .started = containers.started};
  JsonArray ephemeral = container_statuses(pod, document, "ephemeralContainers", lookers, now);
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
        "pod {}: annotation {}: \"{:.{}}{}\" is no length of time such as 30s; ignored",
        api::key_text(pod.meta()), annotation, *text, kQuoteMax,
        text->size() > std::size_t{kQuoteMax} ? "…" : "");
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

std::int64_t exit_code(const api::Object& pod, std::int64_t restarts) {
  const std::string* text = api::lookup(pod.meta().annotations, kExitCodeAnnotation);
  if (text == nullptr) return 0;
  std::string_view codes = *text;
  for (; restarts > 0 && codes.find(',') != std::string_view::npos; --restarts)
    codes.remove_prefix(codes.find(',') + 1);
  codes.remove_prefix(std::min(codes.find_first_not_of(' '), codes.size()));
  std::int64_t code = 0;
  std::from_chars(codes.data(), codes.data() + codes.size(), code);
  return code;
}

bool restarts_after(const api::Object& pod, std::int64_t code) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"spec"});
  const std::string_view policy = api::find_string(api::part_of(document, "spec"), "restartPolicy");
  return policy == "Always" || (policy == "OnFailure" && code != 0);
}

Duration restart_pause(std::int64_t restarts) {
  constexpr std::int64_t kFirst = 10;
  constexpr std::int64_t kMax = 300;
  if (restarts <= 0) return Duration{0};
  return std::chrono::seconds{std::min(kFirst << std::min<std::int64_t>(restarts - 1, 10), kMax)};
}

Json pod_status(const api::Object& pod, const Containers& containers, Time now) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"spec"});
  const bool running = !containers.ended && !containers.waiting;
  JsonObject status = containers_part(pod, document, containers, now);
  status["phase"] = !containers.ended ? "Running" : *containers.ended == 0 ? "Succeeded" : "Failed";
  const std::string_view idle = running              ? ""
                                : containers.waiting ? "ContainersNotReady"
                                                     : "PodCompleted";
  const std::string_view done = containers.ended ? "PodCompleted" : "";
  status["conditions"] =
      JsonArray{condition("PodReadyToStartContainers", !containers.ended, now, ""),
                condition("Initialized", true, now, done), condition("Ready", running, now, idle),
                condition("ContainersReady", running, now, idle)};
  status["observedGeneration"] = pod.meta().generation;
  return status;
}

Json changed_status(const api::Object& pod, const Containers& containers, Time now) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"spec"});
  JsonObject status = containers_part(pod, document, containers, now);
  status["observedGeneration"] = pod.meta().generation;
  return status;
}

std::int64_t restart_count(const api::Object& pod) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"status"});
  std::int64_t count = 0;
  for (const Json& container : api::elements(api::part_of(document, "status"), "containerStatuses"))
    count = std::max(count, api::find_integer(container, "restartCount").value_or(0));
  return count;
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

std::string pod_address(const api::Object& pod) {
  const Json document = pod.document();
  const Json* const status = api::find(document, "status");
  return status == nullptr ? "" : std::string(api::find_string(*status, "podIP"));
}

}  // namespace muster::sim
