#include "sim/pretend_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/values/pretend.h"
#include "api/values/string_pairs.h"
#include "api/views/pod_view.h"
#include "base/log.h"
#include "sim/pretend_node_status.h"
#include "sim/pretend_status.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using std::chrono::seconds;

constexpr std::size_t kCreatesInFlight = 500;
constexpr Duration kRetryAfter = seconds{1};
// Containers that ran this long are restarted without a pause, as if it had been the first time.
constexpr Duration kLongRun = std::chrono::minutes{10};

constexpr std::uint32_t kPodAddresses = 0x800000U;

bool is_silent(const api::Object& node) {
  return api::pretend_health(node.meta().annotations) == api::PretendHealth::Silent;
}

bool says_ready(const api::Object& pod) {
  const api::Condition* ready = pod.view<api::PodView>().condition("Ready");
  return ready != nullptr && ready->status == "True";
}

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
    for (auto& [name, node] : nodes_) report(node, now);
    for (auto& [uid, pod] : pods_) step(uid, pod, now);
  }
}

void PretendNodes::on_node(const client::Event& event, Time now) {
  const std::string& name = event.object->meta().name;
  if (event.type == client::Event::Type::Deleted ||
      !api::is_pretend(event.object->meta().annotations)) {
    nodes_.erase(name);
    return;
  }
  const auto [at, fresh] = nodes_.try_emplace(name);
  Node& node = at->second;
  node.object = event.object;
  const bool was_silent = std::exchange(node.silent, is_silent(*event.object));
  if (fresh) {
    if (std::string address = internal_address(*event.object); !address.empty()) {
      if (const auto number = address_number(address); number && *number < kPodAddresses)
        next_node_address_ = std::max(next_node_address_, *number + 1);
      addresses_.insert_or_assign(name, std::move(address));
    }
  }
  if (!synced_) return;
  report(node, now);
  if (!node.silent && (fresh || was_silent)) come_back(node, now);
}

// Writes what the kubelet has to say about its node, if that is not there already.
void PretendNodes::report(Node& node, Time now) {
  const api::Object& object = *node.object;
  const std::string& name = object.meta().name;
  const Call call{Call::What::NodeStatus, name, Timer::What::Report};
  if (node.silent) return;
  if (lacks_node_labels(object)) {
    JsonObject labels;
    for (const auto& [key, value] : object.meta().labels) labels[key] = value;
    add_node_labels(labels, name);
    send(client::patch_request(object.kind(), "", name, "", api::PatchType::StrategicMerge,
                               JsonObject{{"metadata", JsonObject{{"uid", object.meta().uid},
                                                                  {"labels", std::move(labels)}}}}),
         call);
  }
  if (std::optional<Json> status = node_report(object, node_address(name), now))
    send(client::patch_request(object.kind(), "", name, "status", api::PatchType::StrategicMerge,
                               JsonObject{{"metadata", JsonObject{{"uid", object.meta().uid}}},
                                          {"status", *std::move(status)}}),
         call);
}

void PretendNodes::come_back(Node& node, Time now) {
  for (Timer& timer : node.held) timers_.emplace(now, std::move(timer));
  node.held.clear();
  const auto pods = pods_on_.find(node.object->meta().name);
  if (pods == pods_on_.end()) return;
  for (const std::string& uid : pods->second) resume(uid, pods_.at(uid), now);
}

// Somebody may have said of a pod of a silent node that it is not ready.
void PretendNodes::resume(const std::string& uid, Pod& pod, Time now) {
  if (pod.stage == Stage::Running && !pod.containers.waiting && !says_ready(*pod.object))
    write_running(uid, pod, now);
  step(uid, pod, now);
}

void PretendNodes::forget_pod(const std::string& uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  if (const auto pods = pods_on_.find(at->second.node); pods != pods_on_.end()) {
    pods->second.erase(uid);
    if (pods->second.empty()) pods_on_.erase(pods);
  }
  pods_.erase(at);
}

void PretendNodes::on_pod(const client::Event& event, Time now) {
  const std::string& uid = event.object->meta().uid;
  if (event.type == client::Event::Type::Deleted) return forget_pod(uid);
  auto at = pods_.find(uid);
  if (at == pods_.end()) {
    const auto& view = event.object->view<api::PodView>();
    if (view.node_name.empty()) return;
    at = pods_.try_emplace(uid).first;
    pods_on_[view.node_name].insert(uid);
    Pod& pod = at->second;
    pod.object = event.object;
    pod.node = view.node_name;
    pod.containers.started = now;
    // A pod an earlier run has left behind goes on where it was.
    if (view.phase == "Running") {
      pod.stage = Stage::Running;
      pod.since = start_time(*event.object).value_or(now);
      pod.containers.started = pod.since;
      pod.containers.restarts = restart_count(*event.object);
      pod.generation = observed_generation(*event.object);
      pod.address = pod_address(*event.object);
      if (const auto number = address_number(pod.address); number && *number >= kPodAddresses)
        next_pod_address_ = std::max(next_pod_address_, *number - kPodAddresses + 1);
      end_after_run_time(uid, pod);
    } else if (view.is_terminal()) {
      pod.stage = Stage::Ended;
    }
  }
  at->second.object = event.object;
  step(uid, at->second, now);
}

PretendNodes::Node* PretendNodes::node_of(const Pod& pod) {
  const auto at = nodes_.find(pod.node);
  return at == nodes_.end() ? nullptr : &at->second;
}

// Moves a pod one step on, if its node is ours and there is a step to do.
void PretendNodes::step(const std::string& uid, Pod& pod, Time now) {
  const Node* const node = node_of(pod);
  if (node == nullptr || node->silent) return;
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
    start(uid, pod, now);
  } else if (pod.stage == Stage::Running && meta.generation > pod.generation && synced_) {
    pod.generation = meta.generation;
    patch_status(uid, *pod.object, changed_status(*pod.object, pod.containers, now),
                 Timer::What::WriteRunning);
  }
}

void PretendNodes::start(const std::string& uid, Pod& pod, Time now) {
  pod.stage = Stage::Running;
  pod.since = now;
  pod.containers = {.started = now};
  pod.generation = pod.object->meta().generation;
  if (pod.address.empty()) pod.address = pretend_address(kPodAddresses + next_pod_address_++);
  write_running(uid, pod, now);
  end_after_run_time(uid, pod);
}

void PretendNodes::write_running(const std::string& uid, const Pod& pod, Time now) {
  JsonObject status = pod_status(*pod.object, pod.containers, now).as_object();
  status["startTime"] = format_time(pod.since);
  status["hostIP"] = node_address(pod.node);
  status["hostIPs"] = JsonArray{JsonObject{{"ip", node_address(pod.node)}}};
  status["podIP"] = pod.address;
  status["podIPs"] = JsonArray{JsonObject{{"ip", pod.address}}};
  patch_status(uid, *pod.object, std::move(status), Timer::What::WriteRunning);
}

void PretendNodes::end_after_run_time(const std::string& uid, const Pod& pod) {
  if (const auto length = run_time(*pod.object))
    timers_.emplace(pod.containers.started + *length, Timer{Timer::What::End, uid});
}

// The containers have done their work, or start again, at once or after a pause.
void PretendNodes::end(const std::string& uid, Pod& pod, Time now) {
  if (pod.stage != Stage::Running && pod.stage != Stage::Ended) return;
  Containers& containers = pod.containers;
  if (containers.waiting) return;
  const std::int64_t code = exit_code(*pod.object, containers.restarts);
  if (pod.stage == Stage::Ended || !restarts_after(*pod.object, code)) {
    pod.stage = Stage::Ended;
    containers.ended = code;
    patch_status(uid, *pod.object, pod_status(*pod.object, containers, now), Timer::What::End);
    return;
  }
  containers.last = {.code = code, .started = containers.started, .ended = now};
  const bool long_run = now - containers.started >= kLongRun;
  const Duration pause = long_run ? Duration{0} : restart_pause(containers.restarts);
  containers.waiting = true;
  if (pause == Duration{0}) return restart(uid, pod, now);
  write_running(uid, pod, now);
  timers_.emplace(now + pause, Timer{Timer::What::Restart, uid});
}

void PretendNodes::restart(const std::string& uid, Pod& pod, Time now) {
  if (pod.stage != Stage::Running || !pod.containers.waiting) return;
  pod.containers.waiting = false;
  pod.containers.started = now;
  ++pod.containers.restarts;
  write_running(uid, pod, now);
  end_after_run_time(uid, pod);
}

void PretendNodes::remove(const std::string& uid, Pod& pod, Time now) {
  pod.stage = Stage::Removing;
  if (!pod.object->view<api::PodView>().is_terminal()) {
    Containers stopped = pod.containers;
    stopped.ended = kStoppedCode;
    stopped.waiting = false;
    patch_status(uid, *pod.object, pod_status(*pod.object, stopped, now), Timer::What::Remove);
  }
  send(client::delete_request(*pod.object, 0), {Call::What::RemovePod, uid, Timer::What::Remove});
}

void PretendNodes::on_outcome(const Call& call, const client::Outcome& outcome, Time now) {
  if (call.what == Call::What::CreateNode) --creating_;
  if (outcome) return;
  const Error& error = outcome.error();
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
  if (timer.what == Timer::What::Report) {
    if (const auto node = nodes_.find(timer.key); node != nodes_.end()) report(node->second, now);
    return;
  }
  const auto at = pods_.find(timer.key);
  if (at == pods_.end()) return;
  Pod& pod = at->second;
  Node* const node = node_of(pod);
  if (node == nullptr) return;
  if (node->silent) return node->held.push_back(timer);
  switch (timer.what) {
    case Timer::What::Report: break;
    case Timer::What::WriteRunning:
      if (pod.stage == Stage::Running) write_running(timer.key, pod, now);
      break;
    case Timer::What::End: end(timer.key, pod, now); break;
    case Timer::What::Restart: restart(timer.key, pod, now); break;
    case Timer::What::Remove: remove(timer.key, pod, now); break;
  }
}

void PretendNodes::create_node(Json node, Time now) {
  const std::string name(api::find_path(node, "metadata.name")->as_string());
  fill_node_status(api::ensure_object(node.as_object(), "status"), name, node_address(name), now);
  ++creating_;
  send(client::create_request(api::kinds::node(), "", std::move(node)),
       {Call::What::CreateNode, name, {}});
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

}  // namespace muster::sim
