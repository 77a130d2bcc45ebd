#include <algorithm>
#include <utility>

#include "api/views/pod_view.h"
#include "sim/pretend_nodes.h"
#include "sim/pretend_status.h"

// What PretendNodes does about the pods on its nodes.
namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using std::chrono::seconds;

// Containers that ran this long are restarted without a pause, as if it had been the first time.
constexpr Duration kLongRun = std::chrono::minutes{10};

bool says_ready(const api::Object& pod) {
  const api::Condition* ready = pod.view<api::PodView>().condition("Ready");
  return ready != nullptr && ready->status == "True";
}

}  // namespace

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
    if (pods->second.empty()) {
      held_.erase(pods->first);
      pods_on_.erase(pods);
    }
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
      if (const auto number = address_number(pod.address); number && *number >= kFirstPodAddress)
        next_pod_address_ = std::max(next_pod_address_, *number - kFirstPodAddress + 1);
      end_after_run_time(uid, pod);
    } else if (view.is_terminal()) {
      pod.stage = Stage::Ended;
    }
  }
  at->second.object = event.object;
  step(uid, at->second, now);
}

bool PretendNodes::is_up(const std::string& node) const {
  const auto at = nodes_.find(node);
  return at != nodes_.end() && !at->second.silent;
}

// Moves a pod one step on, if its node is ours and there is a step to do.
void PretendNodes::step(const std::string& uid, Pod& pod, Time now) {
  if (!is_up(pod.node)) return;
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
  if (pod.address.empty()) pod.address = pretend_address(kFirstPodAddress + next_pod_address_++);
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

void PretendNodes::fire(const Timer& timer, Time now) {
  if (timer.what == Timer::What::Report) {
    if (const auto node = nodes_.find(timer.key); node != nodes_.end()) report(node->second, now);
    return;
  }
  const auto at = pods_.find(timer.key);
  if (at == pods_.end()) return;
  Pod& pod = at->second;
  if (!is_up(pod.node)) return held_[pod.node].push_back(timer);
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

void PretendNodes::patch_status(const std::string& uid, const api::Object& pod, Json status,
                                Timer::What again) {
  send(client::patch_request(api::kinds::pod(), pod.meta().name_space, pod.meta().name, "status",
                             api::PatchType::StrategicMerge,
                             JsonObject{{"metadata", JsonObject{{"uid", pod.meta().uid}}},
                                        {"status", std::move(status)}}),
       {Call::What::PodStatus, uid, again});
}

}  // namespace muster::sim
