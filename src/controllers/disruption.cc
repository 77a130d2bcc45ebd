#include "controllers/disruption.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "api/selectors.h"
#include "api/views/pod_view.h"
#include "base/check.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

// How long an allowed eviction counts before the pod is seen to leave.
constexpr Duration kEvictionMax = std::chrono::minutes{2};

const api::Kind& find_kind(std::string_view group, std::string_view name) {
  const api::Kind* kind = api::find_kind(group, name);
  CHECK(kind != nullptr);
  return *kind;
}

const api::Kind& budget_kind() {
  static const api::Kind& kKind = find_kind("policy", "PodDisruptionBudget");
  return kKind;
}

std::int64_t number_at(const Json& document, std::string_view path, std::int64_t if_missing = 0) {
  const Json* found = api::find_path(document, path);
  return found != nullptr && found->is_int64() ? found->get_int64() : if_missing;
}

// From the view, which is made once for each version of a pod: a look asks this of every pod that
// the budget selects.
bool is_ready(const api::Object& pod) {
  return std::ranges::any_of(pod.view<api::PodView>().conditions, [](const auto& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

const api::OwnerReference* controller_of(const api::Object& object) {
  const auto& owners = object.meta().owners;
  const auto found = std::ranges::find_if(owners, &api::OwnerReference::controller);
  return found == owners.end() ? nullptr : &*found;
}

// A number, or that share of `whole`, rounded up.
std::int64_t resolve(const Json& amount, std::int64_t whole) {
  if (amount.is_int64()) return amount.get_int64();
  const auto* text = amount.if_string();
  if (text == nullptr) return 0;
  std::int64_t percent = 0;
  std::from_chars(text->data(), text->data() + text->size(), percent);
  return (whole * percent + 99) / 100;
}

bool is_share(const Json& amount) { return amount.is_string(); }

JsonObject condition(bool allowed, std::int64_t generation, const Json& before, Time now) {
  const std::string_view status = allowed ? "True" : "False";
  std::string since = format_time(now);
  if (const Json* conditions = api::find_path(before, "status.conditions");
      conditions != nullptr && conditions->is_array())
    for (const Json& old : conditions->get_array())
      if (api::find_string(old, "type") == "DisruptionAllowed" &&
          api::find_string(old, "status") == status)
        since = api::find_string(old, "lastTransitionTime");
  return {{"type", "DisruptionAllowed"},
          {"status", status},
          {"observedGeneration", generation},
          {"lastTransitionTime", since},
          {"reason", allowed ? "SufficientPods" : "InsufficientPods"},
          {"message", ""}};
}

// The revision makes sure that no eviction was counted in between.
api::Request write_status(const api::Object& budget, JsonObject status) {
  return client::patch_request(
      budget.kind(), budget.meta().name_space, budget.meta().name, "status",
      api::PatchType::JsonPatch,
      JsonArray{JsonObject{{"op", "test"},
                           {"path", "/metadata/resourceVersion"},
                           {"value", std::to_string(budget.revision().value)}},
                JsonObject{{"op", "add"}, {"path", "/status"}, {"value", std::move(status)}}});
}

client::Mirror::Indexes by_uid() {
  return {.own = [](const api::Object& object, std::vector<std::string>& out) {
    out.push_back(object.meta().uid);
  }};
}

}  // namespace

Disruption::Disruption(client::ComponentContext context)
    : Controller("disruption", std::move(context), watches(*this)),
      pods_({.labels = true}),
      owners_{client::Mirror(by_uid()), client::Mirror(by_uid()), client::Mirror(by_uid()),
              client::Mirror(by_uid())} {}

std::vector<Disruption::Watch> Disruption::watches(Disruption& self) {
  std::vector<Watch> out{
      {.kind = &budget_kind(),
       .mirror = &self.budgets_,
       .keys_of = [&self](const Change& change) { return self.on_budget(change); }},
      {.kind = &api::kinds::pod(), .mirror = &self.pods_, .keys_of = [&self](const Change& change) {
         return self.budgets_that_select(change);
       }}};
  const std::array owner_kinds{&find_kind("", "ReplicationController"),
                               &find_kind("apps", "Deployment"), &find_kind("apps", "ReplicaSet"),
                               &find_kind("apps", "StatefulSet")};
  for (std::size_t i = 0; i < owner_kinds.size(); ++i)
    out.push_back(
        {.kind = owner_kinds[i],
         .mirror = &self.owners_[i],
         .keys_of = [&self](const Change& change) { return self.budgets_beside(change); }});
  return out;
}

Disruption::Keys Disruption::on_budget(const Change& change) {
  std::string key = api::key_text(change.newest().meta());
  selectors_.erase(key);
  if (change.after != nullptr) {
    const Json budget = change.after->document();
    if (auto selector = api::read_label_selector(api::find_path(budget, "spec.selector")))
      selectors_.emplace(key, *std::move(selector));
  }
  return {std::move(key)};
}

// Budgets that select the pod, or did before it changed.
Disruption::Keys Disruption::budgets_that_select(const Change& pod) const {
  Keys keys;
  const std::string prefix = pod.newest().meta().name_space + "/";
  for (auto at = selectors_.lower_bound(prefix);
       at != selectors_.end() && at->first.starts_with(prefix); ++at)
    if ((pod.before != nullptr && at->second.matches(pod.before->meta().labels)) ||
        (pod.after != nullptr && at->second.matches(pod.after->meta().labels)))
      keys.push_back(at->first);
  return keys;
}

// All budgets of the namespace of an owner: which pods are its own is known to the pods alone.
Disruption::Keys Disruption::budgets_beside(const Change& change) const {
  Keys keys;
  const std::string prefix = change.newest().meta().name_space + "/";
  for (auto at = selectors_.lower_bound(prefix);
       at != selectors_.end() && at->first.starts_with(prefix); ++at)
    keys.push_back(at->first);
  return keys;
}

api::ObjectPtr Disruption::find_owner(std::string_view uid) const {
  for (const client::Mirror& mirror : owners_)
    if (const auto& found = mirror.indexed(uid); !found.empty()) return (*found.begin())->object;
  return nullptr;
}

// How many replicas the object of this uid, or the deployment above it, wants; `pods` if it is of a
// kind that does not say.
std::int64_t Disruption::replicas_of(const std::string& uid, std::int64_t pods) const {
  api::ObjectPtr owner = find_owner(uid);
  if (owner == nullptr) return pods;
  if (const auto* above = controller_of(*owner))
    if (api::ObjectPtr deployment = find_owner(above->uid)) owner = std::move(deployment);
  return number_at(owner->document(), "spec.replicas", 1);
}

// How many pods there should be, according to those who make them.
std::int64_t Disruption::scale_of(const Pods& pods) const {
  std::map<std::string, std::int64_t> makers;  // pods by uid of who made them
  for (const api::ObjectPtr& pod : pods)
    if (const auto* maker = controller_of(*pod)) ++makers[maker->uid];
  std::int64_t scale = 0;
  for (const auto& [uid, count] : makers) scale += replicas_of(uid, count);
  return scale;
}

Disruption::Counts Disruption::count(const Json& budget, const Pods& pods,
                                     const JsonObject& disrupted) const {
  Counts out;
  const Json* unavailable = api::find_path(budget, "spec.maxUnavailable");
  const Json* available = api::find_path(budget, "spec.minAvailable");
  if (unavailable != nullptr) {
    out.expected = scale_of(pods);
    out.desired = std::max<std::int64_t>(0, out.expected - resolve(*unavailable, out.expected));
  } else if (available != nullptr) {
    out.expected = is_share(*available) ? scale_of(pods) : static_cast<std::int64_t>(pods.size());
    out.desired = resolve(*available, out.expected);
  }
  out.healthy = std::ranges::count_if(pods, [&](const api::ObjectPtr& pod) {
    return !pod->meta().deletion_time && !disrupted.contains(pod->meta().name) && is_ready(*pod);
  });
  if (out.expected > 0) out.allowed = std::max<std::int64_t>(0, out.healthy - out.desired);
  return out;
}

JsonObject Disruption::still_disrupted(const Json& budget, const std::string& name_space, Time now,
                                       std::optional<Time>& next) const {
  JsonObject out;
  const Json* disrupted = api::find_path(budget, "status.disruptedPods");
  if (disrupted == nullptr || !disrupted->is_object()) return out;
  for (const auto& entry : disrupted->get_object()) {
    const api::ObjectPtr pod = pods_.find(name_space, entry.key());
    const auto since = parse_time(api::find_string(*disrupted, entry.key()));
    if (pod == nullptr || pod->meta().deletion_time || !since) continue;
    const Time end = *since + kEvictionMax;
    if (end <= now) continue;
    if (!next || end < *next) next = end;
    out[entry.key()] = entry.value();
  }
  return out;
}

void Disruption::reconcile(const std::string& key, Time now) {
  const auto [name_space, name] = client::split_key(key);
  const api::ObjectPtr object = budgets_.find(name_space, name);
  if (object == nullptr) return;
  const api::ObjectMeta& meta = object->meta();
  const Json budget = object->document();
  const auto selector = selectors_.find(key);
  const Pods pods =
      selector == selectors_.end() ? Pods() : pods_.select(meta.name_space, selector->second);

  std::optional<Time> next;
  const JsonObject disrupted = still_disrupted(budget, meta.name_space, now, next);
  if (next) work().add_at(*next, key);
  const Counts counts = count(budget, pods, disrupted);
  const Json* old_disrupted = api::find_path(budget, "status.disruptedPods");
  const bool same_disrupted = disrupted == (old_disrupted != nullptr && old_disrupted->is_object()
                                                ? old_disrupted->get_object()
                                                : JsonObject());
  if (same_disrupted && number_at(budget, "status.observedGeneration") == meta.generation &&
      number_at(budget, "status.expectedPods") == counts.expected &&
      number_at(budget, "status.desiredHealthy") == counts.desired &&
      number_at(budget, "status.currentHealthy") == counts.healthy &&
      number_at(budget, "status.disruptionsAllowed") == counts.allowed)
    return;
  JsonObject status{
      {"observedGeneration", meta.generation},
      {"disruptedPods", disrupted},
      {"disruptionsAllowed", counts.allowed},
      {"currentHealthy", counts.healthy},
      {"desiredHealthy", counts.desired},
      {"expectedPods", counts.expected},
      {"conditions", JsonArray{condition(counts.allowed > 0, meta.generation, budget, now)}}};
  call(key, write_status(*object, std::move(status)));
}

}  // namespace muster::controllers
