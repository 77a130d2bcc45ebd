#include "sim/pretend_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/values/string_pairs.h"
#include "api/views/pod_view.h"
#include "base/log.h"
#include "sim/pretend_status.h"

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

constexpr std::uint32_t kPodAddresses = 0x800000U;

}  // namespace

PretendNodes::PretendNodes(const ClusterShape& shape, client::ComponentContext context)
    : calls_(std::move(context.send), context.metrics) {
  add(shape);
}

void PretendNodes::add(const ClusterShape& shape) {
  std::vector<Json> more = node_documents(shape);
  std::ranges::reverse(more);
  to_create_.insert(to_create_.begin(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
}

api::User PretendNodes::user() {
  return {.name = "system:node:pretend", .groups = {"system:nodes", "system:authenticated"}};
}

std::vector<const api::Kind*> PretendNodes::watched_kinds() const {
  return {&api::kinds::node(), &api::kinds::pod()};
}

void PretendNodes::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input)) {
    if (&event->object->kind() == &api::kinds::node())
      on_node(*event, now);
    else
      on_pod(*event, now);
  } else if (const auto* called = std::get_if<client::Called>(&input)) {
    calls_.complete(called->ticket, called->outcome, now);
  } else {
    // Only now is it known which nodes an earlier run has left behind.
    synced_ = true;
    std::erase_if(to_create_, [this](const Json& node) {
      return nodes_.contains(std::string_view(api::find_path(node, "metadata.name")->as_string()));
    });
    for (auto& [uid, pod] : pods_) step(uid, pod, now);
  }
}

void PretendNodes::on_node(const client::Event& event, Time now) {
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

void PretendNodes::on_pod(const client::Event& event, Time now) {
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
      if (const auto length = run_time(*event.object))
        timers_.emplace(at->second.started + *length, Timer{Timer::What::End, uid});
    } else if (view.is_terminal()) {
      at->second.stage = Stage::Ended;
    }
  }
  at->second.object = event.object;
  step(uid, at->second, now);
}

// Moves a pod one step on, if its node is ours and there is a step to do.
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
    if (const auto length = run_time(*pod.object))
      timers_.emplace(now + *length, Timer{Timer::What::End, uid});
  } else if (pod.stage == Stage::Running && meta.generation > pod.generation && synced_) {
    pod.generation = meta.generation;
    patch_status(uid, *pod.object, changed_status(*pod.object, pod.started, now));
  }
}

void PretendNodes::on_outcome(const Call& call, const client::Outcome& outcome, Time now) {
  if (call.what == Call::What::CreateNode) --creating_;
  if (outcome) return;
  const Error& error = outcome.error();
  if (call.what ==
      Call::What::Heartbeat) {  // the next one comes anyway; a lost lease is made again
    if (error.reason == Reason::NotFound) leases_.erase(call.key);
    return;
  }
  if (error.reason == Reason::AlreadyExists || error.reason == Reason::NotFound) return;
  if (call.what == Call::What::CreateNode) {
    log(LogLevel::Error, "cannot create node {}: {}", call.key, error.message);
    return;
  }
  // The write was refused for now; its step is done again a little later.
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
        patch_status(timer.key, *pod.object,
                     pod_status(*pod.object, kStoppedCode, pod.started, now), Timer::What::Remove);
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
  calls_.send(std::move(request),
              [this, call = std::move(call)](const client::Outcome& outcome, Time now) {
                on_outcome(call, outcome, now);
              });
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
