#include "controllers/role_aggregation.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/selectors.h"
#include "base/check.h"

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

RoleAggregation::RoleAggregation(client::ComponentContext context)
    : Controller("clusterrole-aggregation", std::move(context),
                 {{.kind = &cluster_roles(),
                   .mirror = &roles_,
                   .keys_of = [this](const Change& change) { return on_role(change); }}}),
      roles_({.labels = true}) {}

// Any role may be part of any aggregated one, by labels it has or has lost; there are few of these.
RoleAggregation::Keys RoleAggregation::on_role(const Change& change) {
  const std::string& name = change.newest().meta().name;
  aggregated_.erase(name);
  if (change.after != nullptr)
    if (auto selectors = selectors_of(*change.after); !selectors.empty())
      aggregated_.emplace(name, std::move(selectors));
  Keys keys;
  for (const auto& [aggregated, selectors] : aggregated_) keys.push_back(aggregated);
  return keys;
}

JsonArray RoleAggregation::gathered(const std::string& name,
                                    const std::vector<api::LabelSelector>& selectors) const {
  JsonArray out;
  for (const api::LabelSelector& selector : selectors)
    for (const api::ObjectPtr& role : roles_.select("", selector)) {
      if (role->meta().name == name) continue;
      for (Json& rule : rules_of(*role))
        if (std::ranges::find(out, rule) == out.end()) out.push_back(std::move(rule));
    }
  return out;
}

void RoleAggregation::reconcile(const std::string& key, Time /*now*/) {
  const auto selectors = aggregated_.find(key);
  const api::ObjectPtr role = roles_.find("", key);
  if (selectors == aggregated_.end() || role == nullptr) return;
  JsonArray rules = gathered(key, selectors->second);
  if (rules != rules_of(*role)) call(key, apply_rules(key, std::move(rules)));
}

}  // namespace muster::controllers
