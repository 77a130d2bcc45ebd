#include "sim/pretend_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/values/pretend.h"
#include "api/values/string_pairs.h"
#include "api/views/pod_view.h"
#include "base/log.h"
#include "sim/node_labels.h"
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
bool is_silent(const api::Object& node) {
  return api::pretend_health(node.meta().annotations) == api::PretendHealth::Silent;
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
      if (const auto number = address_number(address); number && *number < kFirstPodAddress)
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
  const std::string& name = node.object->meta().name;
  if (const auto held = held_.find(name); held != held_.end()) {
    for (Timer& timer : held->second) timers_.emplace(now, std::move(timer));
    held_.erase(held);
  }
  const auto pods = pods_on_.find(name);
  if (pods == pods_on_.end()) return;
  for (const std::string& uid : pods->second) resume(uid, pods_.at(uid), now);
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

void PretendNodes::create_node(Json node, Time now) {
  const std::string name(api::find_path(node, "metadata.name")->as_string());
  fill_node_status(api::ensure_object(node.as_object(), "status"), name, node_address(name), now);
  ++creating_;
  send(client::create_request(api::kinds::node(), "", std::move(node)),
       {Call::What::CreateNode, name, {}});
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
