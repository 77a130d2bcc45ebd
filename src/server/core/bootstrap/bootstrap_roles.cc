#include "server/core/bootstrap/bootstrap_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace muster::server {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

// One rule, its lists separated by blanks. The group of core is written "core".
struct Rule {
  std::string_view verbs;
  std::string_view groups;     // empty: the rule is about paths
  std::string_view resources;  // or paths
};
struct Role {
  std::string_view name;
  std::vector<Rule> rules = {};
  // Aggregation: which of "view", "edit" and "admin" the role is part of, and which one it is.
  std::string_view part_of = {};
  std::string_view gathers = {};
};
// Gives a role to groups, to a user ("User NAME") or to a service account of kube-system
// ("ServiceAccount NAME").
struct Grant {
  std::string_view role;
  std::string_view group;
};

constexpr std::string_view kRead = "get list watch";
constexpr std::string_view kWrite = "create delete deletecollection patch update";

constexpr std::string_view kCoreThings =
    "configmaps endpoints events limitranges persistentvolumeclaims "
    "persistentvolumeclaims/status pods pods/log pods/status podtemplates replicationcontrollers "
    "replicationcontrollers/scale replicationcontrollers/status resourcequotas "
    "resourcequotas/status serviceaccounts services services/status namespaces";
constexpr std::string_view kCoreWritable =
    "configmaps endpoints persistentvolumeclaims pods podtemplates replicationcontrollers "
    "replicationcontrollers/scale secrets serviceaccounts services events";
constexpr std::string_view kAppsThings =
    "controllerrevisions daemonsets deployments deployments/scale replicasets replicasets/scale "
    "statefulsets statefulsets/scale";
constexpr std::string_view kGroupThings = "workloads podgroups compositepodgroups";

std::vector<Rule> view_rules() {
  return {{kRead, "core", kCoreThings},
          {kRead, "apps", kAppsThings},
          {kRead, "batch", "cronjobs cronjobs/status jobs jobs/status"},
          {kRead, "policy", "poddisruptionbudgets poddisruptionbudgets/status"},
          {kRead, "discovery.k8s.io", "endpointslices"},
          {kRead, "scheduling.k8s.io",
           "workloads podgroups podgroups/status compositepodgroups compositepodgroups/status"},
          {"create", "core", "pods/explanation"},
          {"create", "scheduling.k8s.io", "podgroups/explanation compositepodgroups/explanation"},
          {kRead, "jobset.x-k8s.io", "jobsets jobsets/status"},
          {kRead, "leaderworkerset.x-k8s.io", "leaderworkersets leaderworkersets/status"},
          {kRead, "resource.k8s.io", "resourceclaims resourceclaimtemplates"}};
}

// What "edit" has beyond "view".
std::vector<Rule> edit_rules() {
  return {{kRead, "core", "secrets pods/attach pods/exec pods/portforward"},
          {kWrite, "core", kCoreWritable},
          {kWrite, "core", "pods/attach pods/exec pods/portforward"},
          {"get patch update", "core", "pods/ephemeralcontainers pods/resize"},
          {"create", "core", "pods/eviction serviceaccounts/token"},
          {"impersonate", "core", "serviceaccounts"},
          {kWrite, "apps", kAppsThings},
          {kWrite, "batch", "cronjobs jobs"},
          {kRead, "coordination.k8s.io", "leases"},
          {kWrite, "coordination.k8s.io", "leases"},
          {kWrite, "policy", "poddisruptionbudgets"},
          {kWrite, "scheduling.k8s.io", kGroupThings},
          {kWrite, "jobset.x-k8s.io", "jobsets"},
          {kWrite, "leaderworkerset.x-k8s.io", "leaderworkersets leaderworkersets/scale"},
          {kWrite, "resource.k8s.io", "resourceclaims resourceclaimtemplates"}};
}

// What "admin" has beyond "edit".
std::vector<Rule> admin_rules() {
  return {{kRead, kRbac, "roles rolebindings"},
          {kWrite, kRbac, "roles rolebindings"},
          {"create", "authorization.k8s.io", "localsubjectaccessreviews"}};
}

std::vector<Rule> scheduler_rules() {
  return {{kRead, "core",
           "nodes namespaces services replicationcontrollers persistentvolumes "
           "persistentvolumeclaims pods"},
          {"delete", "core", "pods"},
          {"create", "core", "pods/binding bindings"},
          {"patch update", "core", "pods/status persistentvolumeclaims persistentvolumes"},
          {kRead, "apps", "replicasets statefulsets"},
          {kRead, "policy", "poddisruptionbudgets"},
          {kRead, "storage.k8s.io",
           "csinodes csidrivers csistoragecapacities storageclasses volumeattachments"},
          {kRead, "resource.k8s.io", "deviceclasses resourceslices resourceclaims"},
          {"patch update", "resource.k8s.io", "resourceclaims resourceclaims/status"},
          {kRead, "scheduling.k8s.io", "workloads podgroups compositepodgroups priorityclasses"},
          {"patch update", "scheduling.k8s.io", "podgroups/status compositepodgroups/status"},
          {"create", "scheduling.muster.dev", "groupbindings"},
          {"create patch update", "core events.k8s.io", "events"},
          {"create get list update watch", "coordination.k8s.io", "leases"},
          {"create", "authentication.k8s.io", "tokenreviews"},
          {"create", "authorization.k8s.io", "subjectaccessreviews"}};
}

std::vector<Role> all_roles() {
  return {
      {"cluster-admin", {{"*", "*", "*"}, {"*", "", "*"}}},
      {"system:discovery",
       {{"get", "",
         "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version "
         "/version/"}}},
      {"system:public-info-viewer", {{"get", "", "/healthz /livez /readyz /version /version/"}}},
      {"system:basic-user",
       {{"create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"},
        {"create", "authentication.k8s.io", "selfsubjectreviews"}}},
      {"system:monitoring",
       {{"get", "", "/metrics /healthz /healthz/* /livez /livez/* /readyz /readyz/*"}}},
      {"system:kube-scheduler", scheduler_rules()},
      {"system:kube-controller-manager",
       {{kRead, "*", "*"},
        {"create delete patch update", "core events.k8s.io", "events"},
        {"create get update", "coordination.k8s.io", "leases"},
        {"create", "core", "serviceaccounts serviceaccounts/token secrets"},
        {"create", "authentication.k8s.io", "tokenreviews"},
        {"create", "authorization.k8s.io", "subjectaccessreviews"}}},
      {"system:service-account-issuer-discovery",
       {{"get", "",
         "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks "
         "/openid/v1/jwks/"}}},
      {"system:controller:clusterrole-aggregation-controller",
       {{"escalate get list patch update watch", kRbac, "clusterroles"}}},
      {"system:aggregate-to-view", view_rules(), "view"},
      {"system:aggregate-to-edit", edit_rules(), "edit"},
      {"system:aggregate-to-admin", admin_rules(), "admin"},
      {"view", {}, "edit", "view"},
      {"edit", {}, "admin", "edit"},
      {"admin", {}, {}, "admin"},
  };
}

std::vector<Grant> all_grants() {
  return {{"cluster-admin", "system:masters"},
          {"system:discovery", "system:authenticated"},
          {"system:basic-user", "system:authenticated"},
          {"system:public-info-viewer", "system:authenticated system:unauthenticated"},
          {"system:monitoring", "system:monitoring"},
          {"system:service-account-issuer-discovery", "system:serviceaccounts"},
          {"system:controller:clusterrole-aggregation-controller",
           "ServiceAccount clusterrole-aggregation-controller"},
          {"system:kube-scheduler", "User system:kube-scheduler"},
          {"system:kube-controller-manager", "User system:kube-controller-manager"}};
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

JsonArray list(std::string_view text) {
  JsonArray out;
  for (const std::string_view word : words(text))
    out.emplace_back(word == "core" ? std::string_view() : word);
  return out;
}

Json rule_json(const Rule& rule) {
  JsonObject out{{"verbs", list(rule.verbs)}};
  if (rule.groups.empty()) {
    out.emplace("nonResourceURLs", list(rule.resources));
  } else {
    out.emplace("apiGroups", list(rule.groups));
    out.emplace("resources", list(rule.resources));
  }
  return out;
}

JsonObject metadata(std::string_view name) {
  return {{"name", name},
          {"labels", JsonObject{{"kubernetes.io/bootstrapping", "rbac-defaults"}}},
          {"annotations", JsonObject{{kAutoUpdate, "true"}}}};
}

std::string aggregation_label(std::string_view to) {
  return fmt::format("rbac.authorization.k8s.io/aggregate-to-{}", to);
}

// The rules of an aggregated role are written as the controller would gather them, in the order of
// names: so they hold from the first moment, and it has nothing to do.
JsonArray rules_json(const Role& role, const std::vector<Role>& all) {
  JsonArray out;
  for (const Rule& rule : role.rules) out.push_back(rule_json(rule));
  if (role.gathers.empty()) return out;
  std::map<std::string_view, const Role*> parts;
  for (const Role& other : all)
    if (other.part_of == role.gathers) parts.emplace(other.name, &other);
  for (const auto& [name, part] : parts)
    for (Json& rule : rules_json(*part, all))
      if (std::ranges::find(out, rule) == out.end()) out.push_back(std::move(rule));
  return out;
}

Json role_json(const Role& role, const std::vector<Role>& all) {
  JsonObject meta = metadata(role.name);
  if (!role.part_of.empty())
    meta["labels"].as_object().emplace(aggregation_label(role.part_of), "true");
  JsonObject out{{"metadata", std::move(meta)}, {"rules", rules_json(role, all)}};
  if (!role.gathers.empty()) {
    const JsonObject selector{
        {"matchLabels", JsonObject{{aggregation_label(role.gathers), "true"}}}};
    out.emplace("aggregationRule", JsonObject{{"clusterRoleSelectors", JsonArray{selector}}});
  }
  return out;
}

JsonObject subject(std::string_view kind, std::string_view name) {
  return {{"kind", kind}, {"apiGroup", kRbac}, {"name", name}};
}

Json grant_json(const Grant& grant) {
  JsonArray subjects;
  const std::vector<std::string_view> named = words(grant.group);
  if (named.front() == "User")
    subjects.push_back(subject("User", named.back()));
  else if (named.front() == "ServiceAccount")
    subjects.push_back(JsonObject{
        {"kind", "ServiceAccount"}, {"name", named.back()}, {"namespace", "kube-system"}});
  else
    for (const std::string_view group : named) subjects.push_back(subject("Group", group));
  return JsonObject{
      {"metadata", metadata(grant.role)},
      {"roleRef", JsonObject{{"apiGroup", kRbac}, {"kind", "ClusterRole"}, {"name", grant.role}}},
      {"subjects", std::move(subjects)}};
}

// Components that serve themselves may read whose certificates to believe (client_authority.h).
std::vector<BootstrapObject> authority_readers() {
  const api::Kind* const roles = api::find_kind(kRbac, "Role");
  const api::Kind* const bindings = api::find_kind(kRbac, "RoleBinding");
  CHECK(roles != nullptr);
  CHECK(bindings != nullptr);
  constexpr std::string_view kReader = "extension-apiserver-authentication-reader";
  const auto at_home = [](std::string_view name) {
    JsonObject out = metadata(name);
    out.emplace("namespace", "kube-system");
    return out;
  };
  JsonObject rule{{"verbs", list(kRead)},
                  {"apiGroups", list("core")},
                  {"resources", list("configmaps")},
                  {"resourceNames", list("extension-apiserver-authentication")}};
  return {{.kind = roles,
           .document =
               JsonObject{{"metadata", at_home(kReader)}, {"rules", JsonArray{std::move(rule)}}}},
          {.kind = bindings,
           .document = JsonObject{
               {"metadata", at_home("system::extension-apiserver-authentication-reader")},
               {"roleRef", JsonObject{{"apiGroup", kRbac}, {"kind", "Role"}, {"name", kReader}}},
               {"subjects", JsonArray{subject("User", "system:kube-controller-manager"),
                                      subject("User", "system:kube-scheduler")}}}}};
}

// A user who may ask for an explanation may read how the scheduler decides.
std::vector<BootstrapObject> settings_readers() {
  const api::Kind* const roles = api::find_kind(kRbac, "Role");
  const api::Kind* const bindings = api::find_kind(kRbac, "RoleBinding");
  CHECK(roles != nullptr);
  CHECK(bindings != nullptr);
  constexpr std::string_view kReader = "muster:scheduler-settings-reader";
  JsonObject meta = metadata(kReader);
  meta.emplace("namespace", "kube-public");
  JsonObject rule{{"verbs", list(kRead)},
                  {"apiGroups", list("core")},
                  {"resources", list("configmaps")},
                  {"resourceNames", list("muster-scheduler")}};
  return {{.kind = roles,
           .document = JsonObject{{"metadata", meta}, {"rules", JsonArray{std::move(rule)}}}},
          {.kind = bindings,
           .document = JsonObject{
               {"metadata", meta},
               {"roleRef", JsonObject{{"apiGroup", kRbac}, {"kind", "Role"}, {"name", kReader}}},
               {"subjects", JsonArray{subject("Group", "system:authenticated")}}}}};
}

}  // namespace

std::vector<BootstrapObject> bootstrap_roles() {
  const api::Kind* const roles = api::find_kind(kRbac, "ClusterRole");
  const api::Kind* const bindings = api::find_kind(kRbac, "ClusterRoleBinding");
  CHECK(roles != nullptr);
  CHECK(bindings != nullptr);
  std::vector<BootstrapObject> out;
  const std::vector<Role> all = all_roles();
  for (const Role& role : all) out.push_back({.kind = roles, .document = role_json(role, all)});
  for (const Grant& grant : all_grants())
    out.push_back({.kind = bindings, .document = grant_json(grant)});
  std::ranges::move(authority_readers(), std::back_inserter(out));
  std::ranges::move(settings_readers(), std::back_inserter(out));
  return out;
}

std::optional<Json> lost_parts(const Json& wanted, const Json& standing) {
  static const Json kNothing;
  const auto member = [](const Json& of, std::string_view name) -> const Json& {
    const Json* const found = api::find(of, name);
    return found == nullptr ? kNothing : *found;
  };
  const Json& meta = member(standing, "metadata");
  if (api::find_string(member(meta, "annotations"), kAutoUpdate) == "false") return std::nullopt;
  JsonObject patch;
  for (const std::string_view map : {"labels", "annotations"})
    if (const JsonObject* pairs = api::find_object(member(wanted, "metadata"), map))
      for (const auto& pair : *pairs)
        if (api::find(member(meta, map), pair.key()) == nullptr)
          api::ensure_object(api::ensure_object(patch, "metadata"), map)
              .emplace(pair.key(), pair.value());
  // The rules of an aggregated role are its controller's business.
  const bool gathers = api::find(wanted, "aggregationRule") != nullptr;
  if (gathers && api::find(standing, "aggregationRule") == nullptr)
    patch.emplace("aggregationRule", member(wanted, "aggregationRule"));
  for (const std::string_view name : {"rules", "subjects"}) {
    const JsonArray* const items = api::find_array(wanted, name);
    if (items == nullptr || gathers) continue;
    const JsonArray* const there = api::find_array(standing, name);
    JsonArray all = there == nullptr ? JsonArray() : *there;
    const std::size_t size = all.size();
    for (const Json& item : *items)
      if (std::ranges::find(all, item) == all.end()) all.push_back(item);
    if (all.size() > size) patch.emplace(name, std::move(all));
  }
  if (patch.empty()) return std::nullopt;
  return patch;
}

api::User role_aggregator() {
  return {.name = "system:serviceaccount:kube-system:clusterrole-aggregation-controller",
          .groups = {"system:serviceaccounts", "system:serviceaccounts:kube-system",
                     "system:authenticated"}};
}

}  // namespace muster::server
