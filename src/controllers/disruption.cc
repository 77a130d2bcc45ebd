#include "controllers/disruption.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "api/selectors.h"
#include "base/check.h"
#include "base/log.h"

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

bool is_ready(const api::Object& pod) {
  const Json document = pod.document();
  const Json* conditions = api::find_path(document, "status.conditions");
  return conditions != nullptr && conditions->is_array() &&
         std::ranges::any_of(conditions->get_array(), [](const Json& condition) {
           return api::find_string(condition, "type") == "Ready" &&
                  api::find_string(condition, "status") == "True";
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

}  // namespace

Disruption::Disruption(client::Send send) : calls_(std::move(send)) {}

std::vector<const api::Kind*> Disruption::watched_kinds() {
  return {&budget_kind(),
          &api::kinds::pod(),
          &find_kind("", "ReplicationController"),
          &find_kind("apps", "Deployment"),
          &find_kind("apps", "ReplicaSet"),
          &find_kind("apps", "StatefulSet")};
}

void Disruption::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input))
    see(*event);
  else if (const auto* called = std::get_if<client::Called>(&input))
    take_in_outcome(*called, now);
  else
    started_ = true;
}

void Disruption::see(const client::Event& event) {
  const api::ObjectMeta& meta = event.object->meta();
  const bool deleted = event.type == client::Event::Type::Deleted;
  if (&event.object->kind() == &budget_kind()) {
    const std::string key = api::key_text(meta);
    if (deleted) {
      budgets_.erase(key);
      return;
    }
    budgets_[key].object = event.object;
    work_.add(key);
    return;
  }
  if (&event.object->kind() == &api::kinds::pod()) {
    if (deleted)
      pods_[meta.name_space].erase(meta.name);
    else
      pods_[meta.name_space][meta.name] = event.object;
  } else if (deleted) {
    owners_.erase(meta.uid);
  } else {
    owners_[meta.uid] = event.object;
  }
  look_again(meta.name_space);
}

void Disruption::look_again(const std::string& name_space) {
  const std::string prefix = name_space + "/";
  for (auto at = budgets_.lower_bound(prefix);
       at != budgets_.end() && at->first.starts_with(prefix); ++at)
    work_.add(at->first);
}

// How many replicas the object of this uid, or the deployment above it, wants; `pods` if it is of a
// kind that does not say.
std::int64_t Disruption::replicas_of(const std::string& uid, std::int64_t pods) const {
  auto at = owners_.find(uid);
  if (at == owners_.end()) return pods;
  if (const auto* above = controller_of(*at->second))
    if (const auto deployment = owners_.find(above->uid); deployment != owners_.end())
      at = deployment;
  return number_at(at->second->document(), "spec.replicas", 1);
}

// How many pods there should be, according to those who make them.
std::int64_t Disruption::scale_of(const std::vector<api::ObjectPtr>& pods) const {
  std::map<std::string, std::int64_t> makers;  // pods by uid of who made them
  for (const api::ObjectPtr& pod : pods)
    if (const auto* maker = controller_of(*pod)) ++makers[maker->uid];
  std::int64_t scale = 0;
  for (const auto& [uid, count] : makers) scale += replicas_of(uid, count);
  return scale;
}

Disruption::Counts Disruption::count(const Json& budget, const std::vector<api::ObjectPtr>& pods,
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
  const auto pods = pods_.find(name_space);
  if (disrupted == nullptr || !disrupted->is_object() || pods == pods_.end()) return out;
  for (const auto& entry : disrupted->get_object()) {
    const auto pod = pods->second.find(std::string(entry.key()));
    const auto since = parse_time(api::find_string(*disrupted, entry.key()));
    if (pod == pods->second.end() || pod->second->meta().deletion_time || !since) continue;
    const Time end = *since + kEvictionMax;
    if (end <= now) continue;
    if (!next || end < *next) next = end;
    out[entry.key()] = entry.value();
  }
  return out;
}

void Disruption::decide(const std::string& key, Time now) {
  const auto at = budgets_.find(key);
  if (at == budgets_.end() || at->second.asked) return;
  const api::Object& object = *at->second.object;
  const Json budget = object.document();
  const auto selector = api::read_label_selector(api::find_path(budget, "spec.selector"));
  std::vector<api::ObjectPtr> pods;
  if (const auto home = pods_.find(object.meta().name_space); selector && home != pods_.end())
    for (const auto& [name, pod] : home->second)
      if (selector->matches(pod->meta().labels)) pods.push_back(pod);

  std::optional<Time> next;
  const JsonObject disrupted = still_disrupted(budget, object.meta().name_space, now, next);
  if (next) work_.add_at(*next, key);
  const Counts counts = count(budget, pods, disrupted);
  const Json* old_disrupted = api::find_path(budget, "status.disruptedPods");
  const bool same_disrupted = disrupted == (old_disrupted != nullptr && old_disrupted->is_object()
                                                ? old_disrupted->get_object()
                                                : JsonObject());
  if (same_disrupted &&
      number_at(budget, "status.observedGeneration") == object.meta().generation &&
      number_at(budget, "status.expectedPods") == counts.expected &&
      number_at(budget, "status.desiredHealthy") == counts.desired &&
      number_at(budget, "status.currentHealthy") == counts.healthy &&
      number_at(budget, "status.disruptionsAllowed") == counts.allowed)
    return;
  at->second.asked = true;
  // The revision makes sure that no eviction was counted in between.
  JsonArray patch{
      JsonObject{{"op", "test"},
                 {"path", "/metadata/resourceVersion"},
                 {"value", std::to_string(object.revision().value)}},
      JsonObject{{"op", "add"},
                 {"path", "/status"},
                 {"value", JsonObject{{"observedGeneration", object.meta().generation},
                                      {"disruptedPods", disrupted},
                                      {"disruptionsAllowed", counts.allowed},
                                      {"currentHealthy", counts.healthy},
                                      {"desiredHealthy", counts.desired},
                                      {"expectedPods", counts.expected},
                                      {"conditions", JsonArray{condition(counts.allowed > 0,
                                                                         object.meta().generation,
                                                                         budget, now)}}}}}};
  calls_.send(client::patch_request(object.kind(), object.meta().name_space, object.meta().name,
                                    "status", api::PatchType::JsonPatch, std::move(patch)),
              key);
}

void Disruption::take_in_outcome(const client::Called& called, Time now) {
  const std::optional<std::string> about = calls_.take(called);
  if (!about) return;
  const std::string& key = *about;
  const auto at = budgets_.find(key);
  if (at == budgets_.end()) return;
  Budget& budget = at->second;
  budget.asked = false;
  if (called.outcome) {
    budget.backoff = {};
    work_.add(key);
    return;
  }
  log(LogLevel::Debug, "the status of disruption budget {} cannot be written: {}; trying again",
      key, called.outcome.error().message);
  work_.retry(key, budget.backoff, now);
}

std::size_t Disruption::run_once(Time now, std::size_t limit) {
  if (!started_) return 0;
  return work_.run(now, limit, [&](const std::string& key) { decide(key, now); });
}

std::optional<Time> Disruption::next_deadline() const {
  return started_ ? work_.next_deadline() : std::nullopt;
}

}  // namespace muster::controllers
