#include "controllers/disruption.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "api/selectors.h"
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

JsonObject condition(bool allowed, bool known, std::int64_t generation, const Json& before,
                     Time now) {
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
          {"reason", !known    ? "SyncFailed"
                     : allowed ? "SufficientPods"
                               : "InsufficientPods"},
          {"message", known ? "" : "its pods have too many makers"}};
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

// Numbers of a status have 32 bits; what is beyond them is as good as the largest.
std::int64_t capped(std::int64_t number) { return std::min<std::int64_t>(number, INT32_MAX); }

// The key under which the pods of a namespace are counted: no budget has an empty name.
std::string ledger_key(std::string_view name_space) { return fmt::format("{}/", name_space); }

}  // namespace

Disruption::Disruption(client::ComponentContext context)
    : Controller("disruption", std::move(context), watches(*this)), pods_({.labels = true}) {}

std::vector<Disruption::Watch> Disruption::watches(Disruption& self) {
  std::vector<Watch> out{
      {.kind = &budget_kind(),
       .mirror = &self.budgets_,
       .keys_of = [&self](const Change& change) { return self.on_budget(change); }},
      {.kind = &api::kinds::pod(), .mirror = &self.pods_, .keys_of = [&self](const Change& change) {
         return self.on_pod(change);
       }}};
  for (const api::Kind* kind :
       {&find_kind("", "ReplicationController"), &find_kind("apps", "Deployment"),
        &find_kind("apps", "ReplicaSet"), &find_kind("apps", "StatefulSet")})
    out.push_back(
        {.kind = kind, .keys_of = [&self](const Change& change) { return self.on_owner(change); }});
  return out;
}

Disruption::Keys Disruption::on_budget(const Change& change) {
  const api::ObjectMeta& meta = change.newest().meta();
  std::optional<api::LabelSelector> selector;
  std::string text;
  if (change.after != nullptr) {
    const Json budget = change.after->document();
    const Json* said = api::find_path(budget, "spec.selector");
    if (auto read = api::read_label_selector(said)) selector = *std::move(read);
    if (said != nullptr) text = api::to_text(*said);
  }
  const auto at = ledgers_.try_emplace(meta.name_space, meta.name_space).first;
  if (selector)
    at->second.put_budget(meta.name, text, *selector);
  else
    at->second.remove_budget(meta.name);
  Keys keys{api::key_text(meta)};
  if (at->second.has_work()) keys.insert(keys.begin(), ledger_key(meta.name_space));
  if (at->second.empty()) ledgers_.erase(at);
  return keys;
}

Disruption::Keys Disruption::on_pod(const Change& change) {
  const std::string& name_space = change.newest().meta().name_space;
  const auto at = ledgers_.find(name_space);
  if (at == ledgers_.end()) return {};
  at->second.pod_changed(change.before, change.after);
  return at->second.has_work() ? Keys{ledger_key(name_space)} : Keys{};
}

// Its document is read once per version of its spec.
Disruption::Keys Disruption::on_owner(const Change& change) {
  const api::ObjectMeta& meta = change.newest().meta();
  if (change.after == nullptr) {
    scales_.erase(meta.uid);
  } else {
    const auto [at, is_new] = scales_.try_emplace(meta.uid);
    Scale now{.generation = meta.generation, .replicas = at->second.replicas};
    if (is_new || meta.generation == 0 || meta.generation != at->second.generation)
      now.replicas = number_at(change.after->document(), "spec.replicas", 1);
    if (const auto* above = controller_of(*change.after)) now.above = above->uid;
    const bool same =
        !is_new && now.replicas == at->second.replicas && now.above == at->second.above;
    at->second = std::move(now);
    if (same) return {};
  }
  const auto ledger = ledgers_.find(meta.name_space);
  if (ledger == ledgers_.end()) return {};
  ledger->second.makers_changed();
  return {ledger_key(meta.name_space)};
}

void Disruption::look_at_pods(const std::string& name_space, Time now) {
  const auto at = ledgers_.find(name_space);
  if (at == ledgers_.end()) return;
  const std::uint64_t before = at->second.steps();
  for (const std::string& budget : at->second.work(pods_))
    work().add(fmt::format("{}/{}", name_space, budget), now);
  charge(at->second.steps() - before);
  if (at->second.has_work()) work().add(ledger_key(name_space), now);
}

// How many pods there should be, according to those who make them: the deployment above a
// ReplicaSet, once for all of its sets. Pods of makers that do not say count as they are.
std::int64_t Disruption::scale_of(const BudgetLedger::Counts& pods) const {
  std::int64_t scale = 0;
  std::set<std::string_view> counted;  // uids
  for (const auto& [uid, count] : pods.makers) {
    auto maker = scales_.find(uid);
    if (maker == scales_.end()) {
      scale += count;
      continue;
    }
    if (const auto above = scales_.find(maker->second.above); above != scales_.end()) maker = above;
    if (counted.insert(maker->first).second) scale += maker->second.replicas;
  }
  return scale;
}

Disruption::Counts Disruption::count(const Json& budget, const BudgetLedger::Counts& pods,
                                     std::int64_t disrupted) const {
  Counts out;
  const Json* unavailable = api::find_path(budget, "spec.maxUnavailable");
  const Json* available = api::find_path(budget, "spec.minAvailable");
  const bool asks_makers = unavailable != nullptr || (available != nullptr && is_share(*available));
  out.known = !asks_makers || pods.knows_makers;
  if (unavailable != nullptr) {
    out.expected = scale_of(pods);
    out.desired = std::max<std::int64_t>(0, out.expected - resolve(*unavailable, out.expected));
  } else if (available != nullptr) {
    out.expected = is_share(*available) ? scale_of(pods) : pods.pods;
    out.desired = resolve(*available, out.expected);
  }
  out.healthy = pods.healthy - disrupted;
  if (out.expected > 0 && out.known)
    out.allowed = std::max<std::int64_t>(0, out.healthy - out.desired);
  for (std::int64_t* number : {&out.expected, &out.desired, &out.healthy, &out.allowed})
    *number = capped(*number);
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
  if (name.empty()) return look_at_pods(std::string(name_space), now);
  const api::ObjectPtr object = budgets_.find(name_space, name);
  if (object == nullptr) return;
  const api::ObjectMeta& meta = object->meta();
  const auto ledger = ledgers_.find(name_space);
  const BudgetLedger::Counts nothing;
  const BudgetLedger::Counts* pods = &nothing;  // of one whose selector cannot be read
  if (ledger != ledgers_.end() && ledger->second.has_budget(name)) {
    pods = ledger->second.counts_of(name);
    if (pods == nullptr) return;  // they are being counted
  }
  const Json budget = object->document();

  std::optional<Time> next;
  const JsonObject disrupted = still_disrupted(budget, meta.name_space, now, next);
  if (next) work().add_at(*next, key);
  std::int64_t disrupted_healthy = 0;
  if (pods != &nothing)
    for (const auto& entry : disrupted)
      if (ledger->second.is_healthy(name, entry.key(), pods_)) ++disrupted_healthy;
  const Counts counts = count(budget, *pods, disrupted_healthy);
  charge(disrupted.size() + pods->makers.size());
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
  JsonObject status{{"observedGeneration", meta.generation},
                    {"disruptedPods", disrupted},
                    {"disruptionsAllowed", counts.allowed},
                    {"currentHealthy", counts.healthy},
                    {"desiredHealthy", counts.desired},
                    {"expectedPods", counts.expected},
                    {"conditions", JsonArray{condition(counts.allowed > 0, counts.known,
                                                       meta.generation, budget, now)}}};
  call(key, write_status(*object, std::move(status)));
}

}  // namespace muster::controllers
