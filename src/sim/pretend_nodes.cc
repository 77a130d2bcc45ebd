#include "sim/pretend_nodes.h"

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
using std::chrono::seconds;

constexpr std::size_t kCreatesInFlight = 500;
constexpr Duration kRetryAfter = seconds{1};
// All pretend nodes together renew at most this many leases a second, so that a large pretend
// cluster does not spend its machine on pretending to be alive.
constexpr std::size_t kHeartbeatsPerSecond = 20;
constexpr Duration kHeartbeatPeriodMin = seconds{10};

// The length of time an annotation of the pod gives; a text that is none counts as absent and is
// logged.
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

std::int64_t exit_code(const api::Object& pod) {
  const std::string* text = api::lookup(pod.meta().annotations, kExitCodeAnnotation);
  std::int64_t code = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), code);
  return code;
}

Json condition(std::string_view type, bool status, Time now, std::string_view reason) {
  JsonObject made{{"type", type}, {"status", status ? "True" : "False"}};
  made["lastProbeTime"] = nullptr;
  made["lastTransitionTime"] = format_time(now);
  if (!reason.empty()) made["reason"] = reason;
  return made;
}

// What a healthy kubelet reports about itself.
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

// The status of a pod whose containers run (code absent) or have ended with a code.
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

// What changes in the status of a running pod when its spec does: containers were resized, or one
// was added to look inside.
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

// An address in 10.0.0.0/8, so that columns have something to show.
std::string pretend_address(std::uint32_t number) {
  return fmt::format("10.{}.{}.{}", (number >> 16U) & 0xFFU, (number >> 8U) & 0xFFU,
                     number & 0xFFU);
}

// The number of such an address; none if it is another's.
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

constexpr std::uint32_t kPodAddresses = 0x800000U;

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

PretendNodes::PretendNodes(ClusterShape shape, client::Send send) : send_(std::move(send)) {
  add(shape);
}

void PretendNodes::add(const ClusterShape& shape) {
  std::vector<Json> more = node_documents(shape);
  std::ranges::reverse(more);
  to_create_.insert(to_create_.begin(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
}

std::vector<const api::Kind*> PretendNodes::watched_kinds() {
  return {&api::kinds::node(), &api::kinds::pod()};
}

void PretendNodes::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input)) {
    if (&event->object->kind() == &api::kinds::node())
      take_in_node(*event, now);
    else
      take_in_pod(*event, now);
  } else if (const auto* called = std::get_if<client::Called>(&input)) {
    take_in_outcome(*called, now);
  } else {
    // Only now is it known which nodes an earlier run has left behind.
    synced_ = true;
    std::erase_if(to_create_, [this](const Json& node) {
      return nodes_.contains(std::string_view(api::find_path(node, "metadata.name")->as_string()));
    });
    for (auto& [uid, pod] : pods_) step(uid, pod, now);
  }
}

void PretendNodes::take_in_node(const client::Event& event, Time now) {
  const std::string& name = event.object->meta().name;
  const std::string* mark = api::lookup(event.object->meta().annotations, kPretendAnnotation);
  if (event.type == client::Event::Type::Deleted || mark == nullptr || *mark != kPretendValue) {
    nodes_.erase(name);
    return;
  }
  if (nodes_.insert_or_assign(name, event.object).second) {
    if (std::string address = internal_address(*event.object); !address.empty()) {
      if (const auto number = address_number(address); number && *number < kPodAddresses)
        next_node_address_ = std::max(next_node_address_, *number + 1);
      addresses_.insert_or_assign(name, std::move(address));
    }
    // The first heartbeats are spread over a period, so that they never come in waves.
    const Duration period = heartbeat_period();
    const auto slot = static_cast<std::int64_t>(nodes_.size());
    timers_.emplace(now + Duration{slot * 50'000 % period.count()},
                    Timer{Timer::What::Heartbeat, name});
    for (auto& [uid, pod] : pods_)
      if (pod.node == name) step(uid, pod, now);
  }
}

void PretendNodes::take_in_pod(const client::Event& event, Time now) {
  const std::string& uid = event.object->meta().uid;
  if (event.type == client::Event::Type::Deleted) {
    pods_.erase(uid);
    return;
  }
  auto at = pods_.find(uid);
  if (at == pods_.end()) {
    const auto& view = event.object->view<api::PodView>();
    if (view.node_name.empty()) return;
    at = pods_.try_emplace(uid).first;
    at->second.node = view.node_name;
    at->second.started = now;
    // A pod an earlier run has left behind goes on where it was.
    if (view.phase == "Running") {
      at->second.stage = Stage::Running;
      at->second.started = start_time(*event.object).value_or(now);
      at->second.generation = observed_generation(*event.object);
      at->second.address = pod_address(*event.object);
      if (const auto number = address_number(at->second.address);
          number && *number >= kPodAddresses)
        next_pod_address_ = std::max(next_pod_address_, *number - kPodAddresses + 1);
      if (const auto run_time = annotated_duration(*event.object, kRunTimeAnnotation))
        timers_.emplace(at->second.started + *run_time, Timer{Timer::What::End, uid});
    } else if (view.is_terminal()) {
      at->second.stage = Stage::Ended;
    }
  }
  at->second.object = event.object;
  step(uid, at->second, now);
}

// Takes a pod one step further, if its node is ours and there is a step to take.
void PretendNodes::step(const std::string& uid, Pod& pod, Time now) {
  if (!nodes_.contains(pod.node)) return;
  const api::ObjectMeta& meta = pod.object->meta();
  if (meta.deletion_time) {
    if (pod.stage >= Stage::Stopping) return;
    const bool ended = pod.stage == Stage::Ended;
    pod.stage = Stage::Stopping;
    const Duration asked =
        ended ? Duration{0}
              : annotated_duration(*pod.object, kStopTimeAnnotation).value_or(Duration{0});
    const Duration grace = seconds{meta.deletion_grace_s.value_or(0)};
    timers_.emplace(now + std::min(asked, grace), Timer{Timer::What::Remove, uid});
  } else if (pod.stage == Stage::Bound && synced_) {  // before, taken addresses are not known
    pod.stage = Stage::Running;
    pod.started = now;
    pod.generation = meta.generation;
    JsonObject status = pod_status(*pod.object, std::nullopt, now, now).as_object();
    if (pod.address.empty()) pod.address = pretend_address(kPodAddresses + next_pod_address_++);
    status["startTime"] = format_time(now);
    status["hostIP"] = node_address(pod.node);
    status["hostIPs"] = JsonArray{JsonObject{{"ip", node_address(pod.node)}}};
    status["podIP"] = pod.address;
    status["podIPs"] = JsonArray{JsonObject{{"ip", pod.address}}};
    patch_status(uid, *pod.object, std::move(status));
    if (const auto run_time = annotated_duration(*pod.object, kRunTimeAnnotation))
      timers_.emplace(now + *run_time, Timer{Timer::What::End, uid});
  } else if (pod.stage == Stage::Running && meta.generation > pod.generation && synced_) {
    pod.generation = meta.generation;
    patch_status(uid, *pod.object, changed_status(*pod.object, pod.started, now));
  }
}

void PretendNodes::take_in_outcome(const client::Called& called, Time now) {
  const auto at = calls_.find(called.ticket);
  if (at == calls_.end()) return;
  const Call call = std::move(at->second);
  calls_.erase(at);
  if (call.what == Call::What::CreateNode) --creating_;
  if (called.outcome) return;
  const Error& error = called.outcome.error();
  if (call.what == Call::What::Heartbeat) {  // the next one comes anyway; a lost lease is made anew
    if (error.reason == Reason::NotFound) leases_.erase(call.key);
    return;
  }
  if (error.reason == Reason::AlreadyExists || error.reason == Reason::NotFound) return;
  if (call.what == Call::What::CreateNode) {
    log(LogLevel::Error, "cannot create node {}: {}", call.key, error.message);
    return;
  }
  // The write was refused for now; the pod is taken through its step again a little later.
  log(LogLevel::Debug, "pretend node: {}: {}; trying again", call.key, error.message);
  timers_.emplace(now + kRetryAfter, Timer{call.again, call.key});
}

std::size_t PretendNodes::run_once(Time now, std::size_t limit) {
  std::size_t done = 0;
  while (synced_ && done < limit && !to_create_.empty() && creating_ < kCreatesInFlight) {
    create_node(std::move(to_create_.back()), now);
    to_create_.pop_back();
    ++done;
  }
  while (done < limit && !timers_.empty() && timers_.begin()->first <= now) {
    const Timer timer = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    fire(timer, now);
    ++done;
  }
  return done;
}

std::optional<Time> PretendNodes::next_deadline() const {
  if (synced_ && !to_create_.empty() && creating_ < kCreatesInFlight) return Time{};
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first;
}

void PretendNodes::fire(const Timer& timer, Time now) {
  if (timer.what == Timer::What::Heartbeat) {
    heartbeat(timer.key, now);
    return;
  }
  const auto at = pods_.find(timer.key);
  if (at == pods_.end()) return;
  Pod& pod = at->second;
  switch (timer.what) {
    case Timer::What::Heartbeat: break;
    case Timer::What::Start:
      if (pod.stage == Stage::Running) pod.stage = Stage::Bound;
      step(timer.key, pod, now);
      break;
    case Timer::What::End:
      if (pod.stage != Stage::Running && pod.stage != Stage::Ended) break;
      pod.stage = Stage::Ended;
      patch_status(timer.key, *pod.object,
                   pod_status(*pod.object, exit_code(*pod.object), pod.started, now),
                   Timer::What::End);
      break;
    case Timer::What::Remove: {
      pod.stage = Stage::Removing;
      if (!pod.object->view<api::PodView>().is_terminal())
        patch_status(timer.key, *pod.object, pod_status(*pod.object, 0, pod.started, now),
                     Timer::What::Remove);
      send(client::delete_request(*pod.object, 0),
           {Call::What::RemovePod, timer.key, Timer::What::Remove});
      break;
    }
  }
}

void PretendNodes::create_node(Json node, Time now) {
  JsonObject& status = api::ensure_object(node.as_object(), "status");
  if (!status.contains("capacity") && status.contains("allocatable"))
    status.emplace("capacity", Json(status.at("allocatable")));
  const std::string name(api::find_path(node, "metadata.name")->as_string());
  status["conditions"] = node_conditions(now);
  status["addresses"] =
      JsonArray{JsonObject{{"type", "InternalIP"}, {"address", node_address(name)}},
                JsonObject{{"type", "Hostname"}, {"address", name}}};
  status["nodeInfo"] = JsonObject{{"kubeletVersion", "v1.37.0-pretend"},
                                  {"operatingSystem", "linux"},
                                  {"architecture", "amd64"},
                                  {"osImage", "pretend"},
                                  {"kernelVersion", "pretend"},
                                  {"containerRuntimeVersion", "pretend://1"}};
  ++creating_;
  send(client::create_request(api::kinds::node(), "", std::move(node)),
       {Call::What::CreateNode, name, {}});
}

void PretendNodes::heartbeat(const std::string& node, Time now) {
  if (!nodes_.contains(node)) return;
  const Duration period = heartbeat_period();
  timers_.emplace(now + period, Timer{Timer::What::Heartbeat, node});
  const auto lease_s = std::chrono::duration_cast<seconds>(period).count() * 4;
  JsonObject spec{{"holderIdentity", node},
                  {"leaseDurationSeconds", lease_s},
                  {"renewTime", format_micro_time(now)}};
  constexpr std::string_view kNamespace = "kube-node-lease";
  if (leases_.insert(node).second) {
    send(client::create_request(
             api::kinds::lease(), kNamespace,
             JsonObject{{"metadata", JsonObject{{"name", node}, {"namespace", kNamespace}}},
                        {"spec", std::move(spec)}}),
         {Call::What::Heartbeat, node, Timer::What::Heartbeat});
    return;
  }
  send(client::patch_request(api::kinds::lease(), kNamespace, node, "", api::PatchType::Merge,
                             JsonObject{{"spec", std::move(spec)}}),
       {Call::What::Heartbeat, node, Timer::What::Heartbeat});
}

void PretendNodes::patch_status(const std::string& uid, const api::Object& pod, Json status,
                                Timer::What again) {
  send(client::patch_request(api::kinds::pod(), pod.meta().name_space, pod.meta().name, "status",
                             api::PatchType::StrategicMerge,
                             JsonObject{{"metadata", JsonObject{{"uid", pod.meta().uid}}},
                                        {"status", std::move(status)}}),
       {Call::What::PodStatus, uid, again});
}

void PretendNodes::send(api::Request request, Call call) {
  const std::uint64_t ticket = next_ticket_++;
  calls_.emplace(ticket, std::move(call));
  send_(std::move(request), ticket);
}

const std::string& PretendNodes::node_address(const std::string& node) {
  const auto [at, fresh] = addresses_.try_emplace(node);
  if (fresh) at->second = pretend_address(next_node_address_++);
  return at->second;
}

Duration PretendNodes::heartbeat_period() const {
  const auto needed = seconds{static_cast<std::int64_t>(nodes_.size() / kHeartbeatsPerSecond)};
  return std::max<Duration>(kHeartbeatPeriodMin, needed);
}

}  // namespace muster::sim
