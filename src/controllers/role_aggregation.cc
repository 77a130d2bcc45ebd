#include "controllers/role_aggregation.h"

#include <algorithm>
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

constexpr std::string_view kManager = "clusterrole-aggregation-controller";

const api::Kind& cluster_roles() {
  static const api::Kind& kKind = []() -> const api::Kind& {
    const api::Kind* kind = api::find_kind("rbac.authorization.k8s.io", "ClusterRole");
    CHECK(kind != nullptr);
    return *kind;
  }();
  return kKind;
}

JsonArray rules_of(const api::Object& role) {
  const Json document = role.document();
  const JsonArray* const rules = api::find_array(document, "rules");
  return rules == nullptr ? JsonArray() : *rules;
}

// A selector that cannot be read finds nothing; validation lets none through.
std::vector<api::LabelSelector> selectors_of(const api::Object& role) {
  std::vector<api::LabelSelector> out;
  const Json document = role.document();
  const Json* const rule = api::find(document, "aggregationRule");
  const JsonArray* const list =
      rule == nullptr ? nullptr : api::find_array(*rule, "clusterRoleSelectors");
  if (list == nullptr) return out;
  for (const Json& said : *list)
    if (auto selector = api::read_label_selector(&said)) out.push_back(*std::move(selector));
  return out;
}

api::Request apply_rules(const std::string& name, JsonArray rules) {
  api::Request request = client::patch_request(
      cluster_roles(), "", name, "", api::PatchType::Apply,
      JsonObject{{"apiVersion", cluster_roles().api_version(cluster_roles().stored_version)},
                 {"kind", cluster_roles().kind},
                 {"metadata", JsonObject{{"name", name}}},
                 {"rules", std::move(rules)}});
  request.field_manager = kManager;
  request.force = true;
  return request;
}

}  // namespace

RoleAggregation::RoleAggregation(client::Send send) : writes_(std::move(send)) {}

std::vector<const api::Kind*> RoleAggregation::watched_kinds() { return {&cluster_roles()}; }

void RoleAggregation::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input))
    see(*event);
  else if (const auto* called = std::get_if<client::Called>(&input))
    take_in_outcome(*called, now);
  else
    started_ = true;
}

// Any role may be part of any aggregated one, by labels it has or has lost; there are few of these.
void RoleAggregation::see(const client::Event& event) {
  const std::string& name = event.object->meta().name;
  if (event.type == client::Event::Type::Deleted)
    roles_.erase(name);
  else
    roles_[name] = {.object = event.object, .selectors = selectors_of(*event.object)};
  for (const auto& [other, role] : roles_)
    if (!role.selectors.empty()) work_.add(other);
}

JsonArray RoleAggregation::gathered(const std::string& name, const Role& role) const {
  JsonArray out;
  for (const api::LabelSelector& selector : role.selectors)
    for (const auto& [other_name, other] : roles_) {
      if (other_name == name || !selector.matches(other.object->meta().labels)) continue;
      for (Json& rule : rules_of(*other.object))
        if (std::ranges::find(out, rule) == out.end()) out.push_back(std::move(rule));
    }
  return out;
}

void RoleAggregation::decide(const std::string& name) {
  const auto at = roles_.find(name);
  if (at == roles_.end() || at->second.selectors.empty()) {
    calls_.erase(name);
    return;
  }
  Call& call = calls_[name];
  if (call.asked) {
    call.waiting = true;
    return;
  }
  JsonArray rules = gathered(name, at->second);
  if (rules == rules_of(*at->second.object)) return;
  call.asked = true;
  writes_.send(apply_rules(name, std::move(rules)), name);
}

void RoleAggregation::take_in_outcome(const client::Called& called, Time now) {
  const std::optional<std::string> about = writes_.take(called);
  if (!about) return;
  const std::string& name = *about;
  Call& call = calls_[name];
  call.asked = false;
  if (std::exchange(call.waiting, false)) work_.add(name);
  if (called.outcome) {
    call.backoff = {};
    return;  // the watch tells of what was written
  }
  log(LogLevel::Warning, "cluster role {}: cannot write its aggregated rules: {}", name,
      called.outcome.error().message);
  work_.retry(name, call.backoff, now);
}

std::size_t RoleAggregation::run_once(Time now, std::size_t limit) {
  if (!started_) return 0;
  return work_.run(now, limit, [&](const std::string& key) { decide(key); });
}

std::optional<Time> RoleAggregation::next_deadline() const {
  return started_ ? work_.next_deadline() : std::nullopt;
}

}  // namespace muster::controllers
