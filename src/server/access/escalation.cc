#include "server/access/escalation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace muster::server {
namespace {

using api::Json;

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

// --- which rights a rule covers ---

bool has(const std::vector<std::string>& list, std::string_view wanted) {
  return std::ranges::find(list, wanted) != list.end();
}

bool has_or_all(const std::vector<std::string>& list, std::string_view wanted) {
  return has(list, "*") || has(list, wanted);
}

bool covers_resource(const PolicyRule& rule, const std::string& resource) {
  if (has_or_all(rule.resources, resource)) return true;
  const std::size_t slash = resource.find('/');
  return slash != std::string::npos && has(rule.resources, "*" + resource.substr(slash));
}

bool covers_url(const PolicyRule& rule, const std::string& url) {
  return std::ranges::any_of(rule.non_resource_urls, [&](std::string_view pattern) {
    return pattern == "*" || pattern == url ||
           (pattern.ends_with('*') && url.starts_with(pattern.substr(0, pattern.size() - 1)));
  });
}

// `right` has one verb, and one path or one group, resource and at most one name.
bool covers_right(const PolicyRule& rule, const PolicyRule& right) {
  if (!has_or_all(rule.verbs, right.verbs.front())) return false;
  if (!right.non_resource_urls.empty()) return covers_url(rule, right.non_resource_urls.front());
  if (!has_or_all(rule.api_groups, right.api_groups.front()) ||
      !covers_resource(rule, right.resources.front()))
    return false;
  if (rule.resource_names.empty()) return true;
  return !right.resource_names.empty() && has(rule.resource_names, right.resource_names.front());
}

// Hands each single right of the rule to `visit`.
template <typename Visit>
void each_right(const PolicyRule& rule, Visit&& visit) {
  for (const std::string& group : rule.api_groups)
    for (const std::string& resource : rule.resources)
      for (const std::string& verb : rule.verbs) {
        PolicyRule right{.verbs = {verb}, .api_groups = {group}, .resources = {resource}};
        if (rule.resource_names.empty()) visit(right);
        for (const std::string& name : rule.resource_names) {
          right.resource_names = {name};
          visit(right);
        }
      }
  for (const std::string& url : rule.non_resource_urls)
    for (const std::string& verb : rule.verbs)
      visit(PolicyRule{.verbs = {verb}, .non_resource_urls = {url}});
}

bool same_object(const PolicyRule& a, const PolicyRule& b) {
  return !a.resources.empty() && a.api_groups == b.api_groups && a.resources == b.resources &&
         a.resource_names == b.resource_names;
}

// --- what a refusal says ---

// ["get" "list"], as upstream prints lists of texts.
std::string quoted(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts)
    out += fmt::format("{}{:?}", out.size() == 1 ? "" : " ", text);
  return out + "]";
}

// {APIGroups:[""], Resources:["pods"], Verbs:["get"]}
std::string told(const PolicyRule& rule) {
  std::vector<std::string> parts;
  const auto tell = [&](std::string_view name, const std::vector<std::string>& list) {
    if (!list.empty()) parts.push_back(fmt::format("{}:{}", name, quoted(list)));
  };
  tell("APIGroups", rule.api_groups);
  tell("Resources", rule.resources);
  tell("NonResourceURLs", rule.non_resource_urls);
  tell("ResourceNames", rule.resource_names);
  tell("Verbs", rule.verbs);
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

Error forbidden(const api::Request& request, const Json& document, std::string_view why) {
  const Json* const meta = api::find(document, "metadata");
  std::string name(meta != nullptr ? api::find_string(*meta, "name") : "");
  std::string subject = fmt::format("{}.{}", request.kind->plural, request.kind->group);
  if (!name.empty()) subject += fmt::format(R"( "{}")", name);
  Error error = make_error(Reason::Forbidden, "{} is forbidden: {}", subject, why);
  error.name = std::move(name);
  error.group = request.kind->group;
  error.kind = request.kind->plural;
  return error;
}

// Whether the user holds all that is granted, where the request writes it.
Result<void> check_holds(const Authorizer& authorizer, const api::Request& request,
                         const Json& document, std::span<const PolicyRule> granted) {
  const Roles::Held held = authorizer.roles()->held_by(request.user, request.name_space);
  std::set<std::string> missing;
  for (const PolicyRule& right : rights_missing(held.rules, granted)) missing.insert(told(right));
  if (missing.empty()) return {};
  std::string why = fmt::format(
      "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
      request.user.name, quoted(request.user.groups), fmt::join(missing, "\n"));
  if (!held.errors.empty()) why += fmt::format("; resolution errors: [{}]", held.errors);
  return fail(forbidden(request, document, why));
}

// --- the four kinds ---

// Lets the collector of garbage, and anybody else, leave or take away what grants nothing.
bool only_ends_object(const Json& document, const Json& old) {
  const auto rest = [](Json of) {
    if (Json* meta = of.as_object().if_contains("metadata"); meta != nullptr && meta->is_object())
      for (const std::string_view member :
           {"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers",
            "generation", "managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid"})
        meta->get_object().erase(member);
    return of;
  };
  return rest(document) == rest(old);
}

bool aggregates(const Json& role) {
  const Json* const rule = api::find(role, "aggregationRule");
  return rule != nullptr && !rule->is_null();
}

Result<void> check_role(const Authorizer& authorizer, const api::Request& request,
                        const Json& document, const Json* old) {
  const Attributes escalate{.is_resource = true,
                            .verb = "escalate",
                            .group = std::string(kRbac),
                            .version = request.version,
                            .resource = request.kind->plural,
                            .name_space = request.name_space,
                            .name = request.name};
  if (authorizer.judge(request.user, escalate).allowed) return {};
  TRY(check_holds(authorizer, request, document, read_rules(document)));
  // An aggregated role takes in whatever its selectors find, now and later.
  if (!aggregates(document) && (old == nullptr || !aggregates(*old))) return {};
  if (!check_holds(authorizer, request, document, all_rights()))
    return fail(forbidden(request, document,
                          "must have cluster-admin privileges to use the aggregationRule"));
  return {};
}

Result<void> check_binding(const Authorizer& authorizer, const api::Request& request,
                           const Json& document) {
  const Json* const reference = api::find(document, "roleRef");
  if (reference == nullptr) return {};  // validation says so better
  const std::string kind(api::find_string(*reference, "kind"));
  const std::string name(api::find_string(*reference, "name"));
  const Attributes bind{.is_resource = true,
                        .verb = "bind",
                        .group = std::string(kRbac),
                        .version = request.version,
                        .resource = kind == "ClusterRole" ? "clusterroles" : "roles",
                        .name_space = request.name_space,
                        .name = name};
  if (authorizer.judge(request.user, bind).allowed) return {};
  const std::shared_ptr<const Roles> roles = authorizer.roles();
  const std::vector<PolicyRule>* const granted = roles->find_role(kind, request.name_space, name);
  if (granted == nullptr) {
    Error error = make_error(Reason::NotFound, "{}", role_not_found(kind, name));
    error.name = name;
    error.group = kRbac;
    error.kind = kind == "ClusterRole" ? "clusterrole" : "role";
    return fail(std::move(error));
  }
  return check_holds(authorizer, request, document, *granted);
}

}  // namespace

std::vector<PolicyRule> rights_missing(std::span<const PolicyRule> held,
                                       std::span<const PolicyRule> granted) {
  std::vector<PolicyRule> missing;
  for (const PolicyRule& rule : granted)
    each_right(rule, [&](const PolicyRule& right) {
      if (std::ranges::any_of(held,
                              [&](const PolicyRule& mine) { return covers_right(mine, right); }))
        return;
      const auto like = std::ranges::find_if(
          missing, [&](const PolicyRule& other) { return same_object(other, right); });
      if (like == missing.end())
        missing.push_back(right);
      else
        like->verbs.push_back(right.verbs.front());
    });
  return missing;
}

std::vector<PolicyRule> all_rights() {
  return {{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}},
          {.verbs = {"*"}, .non_resource_urls = {"*"}}};
}

Result<void> check_escalation(const Authorizer& authorizer, const api::Request& request,
                              const Json& document, const Json* old) {
  if (request.kind->group != kRbac || is_master(request.user)) return {};
  if (old != nullptr && only_ends_object(document, *old)) return {};
  if (request.kind->kind.ends_with("Binding")) return check_binding(authorizer, request, document);
  return check_role(authorizer, request, document, old);
}

}  // namespace muster::server
