#include "server/access/escalation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "server/access/rule_cover.h"

namespace muster::server {
namespace {

using api::Json;

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

// --- what a refusal says ---

// ["get" "list"], as upstream prints lists of texts.
std::string quoted(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts)
    out += fmt::format("{}{:?}", out.size() == 1 ? "" : " ", text);
  return out + "]";
}

// {APIGroups:[""], Resources:["pods"], Verbs:["get"]}
std::string text_of(const PolicyRule& rule) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, const std::vector<std::string>& list) {
    if (!list.empty()) parts.push_back(fmt::format("{}:{}", name, quoted(list)));
  };
  add("APIGroups", rule.api_groups);
  add("Resources", rule.resources);
  add("NonResourceURLs", rule.non_resource_urls);
  add("ResourceNames", rule.resource_names);
  add("Verbs", rule.verbs);
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
  const std::shared_ptr<const Roles> roles = authorizer.roles();
  const Roles::Held held = roles->held_by(request.user, request.name_space);
  const MissingRights missing = find_missing(held.rules, granted);
  if (missing.none()) return {};
  if (missing.unknown && missing.rights.empty())
    return fail(forbidden(request, document,
                          "the rules are too many or too different from each other to compare them "
                          "with what the user holds: split the role"));
  std::set<std::string> lines;
  for (const PolicyRule& right : missing.rights) lines.insert(text_of(right));
  std::string why = fmt::format(
      "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
      request.user.name, quoted(request.user.groups), fmt::join(lines, "\n"));
  if (missing.more || missing.unknown) why += "\nand others";
  if (!held.errors.empty()) why += fmt::format("; resolution errors: [{}]", held.errors);
  return fail(forbidden(request, document, why));
}

// --- the four kinds ---

// Whether a change grants nothing: finalizers, owners and the like may change by themselves.
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
  // An aggregated role gets what its selectors find, now and later.
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
