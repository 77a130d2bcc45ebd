#include "sim/scenario/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/values/preferred_topology.h"
#include "api/views/pod_view.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::ObjectPtr;
using std::chrono::seconds;

World::Options options_of(std::uint64_t seed, const scheduler::SchedulerConfig& config,
                          AttemptLog& log) {
  World::Options options;
  options.seed = seed;
  options.scheduler.profiles = config.profiles;
  options.scheduler.initial_backoff = config.initial_backoff;
  options.scheduler.max_backoff = config.max_backoff;
  options.scheduler.observe = [&log](const scheduler::Plan& plan, Time now) {
    log.record(plan, now);
  };
  return options;
}

// Whether the request binds one of these pods, alone or with others.
bool binds(const api::Request& request, const std::set<std::string>& pods) {
  if (request.verb != api::Verb::Create) return false;
  if (request.subresource != "binding" && request.kind != &api::kinds::group_binding())
    return false;
  const std::string body = api::to_text(request.body);
  return std::ranges::any_of(pods, [&](const std::string& pod) {
    return request.name == pod || body.find("\"" + pod + "\"") != std::string::npos;
  });
}

}  // namespace

Stage::Stage(std::uint64_t seed, const scheduler::SchedulerConfig& scheduler)
    : world_(options_of(seed, scheduler, log_)) {
  world_.run_until_idle();
  world_.hold_scheduler(true);
}

Result<void> Stage::ask(api::Request request) {
  TRY(world_.ask(std::move(request)));
  return {};
}

// --- verbs ---

void Stage::add_nodes(const ClusterShape& shape) {
  world_.add_nodes(shape);
  world_.run_until_idle();
}

Result<void> Stage::create(const api::Kind& kind, std::string_view name_space, Json document) {
  return ask(client::create_request(kind, name_space, std::move(document)));
}

void Stage::cycle() { let_it_run(Duration{0}); }

void Stage::restart_scheduler() {
  world_.run_until_idle();
  world_.restart_scheduler();
  world_.run_until_idle();
}

void Stage::wait(Duration duration) { let_it_run(duration); }

void Stage::let_it_run(Duration duration) {
  world_.hold_scheduler(false);
  world_.advance(duration);
  world_.hold_scheduler(true);
}

Result<void> Stage::ensure_priority_class(const PriorityLine& line) {
  if (line.priority == 0 || !priorities_.insert(line).second) return {};
  JsonObject body{{"metadata", JsonObject{{"name", priority_class_name(line)}}},
                  {"value", line.priority}};
  if (line.never_preempts) body["preemptionPolicy"] = "Never";
  return ask(client::create_request(api::kinds::priority_class(), "", std::move(body)));
}

const api::Kind& Stage::kind_of(std::size_t group) const {
  return cast_.group(group).is_leaf() ? api::kinds::pod_group() : api::kinds::composite_pod_group();
}

Result<void> Stage::add_owner(std::string_view owner, Json& document) const {
  if (owner.empty()) return {};
  const Cast::Subject subject = TRY(cast_.find("pod", owner));
  const api::ObjectPtr made_for = pod(subject.pods.front());
  if (made_for == nullptr) return fail(Reason::NotFound, "owned-by={}: it is not there", owner);
  api::ensure_object(document.as_object(), "metadata")["ownerReferences"] =
      api::JsonArray{JsonObject{{"apiVersion", "v1"},
                                {"kind", "Pod"},
                                {"name", made_for->meta().name},
                                {"uid", made_for->meta().uid}}};
  return {};
}

Result<void> Stage::send_group(std::size_t group) {
  Cast::Group& sent = cast_.group(group);
  if (std::exchange(sent.sent, true)) return {};
  TRY(ensure_priority_class({cast_.priority(group), cast_.never_preempts(group)}));
  Json document = cast_.group_manifest(group);
  TRY(add_owner(sent.line.owner, document));
  TRY(ask(client::create_request(kind_of(group), kScenarioNamespace, std::move(document))));
  world_.advance(seconds{1});
  return {};
}

Result<void> Stage::send_pods(std::span<const std::size_t> pods) {
  const std::string* shape = nullptr;
  for (const std::size_t id : pods) {
    Cast::Pod& pod = cast_.pod(id);
    if (std::exchange(pod.sent, true)) continue;
    if (shape != nullptr && *shape != pod.line.name) world_.advance(seconds{1});
    shape = &pod.line.name;
    TRY(ensure_priority_class({cast_.pod_priority(id), cast_.pod_never_preempts(id)}));
    if (const auto& own = pod.line.own_claim)
      TRY(create(api::kinds::persistent_volume_claim(), kScenarioNamespace,
                 claim_manifest(own_claim_name(pod.name), own->first, own->second)));
    Json document = cast_.pod_manifest(id, "");
    if (pod.group) TRY(add_owner(cast_.group(*pod.group).line.owner, document));
    TRY(ask(client::create_request(api::kinds::pod(), kScenarioNamespace, std::move(document))));
  }
  return {};
}

Result<void> Stage::run_pod(std::size_t id, std::string_view node) {
  Cast::Pod& pod = cast_.pod(id);
  pod.sent = true;
  TRY(ensure_priority_class({cast_.pod_priority(id), cast_.pod_never_preempts(id)}));
  return ask(
      client::create_request(api::kinds::pod(), kScenarioNamespace, cast_.pod_manifest(id, node)));
}

Result<void> Stage::create_service(const std::string& name, const api::JsonObject& labels) {
  return ask(client::create_request(
      *api::find_kind("", "Service"), kScenarioNamespace,
      JsonObject{{"metadata", JsonObject{{"name", name}, {"namespace", kScenarioNamespace}}},
                 {"spec", JsonObject{{"clusterIP", "None"}, {"selector", labels}}}}));
}

Result<void> Stage::create_budget(const std::string& name, const api::JsonObject& labels,
                                  int min_available) {
  return ask(client::create_request(
      *api::find_kind("policy", "PodDisruptionBudget"), kScenarioNamespace,
      JsonObject{{"metadata", JsonObject{{"name", name}, {"namespace", kScenarioNamespace}}},
                 {"spec", JsonObject{{"minAvailable", min_available},
                                     {"selector", JsonObject{{"matchLabels", labels}}}}}}));
}

Result<void> Stage::end_pods(std::span<const std::size_t> pods, std::string_view phase) {
  for (const std::size_t id : pods)
    if (const ObjectPtr object = pod(id);
        object != nullptr && !object->view<api::PodView>().is_terminal())
      TRY(ask(client::patch_request(api::kinds::pod(), kScenarioNamespace, object->meta().name,
                                    "status", api::PatchType::Merge,
                                    JsonObject{{"status", JsonObject{{"phase", phase}}}})));
  return {};
}

Result<void> Stage::delete_pods(std::span<const std::size_t> pods,
                                std::optional<std::int64_t> grace_period_s) {
  for (const std::size_t id : pods)
    if (const ObjectPtr object = pod(id)) TRY(ask(client::delete_request(*object, grace_period_s)));
  return {};
}

Result<void> Stage::delete_group(std::size_t id) {
  if (const ObjectPtr object = group(id)) TRY(ask(client::delete_request(*object, std::nullopt)));
  return {};
}

Result<void> Stage::set_minimum(std::size_t id, int minimum) {
  Cast::Group& changed = cast_.group(id);
  changed.line.minimum = minimum;
  const std::string_view member = changed.is_leaf() ? "minCount" : "minGroupCount";
  return ask(client::patch_request(
      kind_of(id), kScenarioNamespace, changed.name, "", api::PatchType::Merge,
      JsonObject{{"spec", JsonObject{{"schedulingPolicy",
                                      JsonObject{{"gang", JsonObject{{member, minimum}}}}}}}}));
}

Result<void> Stage::set_preferred(std::size_t id, const std::string& topology_key) {
  Cast::Group& changed = cast_.group(id);
  changed.line.prefers = topology_key;
  JsonObject annotations{{api::kPreferredTopologyAnnotation, topology_key}};
  return ask(client::patch_request(
      kind_of(id), kScenarioNamespace, changed.name, "", api::PatchType::Merge,
      JsonObject{{"metadata", JsonObject{{"annotations", std::move(annotations)}}}}));
}

Result<void> Stage::scale(std::size_t id, int wanted) {
  std::vector<std::size_t> members = cast_.members(id);
  std::erase_if(members, [&](std::size_t member) { return pod(member) == nullptr; });
  const auto count = static_cast<std::size_t>(std::max(0, wanted));
  if (members.size() > count) return delete_pods(std::span(members).subspan(count), std::nullopt);
  std::vector<std::size_t> added;
  while (members.size() + added.size() < count) added.push_back(TRY(cast_.add_like(id)));
  return send_pods(added);
}

Result<void> Stage::ungate(std::span<const std::size_t> pods) {
  for (const std::size_t id : pods) {
    cast_.pod(id).line.gated = false;
    const ObjectPtr object = pod(id);
    if (object == nullptr || object->view<api::PodView>().scheduling_gates.empty()) continue;
    TRY(ask(client::patch_request(
        api::kinds::pod(), kScenarioNamespace, object->meta().name, "", api::PatchType::Merge,
        JsonObject{{"spec", JsonObject{{"schedulingGates", JsonArray{}}}}})));
  }
  return {};
}

Result<void> Stage::remove_node(std::string_view node) {
  const ObjectPtr object = world_.get(api::kinds::node(), "", node);
  if (object == nullptr) return fail(Reason::NotFound, "there is no node {}", node);
  TRY(ask(client::delete_request(*object, std::nullopt)));
  // Its pods go with it, as the garbage collector of pods would see to.
  for (std::size_t id = 0; id < cast_.pod_count(); ++id) {
    const ObjectPtr here = pod(id);
    if (here != nullptr && here->view<api::PodView>().node_name == node)
      TRY(delete_pods(std::span(&id, 1), 0));
  }
  return {};
}

Result<void> Stage::patch_node(std::string_view node, Json patch) {
  return ask(client::patch_request(api::kinds::node(), "", node, "", api::PatchType::Merge,
                                   std::move(patch)));
}

Result<void> Stage::set_taint(std::string_view node, Json taint, bool present) {
  const ObjectPtr object = world_.get(api::kinds::node(), "", node);
  if (object == nullptr) return fail(Reason::NotFound, "there is no node {}", node);
  const Json document = object->document();
  const Json* spec = api::find(document, "spec");
  const JsonArray* known = spec == nullptr ? nullptr : api::find_array(*spec, "taints");
  JsonArray taints = known == nullptr ? JsonArray() : *known;
  const std::string key(api::find_string(taint, "key"));
  JsonArray kept;
  for (const Json& other : taints)
    if (api::find_string(other, "key") != key) kept.push_back(other);
  if (present) kept.push_back(std::move(taint));
  return patch_node(node, JsonObject{{"spec", JsonObject{{"taints", std::move(kept)}}}});
}

void Stage::refuse(Refused what, std::set<std::string> pods) {
  if (what == Refused::Bindings && !pods.empty()) has_refused_bindings_ = true;
  (what == Refused::Bindings ? refused_bindings_ : refused_deletions_) = std::move(pods);
  world_.set_fault([this](const api::Request& request) -> std::optional<Error> {
    if (request.user.name != "system:kube-scheduler") return std::nullopt;
    if (binds(request, refused_bindings_))
      return make_error(Reason::Forbidden, "the scenario refuses this binding");
    if (request.verb == api::Verb::Delete && request.kind == &api::kinds::pod() &&
        refused_deletions_.contains(request.name))
      return make_error(Reason::Forbidden, "the scenario refuses this deletion");
    return std::nullopt;
  });
}

void Stage::retire_gone() {
  for (std::size_t id = 0; id < cast_.pod_count(); ++id)
    if (cast_.pod(id).sent && pod(id) == nullptr) cast_.pod(id).retired = true;
  for (std::size_t id = 0; id < cast_.group_count(); ++id)
    if (cast_.group(id).sent && group(id) == nullptr) cast_.group(id).retired = true;
}

// --- what is the case ---

ObjectPtr Stage::pod(std::size_t id) const {
  return cast_.pod(id).sent ? world_.get(api::kinds::pod(), kScenarioNamespace, cast_.pod(id).name)
                            : nullptr;
}

ObjectPtr Stage::group(std::size_t id) const {
  return world_.get(kind_of(id), kScenarioNamespace, cast_.group(id).name);
}

scheduler::GroupKey Stage::key(std::size_t id) const {
  return {cast_.group(id).is_leaf() ? scheduler::GroupKind::PodGroup
                                    : scheduler::GroupKind::CompositePodGroup,
          std::string(kScenarioNamespace), cast_.group(id).name};
}

std::vector<ObjectPtr> Stage::nodes() const {
  return world_.store().list(api::kinds::node().store_prefix + "/").objects;
}

std::vector<ObjectPtr> Stage::pods() const {
  return world_.store().list(api::kinds::pod().store_prefix + "/").objects;
}

std::string Stage::node_of(const ObjectPtr& pod) {
  if (pod == nullptr || pod->view<api::PodView>().is_terminal()) return {};
  return pod->view<api::PodView>().node_name;
}

std::string Stage::domain_of(std::string_view node, std::string_view label) const {
  const ObjectPtr object = world_.get(api::kinds::node(), "", node);
  const std::string* value =
      object == nullptr ? nullptr : api::lookup(object->meta().labels, label);
  return value == nullptr ? std::string() : *value;
}

std::vector<Stage::RecordedEvent> Stage::events_about(const api::Object& object) const {
  std::vector<RecordedEvent> events;
  for (const ObjectPtr& event :
       world_.store().list(api::kinds::event().store_prefix + "/").objects) {
    const Json document = event->document();
    const Json* about = api::find(document, "involvedObject");
    if (about == nullptr || api::find_string(*about, "uid") != object.meta().uid) continue;
    const Json* count = api::find(document, "count");
    events.push_back({.reason = std::string(api::find_string(document, "reason")),
                      .message = std::string(api::find_string(document, "message")),
                      .count = count != nullptr && count->is_int64() ? count->as_int64() : 1});
  }
  return events;
}

std::string Stage::history() const {
  std::string text = log_.text();
  for (const ObjectPtr& object : world_.store().list("").objects)
    text += fmt::format("{} {}\n", object->revision().value, object->bytes());
  return text;
}

}  // namespace muster::sim
