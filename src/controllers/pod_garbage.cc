#include "controllers/pod_garbage.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "base/log.h"

namespace muster::controllers {
namespace {

using api::JsonArray;
using api::JsonObject;

// A node that is replaced under its name keeps its pods.
constexpr std::chrono::seconds kMissingMax{40};
constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";

bool is_out_of_service(const api::NodeView& node) {
  const bool ready = std::ranges::any_of(node.conditions, [](const api::Condition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
  return !ready &&
         std::ranges::find(node.taints, kOutOfService, &api::Taint::key) != node.taints.end();
}

// Says that the pod has failed, and why if its owner is to know. The uid makes it an error for a
// namesake.
api::Request mark(const api::Object& pod, std::string_view why, Time now) {
  JsonObject status{{"phase", "Failed"}};
  if (!why.empty())
    status.emplace("conditions", JsonArray{JsonObject{{"type", "DisruptionTarget"},
                                                      {"status", "True"},
                                                      {"reason", "DeletionByPodGC"},
                                                      {"message", why},
                                                      {"lastTransitionTime", format_time(now)}}});
  return client::patch_request(
      api::kinds::pod(), pod.meta().name_space, pod.meta().name, "status",
      api::PatchType::StrategicMerge,
      JsonObject{{"metadata", JsonObject{{"uid", pod.meta().uid}}}, {"status", std::move(status)}});
}

}  // namespace

PodGarbage::PodGarbage(client::Send send) : calls_(std::move(send)) {}

std::vector<const api::Kind*> PodGarbage::watched_kinds() {
  return {&api::kinds::node(), &api::kinds::pod()};
}

void PodGarbage::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input)) {
    if (&event->object->kind() == &api::kinds::node())
      see_node(*event, now);
    else
      see_pod(*event);
  } else if (const auto* called = std::get_if<client::Called>(&input)) {
    take_in_outcome(*called, now);
  } else {
    started_ = true;
  }
}

void PodGarbage::see_node(const client::Event& event, Time now) {
  const std::string& name = event.object->meta().name;
  Node& node = nodes_[name];
  node.exists = event.type != client::Event::Type::Deleted;
  node.missing_since = node.exists ? std::nullopt : std::optional(now);
  node.out_of_service = node.exists && is_out_of_service(event.object->view<api::NodeView>());
  if (!node.exists || node.out_of_service) work_.add_all(node.pods);
  if (!node.exists && node.pods.empty()) nodes_.erase(name);
}

void PodGarbage::see_pod(const client::Event& event) {
  const std::string key = api::key_text(event.object->meta());
  if (event.type == client::Event::Type::Deleted) return forget(key);
  const auto& said = event.object->view<api::PodView>();
  if (said.node_name.empty()) return;
  Pod& pod = pods_[key];
  pod.object = event.object;
  pod.ended = said.is_terminal();
  if (pod.node.empty()) {
    pod.node = said.node_name;
    nodes_[pod.node].pods.insert(key);
  }
  const Node& home = nodes_.at(pod.node);
  if (!home.exists || home.out_of_service) work_.add(key);
}

void PodGarbage::forget(const std::string& key) {
  const auto at = pods_.find(key);
  if (at == pods_.end()) return;
  if (const auto home = nodes_.find(at->second.node); home != nodes_.end()) {
    home->second.pods.erase(key);
    if (!home->second.exists && home->second.pods.empty()) nodes_.erase(home);
  }
  pods_.erase(at);
}

void PodGarbage::decide(const std::string& key, Time now) {
  const auto at = pods_.find(key);
  if (at == pods_.end() || at->second.asked) return;
  Pod& pod = at->second;
  Node& node = nodes_.at(pod.node);
  std::string_view why;
  if (!node.exists) {
    if (!node.missing_since) node.missing_since = now;
    if (now < *node.missing_since + kMissingMax)
      return work_.add_at(*node.missing_since + kMissingMax, key);
    why = "PodGC: node no longer exists";
  } else if (!node.out_of_service || !pod.object->meta().deletion_time) {
    return;
  }
  // What only a finalizer holds has been told all there is.
  const bool told_to_go =
      pod.object->meta().deletion_time && pod.object->meta().deletion_grace_s == 0;
  if (told_to_go && pod.ended) return;
  call(key, pod, pod.ended ? client::delete_request(*pod.object, 0) : mark(*pod.object, why, now));
}

void PodGarbage::call(const std::string& key, Pod& pod, api::Request request) {
  pod.asked = true;
  calls_.send(std::move(request), key);
}

void PodGarbage::take_in_outcome(const client::Called& called, Time now) {
  const std::optional<std::string> about = calls_.take(called);
  if (!about) return;
  const std::string& key = *about;
  const auto at = pods_.find(key);
  if (at == pods_.end()) return;
  Pod& pod = at->second;
  pod.asked = false;
  if (called.outcome) {
    // The watch tells what has become of it; ask again if it does not come soon.
    pod.backoff = {};
    work_.retry(key, pod.backoff, now);
    return;
  }
  log(LogLevel::Debug, "pod {}: cannot be collected: {}", key, called.outcome.error().message);
  work_.retry(key, pod.backoff, now);
}

std::size_t PodGarbage::run_once(Time now, std::size_t limit) {
  if (!started_) return 0;
  return work_.run(now, limit, [&](const std::string& key) { decide(key, now); });
}

std::optional<Time> PodGarbage::next_deadline() const {
  return started_ ? work_.next_deadline() : std::nullopt;
}

}  // namespace muster::controllers
