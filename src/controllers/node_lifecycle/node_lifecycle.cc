#include "controllers/node_lifecycle/node_lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/values/pretend.h"
#include "api/views/pod_view.h"
#include "controllers/node_lifecycle/node_status.h"
#include "controllers/node_lifecycle/node_taints.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kLeaseNamespace = "kube-node-lease";
constexpr std::string_view kNodeController = "node-controller";
constexpr std::string_view kTaintController = "taint-eviction-controller";
constexpr std::string_view kDisruptionTarget = "DisruptionTarget";
// Pods of one node that are marked at a time.
constexpr std::size_t kMarksMax = 100;

const std::string& node_of(const api::Object& pod) { return pod.view<api::PodView>().node_name; }

std::string renew_time(const api::Object& lease) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, lease, {"spec"});
  return std::string(api::find_string(api::part_of(document, "spec"), "renewTime"));
}

client::EventNote note(std::string_view type, std::string_view reason, std::string message,
                       std::string_view component) {
  return {.type = std::string(type),
          .reason = std::string(reason),
          .action = std::string(reason),
          .message = std::move(message),
          .component = std::string(component),
          .instance = std::string(component)};
}

bool claims_to_be_ready(const api::Object& pod) {
  const api::Condition* ready = pod.view<api::PodView>().condition("Ready");
  return ready != nullptr && ready->status != "False";
}

// Tells the owner of the pod why it goes.
api::Request mark_disrupted(const api::Object& pod, Time now) {
  JsonArray conditions{JsonObject{{"type", kDisruptionTarget},
                                  {"status", "True"},
                                  {"reason", "DeletionByTaintManager"},
                                  {"message", "Taint manager: deleting due to NoExecute taint"},
                                  {"lastTransitionTime", format_time(now)}}};
  return client::patch_request(
      pod.kind(), pod.meta().name_space, pod.meta().name, "status", api::PatchType::StrategicMerge,
      JsonObject{{"metadata", JsonObject{{"uid", pod.meta().uid}}},
                 {"status", JsonObject{{"conditions", std::move(conditions)}}}});
}

bool is_marked(const api::Object& pod) {
  const api::Condition* target = pod.view<api::PodView>().condition(kDisruptionTarget);
  return target != nullptr && target->status == "True";
}

}  // namespace

NodeLifecycle::NodeLifecycle(client::ComponentContext context)
    : Controller("node-lifecycle", context,
                 {{.kind = &api::kinds::node(),
                   .mirror = &nodes_,
                   .keys_of = [this](const Change& change) { return on_node(change); }},
                  {.kind = &api::kinds::lease(),
                   .keys_of = [this](const Change& change) { return on_lease(change); },
                   .only =
                       [](const api::Object& lease) {
                         return lease.meta().name_space == kLeaseNamespace;
                       }},
                  {.kind = &api::kinds::pod(),
                   .mirror = &pods_,
                   .keys_of = [this](const Change& change) { return on_pod(change); }}}),
      pods_({.own =
                 [](const api::Object& pod, std::vector<std::string>& out) {
                   if (!node_of(pod).empty()) out.push_back(node_of(pod));
                 }}),
      zones_(context.metrics) {
  if (context.metrics != nullptr)
    evicted_ = context.metrics->counter(
        "taint_eviction_controller_pod_deletions_total",
        "Pods deleted because their node has a NoExecute taint they do not tolerate.");
}

// Records a heartbeat if this version of the node shows one.
void NodeLifecycle::note_heartbeat(const api::Object& object, Node& node, bool fresh, Time now) {
  if (api::is_pretend(object.meta().annotations)) {
    if (api::pretend_health(object.meta().annotations) != api::PretendHealth::Silent)
      node.heard.reset();
    else if (!node.heard)
      node.heard = now;
    return;
  }
  std::string posted = heartbeat_text(object);
  if (fresh || !node.heard || posted != node.posted) {
    // One that never reported has had its time since it was made.
    const bool never = readiness(object) == Readiness::Unsaid;
    node.heard = never ? object.meta().creation_time.value_or(now) : now;
    node.posted = std::move(posted);
  }
}

void NodeLifecycle::schedule_turn(const std::string& zone) {
  if (const std::optional<Zones::Turn> turn = zones_.next_turn(zone))
    work().add_at(turn->at, turn->node);
}

// If everything is down now, or no longer, every node is looked at.
void NodeLifecycle::set_zone(const api::Object& object, Node& node, Keys& keys, Time now) {
  const std::string zone = zone_of(object);
  const bool ready = readiness(object) == Readiness::True;
  const bool flipped = zones_.set(object.meta().name, zone, ready, now);
  if (zone != node.zone) schedule_turn(node.zone);
  node.zone = zone;
  if (ready) {
    zones_.withdraw(object.meta().name);
    node.has_turn = false;
  }
  schedule_turn(zone);
  if (!flipped) return;
  for (auto& [name, other] : seen_) {
    other.has_turn = false;
    if (!zones_.all_down() && other.heard) other.heard = now;  // we may have been the deaf ones
    keys.push_back(name);
  }
}

NodeLifecycle::Keys NodeLifecycle::on_node(const Change& change) {
  const std::string& name = change.newest().meta().name;
  Keys keys;
  if (change.after != nullptr) {
    const auto [at, fresh] = seen_.try_emplace(name);
    note_heartbeat(*change.after, at->second, fresh, change.at);
    set_zone(*change.after, at->second, keys, change.at);
    find_pods_to_mark(change, at->second);
    keys.push_back(name);
  } else if (const auto at = seen_.find(name); at != seen_.end()) {
    const std::string zone = std::move(at->second.zone);
    seen_.erase(at);
    if (zones_.remove(name, change.at))
      for (const auto& [other, node] : seen_) keys.push_back(other);
    schedule_turn(zone);
  }
  if (no_execute_differs(change.before.get(), change.after.get()))
    for (const client::Mirror::Entry* pod : pods_.indexed(name))
      keys.push_back(api::key_text(pod->object->meta()));
  return keys;
}

NodeLifecycle::Keys NodeLifecycle::on_lease(const Change& change) {
  if (change.after == nullptr) return {};
  const auto at = seen_.find(change.after->meta().name);
  if (at == seen_.end() || !at->second.heard) return {};
  const api::ObjectPtr node = nodes_.find("", at->first);
  if (api::is_pretend(node->meta().annotations)) return {};
  std::string renewed = renew_time(*change.after);
  if (renewed == at->second.renewed) return {};
  at->second.renewed = std::move(renewed);
  at->second.heard = change.at;
  // Its timer, if it has one, is early now and finds that out by itself.
  return {};
}

NodeLifecycle::Keys NodeLifecycle::on_pod(const Change& change) {
  const api::Object& pod = change.newest();
  if (change.after == nullptr) {
    evictions_.forget(pod.meta().uid);
    return {};
  }
  if (change.before != nullptr && change.before->meta().uid != pod.meta().uid)
    evictions_.forget(change.before->meta().uid);
  if (node_of(pod).empty()) return {};
  const api::ObjectPtr node = nodes_.find("", node_of(pod));
  if (node == nullptr) return {};
  Keys keys;
  if (readiness(*node) == Readiness::Unknown && claims_to_be_ready(pod)) {
    seen_[node->meta().name].to_mark.insert(api::key_text(pod.meta()));
    keys.push_back(node->meta().name);
  }
  if (has_no_execute(*node)) keys.push_back(api::key_text(pod.meta()));
  return keys;
}

void NodeLifecycle::reconcile(const std::string& key, Time now) {
  if (client::split_key(key).name_space.empty())
    reconcile_node(key, now);
  else
    reconcile_pod(key, now);
}

void NodeLifecycle::reconcile_node(const std::string& name, Time now) {
  const api::ObjectPtr object = nodes_.find("", name);
  const auto at = seen_.find(name);
  if (object == nullptr || at == seen_.end()) return;
  // One thing at a time: what has been written comes back by the watch and is looked at then.
  if (watch_over(*object, at->second, now)) return;
  mark_pods(*object, at->second, now);
  taint(*object, at->second, now);
}

// Declares a node silent that has not been heard of for too long.
bool NodeLifecycle::watch_over(const api::Object& object, const Node& node, Time now) {
  if (!node.heard) return false;
  const Readiness ready = readiness(object);
  const std::string& name = object.meta().name;
  const Time end = *node.heard + (ready == Readiness::Unsaid ? kStartupGrace : kGrace);
  if (now < end) {
    work().add_at(end, name);
    return false;
  }
  std::optional<api::Request> silent = declare_silent(object, now);
  if (!silent) return false;
  if (ready == Readiness::True)
    record(object,
           note("Normal", "NodeNotReady", fmt::format("Node {} status is now: NodeNotReady", name),
                kNodeController),
           now);
  call(name, *std::move(silent));
  return true;
}

// Goes over all pods of a node once, when it falls silent; later ones come by on_pod().
void NodeLifecycle::find_pods_to_mark(const Change& change, Node& node) const {
  if (readiness(*change.after) != Readiness::Unknown) return node.to_mark.clear();
  if (change.before != nullptr && readiness(*change.before) == Readiness::Unknown) return;
  for (const client::Mirror::Entry* pod : pods_.indexed(change.after->meta().name))
    if (claims_to_be_ready(*pod->object)) node.to_mark.insert(api::key_text(pod->object->meta()));
}

// The pods of a silent node may do anything; they are not to be counted on.
void NodeLifecycle::mark_pods(const api::Object& object, Node& node, Time now) {
  const std::string& name = object.meta().name;
  std::size_t marked = 0;
  for (auto at = node.to_mark.begin(); at != node.to_mark.end();) {
    if (marked == kMarksMax) return work().add(name, now);  // the others after these
    const auto key = client::split_key(*at);
    const api::ObjectPtr pod = pods_.find(key.name_space, key.name);
    std::optional<api::Request> mark;
    if (pod != nullptr && node_of(*pod) == name) mark = declare_not_ready(*pod, now);
    if (!mark) {
      at = node.to_mark.erase(at);
      continue;
    }
    record(*pod, note("Warning", "NodeNotReady", "Node is not ready", kNodeController), now);
    call(name, *std::move(mark));
    ++marked;
    ++at;
  }
}

void NodeLifecycle::taint(const api::Object& object, Node& node, Time now) {
  const std::string& name = object.meta().name;
  const Readiness ready = readiness(object);
  Driving driving = Driving::Keep;
  if (zones_.all_down()) {
    driving = Driving::Stop;
  } else if (ready == Readiness::False || ready == Readiness::Unknown) {
    if (!drives_pods_away(object) && !node.has_turn) {
      zones_.ask(name, now + kLook);
      node.has_turn = zones_.take_turn(name, now);
    }
    if (node.has_turn) driving = Driving::Start;
    schedule_turn(node.zone);
  }
  if (std::optional<api::Request> taints = correct_taints(object, driving, now))
    call(name, *std::move(taints));
}

void NodeLifecycle::reconcile_pod(const std::string& key, Time now) {
  const auto [name_space, name] = client::split_key(key);
  const api::ObjectPtr pod = pods_.find(name_space, name);
  if (pod == nullptr) return;
  const std::string& uid = pod->meta().uid;
  if (pod->meta().deletion_time) return evictions_.forget(uid);
  const api::ObjectPtr node = nodes_.find("", node_of(*pod));
  Evictions::Departure departure;
  if (node != nullptr && has_no_execute(*node))
    departure = evictions_.judge(*pod, *node, now);
  else
    departure.cancelled = evictions_.cancel(uid);
  if (departure.cancelled)
    record(*pod,
           note("Normal", "TaintManagerEviction", fmt::format("Cancelling deletion of Pod {}", key),
                kTaintController),
           now);
  if (!departure.leaves_at) return;
  if (now < *departure.leaves_at) return work().add_at(*departure.leaves_at, key);
  evict(key, *pod, now);
}

void NodeLifecycle::evict(const std::string& key, const api::Object& pod, Time now) {
  if (!is_marked(pod) && !pod.view<api::PodView>().is_terminal())
    return call(key, mark_disrupted(pod, now));
  record(pod,
         note("Normal", "TaintManagerEviction", fmt::format("Marking for deletion Pod {}", key),
              kTaintController),
         now);
  evicted_.add();
  call(key, client::delete_request(pod, std::nullopt));
}

}  // namespace muster::controllers
