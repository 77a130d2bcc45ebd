#include "controllers/pod_garbage.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"

namespace muster::controllers {
namespace {

using api::JsonArray;
using api::JsonObject;

// A node that is replaced under its name keeps its pods.
constexpr std::chrono::seconds kMissingMax{40};
constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";

const std::string& node_of(const api::Object& pod) { return pod.view<api::PodView>().node_name; }

bool is_out_of_service(const api::Object& object) {
  const auto& node = object.view<api::NodeView>();
  const bool ready = std::ranges::any_of(node.conditions, [](const api::Condition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
  return !ready &&
         std::ranges::find(node.taints, kOutOfService, &api::Taint::key) != node.taints.end();
}

// Few finished pods are: the word is looked for before the document is read.
bool was_evicted(const api::Object& pod) {
  if (pod.bytes().find("\"Evicted\"") == std::string_view::npos) return false;
  const api::Json document = pod.document();
  return api::find_string(api::part_of(document, "status"), "reason") == "Evicted";
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

PodGarbage::PodGarbage(client::ComponentContext context, std::size_t finished_max)
    : Controller("pod-garbage-collector", std::move(context),
                 {{.kind = &api::kinds::node(),
                   .mirror = &nodes_,
                   .keys_of = [this](const Change& change) { return on_node(change); }},
                  {.kind = &api::kinds::pod(),
                   .mirror = &pods_,
                   .keys_of = [this](const Change& change) { return on_pod(change); }}}),
      finished_max_(finished_max),
      pods_({.own = [](const api::Object& pod, std::vector<std::string>& out) {
        if (!node_of(pod).empty()) out.push_back(node_of(pod));
      }}) {}

PodGarbage::Keys PodGarbage::on_node(const Change& change) {
  const std::string& name = change.newest().meta().name;
  missing_since_.erase(name);
  const auto& pods = pods_.indexed(name);
  if (change.after == nullptr && !pods.empty()) missing_since_.emplace(name, change.at);
  if (change.after != nullptr && !is_out_of_service(*change.after)) return {};
  Keys keys;
  for (const client::Mirror::Entry* pod : pods) keys.push_back(api::key_text(pod->object->meta()));
  return keys;
}

PodGarbage::Finished PodGarbage::finished_entry(const api::Object& pod) {
  return {.not_evicted = !was_evicted(pod),
          .created = pod.meta().creation_time.value_or(Time{}),
          .key = api::key_text(pod.meta())};
}

void PodGarbage::count_finished(const Change& change, Keys& keys) {
  if (change.before != nullptr && change.before->view<api::PodView>().is_terminal()) {
    finished_.erase(finished_entry(*change.before));
    if (change.after == nullptr) surplus_.erase(change.before->meta().uid);
  }
  if (change.after == nullptr || !change.after->view<api::PodView>().is_terminal() ||
      surplus_.contains(change.after->meta().uid))
    return;
  finished_.insert(finished_entry(*change.after));
  if (finished_.size() <= finished_max_) return;
  const std::string first = finished_.begin()->key;
  finished_.erase(finished_.begin());
  const auto [name_space, name] = client::split_key(first);
  const api::ObjectPtr pod = pods_.find(name_space, name);
  if (pod == nullptr) return;
  surplus_.insert(pod->meta().uid);
  keys.push_back(first);
}

PodGarbage::Keys PodGarbage::on_pod(const Change& change) {
  Keys keys;
  count_finished(change, keys);
  const std::string& node_name = node_of(change.newest());
  if (change.after == nullptr) {
    if (pods_.indexed(node_name).empty()) missing_since_.erase(node_name);
    return keys;
  }
  const api::ObjectPtr node = nodes_.find("", node_name);
  const bool lost = node_name.empty() ? change.after->meta().deletion_time.has_value()
                                      : node == nullptr || is_out_of_service(*node);
  if (lost || surplus_.contains(change.after->meta().uid))
    keys.push_back(api::key_text(change.after->meta()));
  return keys;
}

void PodGarbage::reconcile(const std::string& key, Time now) {
  const auto [name_space, name] = client::split_key(key);
  const api::ObjectPtr pod = pods_.find(name_space, name);
  if (pod == nullptr) return;
  if (surplus_.contains(pod->meta().uid)) {
    if (!pod->meta().deletion_time) call(key, client::delete_request(*pod, 0));
    return;
  }
  const std::string& node_name = node_of(*pod);
  const api::ObjectPtr node = nodes_.find("", node_name);
  std::string_view why;
  if (node_name.empty()) {
    if (!pod->meta().deletion_time) return;
  } else if (node == nullptr) {
    const Time gone_at = missing_since_.try_emplace(node_name, now).first->second + kMissingMax;
    if (now < gone_at) return work().add_at(gone_at, key);
    why = "PodGC: node no longer exists";
  } else if (!is_out_of_service(*node) || !pod->meta().deletion_time) {
    return;
  }
  const bool ended = pod->view<api::PodView>().is_terminal();
  // Only a finalizer holds it: everything has been said.
  if (ended && pod->meta().deletion_time && pod->meta().deletion_grace_s == 0) return;
  call(key, ended ? client::delete_request(*pod, 0) : mark(*pod, why, now));
}

}  // namespace muster::controllers
