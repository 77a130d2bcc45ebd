#include "server/access/reviews.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/access/distinct_rules.h"
#include "server/access/escalation.h"

namespace muster::server {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::string_view kAuthorization = "authorization.k8s.io";
// People read a page of them; a user who wants to make others wait could write thousands.
constexpr std::size_t kListedRulesMax = 4'096;
constexpr std::int64_t kTokenSecondsMin = 600;
constexpr std::int64_t kTokenSecondsDefault = 3'600;
constexpr std::int64_t kTokenSecondsMax = 1LL << 32U;

std::vector<std::string> texts(const Json* list) {
  std::vector<std::string> out;
  if (list != nullptr && list->is_array())
    for (const Json& item : list->get_array())
      if (item.is_string()) out.emplace_back(std::string_view(item.get_string()));
  return out;
}

JsonArray list_of(const std::vector<std::string>& items) {
  JsonArray out;
  for (const std::string& item : items) out.emplace_back(item);
  return out;
}

Json user_info(const Identity& who) {
  JsonObject out{{"username", who.user.name}};
  if (!who.uid.empty()) out.emplace("uid", who.uid);
  if (!who.user.groups.empty()) out.emplace("groups", list_of(who.user.groups));
  if (who.extra.empty()) return out;
  JsonObject extra;
  for (const auto& [key, values] : who.extra) extra.emplace(key, list_of(values));
  out.emplace("extra", std::move(extra));
  return out;
}

Error invalid(const api::Request& request, std::string_view kind, std::vector<Cause> causes) {
  std::string list;
  for (const Cause& cause : causes)
    list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", cause.field, cause.message);
  if (causes.size() > 1) list = fmt::format("[{}]", list);
  Error error = make_error(Reason::Invalid, R"({}.{} "{}" is invalid: {})", kind,
                           request.kind->group.empty() ? kAuthentication : request.kind->group,
                           request.name, list);
  error.kind = kind;
  error.group = request.kind->group.empty() ? kAuthentication : request.kind->group;
  error.name = request.name;
  error.causes = std::move(causes);
  return error;
}

Cause cause(std::string_view type, std::string_view field, std::string_view message) {
  return {.type = std::string(type), .field = std::string(field), .message = std::string(message)};
}

// What the review asks about; exactly one of the two forms must be there.
Result<Attributes> asked_attributes(const api::Request& request, const Json& spec) {
  const Json* const resource = api::find(spec, "resourceAttributes");
  const Json* const path = api::find(spec, "nonResourceAttributes");
  const std::string_view kind = request.kind->kind;
  if (resource != nullptr && path != nullptr)
    return fail(invalid(request, kind,
                        {cause("FieldValueInvalid", "spec.nonResourceAttributes",
                               "Invalid value: cannot be specified in combination with "
                               "resourceAttributes")}));
  if (resource == nullptr && path == nullptr)
    return fail(invalid(request, kind,
                        {cause("FieldValueInvalid", "spec.resourceAttributes",
                               "Invalid value: exactly one of nonResourceAttributes or "
                               "resourceAttributes must be specified")}));
  const auto text = [](const Json& from, std::string_view member) {
    return std::string(api::find_string(from, member));
  };
  if (path != nullptr)
    return Attributes{
        .is_resource = false, .verb = text(*path, "verb"), .path = text(*path, "path")};
  return Attributes{.is_resource = true,
                    .verb = text(*resource, "verb"),
                    .group = text(*resource, "group"),
                    .version = text(*resource, "version"),
                    .resource = text(*resource, "resource"),
                    .subresource = text(*resource, "subresource"),
                    .name_space = text(*resource, "namespace"),
                    .name = text(*resource, "name")};
}

// What the pod says it runs as; empty if it says nothing.
std::string account_of_pod(const api::Object& pod) {
  const Json document = pod.document();
  const Json* const spec = api::find(document, "spec");
  return std::string(spec == nullptr ? "" : api::find_string(*spec, "serviceAccountName"));
}

// Where the pod runs; none if it is not bound yet. A node that is not there has no uid.
std::optional<BoundObject> node_of_pod(const store::Store& store, std::string_view name_space,
                                       std::string_view name) {
  const api::ObjectPtr pod = store.get(store::make_key(api::kinds::pod(), name_space, name));
  if (pod == nullptr) return std::nullopt;
  const Json document = pod->document();
  const Json* const spec = api::find(document, "spec");
  const std::string_view node = spec != nullptr ? api::find_string(*spec, "nodeName") : "";
  if (node.empty()) return std::nullopt;
  const api::ObjectPtr object = store.get(store::make_key(api::kinds::node(), "", node));
  return BoundObject{.kind = "Node",
                     .name = std::string(node),
                     .uid = object == nullptr ? "" : object->meta().uid};
}

Json rule_json(const PolicyRule& rule) {
  JsonObject out{{"verbs", list_of(rule.verbs)}};
  if (!rule.non_resource_urls.empty()) {
    out.emplace("nonResourceURLs", list_of(rule.non_resource_urls));
    return out;
  }
  out.emplace("apiGroups", list_of(rule.api_groups));
  out.emplace("resources", list_of(rule.resources));
  if (!rule.resource_names.empty()) out.emplace("resourceNames", list_of(rule.resource_names));
  return out;
}

}  // namespace

bool Reviews::handles(const api::Request& request) {
  if (request.verb != api::Verb::Create || request.kind == nullptr) return false;
  if (request.kind->group == kAuthentication || request.kind->group == kAuthorization) return true;
  return request.kind->kind == "ServiceAccount" && request.subresource == "token";
}

Result<api::Answer> Reviews::answer(api::Request& request, const Identity& who, Time now,
                                    Entropy& entropy) const {
  const bool is_token = request.subresource == "token";
  const std::string_view kind = is_token ? "TokenRequest" : std::string_view(request.kind->kind);
  Json status;
  if (is_token)
    status = TRY(make_token(request, now, entropy));
  else if (kind == "TokenReview")
    status = TRY(review_token(request, now));
  else if (kind == "SelfSubjectReview")
    status = JsonObject{{"userInfo", user_info(who)}};
  else if (kind == "SelfSubjectRulesReview")
    status = TRY(review_rules(request));
  else
    status = TRY(review_access(request));

  JsonObject document{{"kind", kind},
                      {"apiVersion", is_token ? fmt::format("{}/v1", kAuthentication)
                                              : request.kind->api_version(request.version)}};
  JsonObject& said = request.body.as_object();
  document.emplace("metadata", said.contains("metadata") ? said.at("metadata") : JsonObject());
  if (is_token) {
    JsonObject& metadata = api::ensure_object(document, "metadata");
    metadata.insert_or_assign("name", request.name);
    metadata.insert_or_assign("namespace", request.name_space);
    metadata.insert_or_assign("creationTimestamp", format_time(now));
  }
  if (said.contains("spec")) document.emplace("spec", std::move(said.at("spec")));
  document.emplace("status", std::move(status));
  return api::Answer{.what = api::DocumentAnswer{.document = std::move(document), .code = 201},
                     .warnings = std::move(request.warnings)};
}

Result<Json> Reviews::review_access(const api::Request& request) const {
  const Json* const spec = api::find(request.body, "spec");
  static const Json kNoSpec = JsonObject();
  const Json& asked_spec = spec != nullptr ? *spec : kNoSpec;
  const Attributes asked = TRY(asked_attributes(request, asked_spec));
  api::User user = request.user;
  if (!request.kind->kind.starts_with("Self")) {
    user = {.name = std::string(api::find_string(asked_spec, "user")),
            .groups = texts(api::find(asked_spec, "groups"))};
    if (user.name.empty() && user.groups.empty())
      return fail(invalid(request, request.kind->kind,
                          {cause("FieldValueInvalid", "spec.user",
                                 R"(Invalid value: "": at least one of user or group must be )"
                                 "specified")}));
  }
  if (request.kind->kind == "LocalSubjectAccessReview" && asked.name_space != request.name_space)
    return fail(invalid(request, request.kind->kind,
                        {cause("FieldValueInvalid", "spec.resourceAttributes.namespace",
                               fmt::format(R"(Invalid value: "{}": must match metadata.namespace)",
                                           asked.name_space))}));
  const AccessDecision decision = authorizer_.judge(user, asked);
  JsonObject status{{"allowed", decision.allowed}};
  if (!decision.reason.empty())
    status.emplace(decision.allowed ? "reason" : "evaluationError", decision.reason);
  return status;
}

Result<Json> Reviews::review_rules(const api::Request& request) const {
  const Json* const spec = api::find(request.body, "spec");
  const std::string_view name_space = spec != nullptr ? api::find_string(*spec, "namespace") : "";
  if (name_space.empty()) return fail(Reason::BadRequest, "no namespace on request");
  const std::shared_ptr<const Roles> roles = authorizer_.roles();
  Roles::Held held = roles->held_by(request.user, name_space);
  // They may everything even where no binding says so.
  const std::vector<PolicyRule> all =
      is_master(request.user) ? all_rights() : std::vector<PolicyRule>{};
  std::vector<const PolicyRule*> rules;
  for (const PolicyRule& rule : all) rules.push_back(&rule);
  rules.insert(rules.end(), held.rules.begin(), held.rules.end());
  const DistinctRules listed = distinct_rules(rules, kListedRulesMax);
  JsonArray resources;
  JsonArray paths;
  for (const PolicyRule* rule : listed.rules)
    (rule->non_resource_urls.empty() ? resources : paths).push_back(rule_json(*rule));
  JsonObject status{{"incomplete", listed.more},
                    {"nonResourceRules", std::move(paths)},
                    {"resourceRules", std::move(resources)}};
  if (listed.more) {
    if (!held.errors.empty()) held.errors += "; ";
    held.errors += fmt::format("only the first {} rules are listed", kListedRulesMax);
  }
  if (!held.errors.empty()) status.emplace("evaluationError", std::move(held.errors));
  return status;
}

Result<Json> Reviews::review_token(const api::Request& request, Time now) const {
  const Json* const spec = api::find(request.body, "spec");
  const std::string_view token = spec != nullptr ? api::find_string(*spec, "token") : "";
  if (token.empty())
    return fail(Reason::BadRequest, "token is required for TokenReview in authentication");
  const auto known = authenticator_.who_has_token(
      token, texts(spec != nullptr ? api::find(*spec, "audiences") : nullptr), now);
  if (!known) return JsonObject{{"user", JsonObject()}, {"error", "invalid bearer token"}};
  return JsonObject{{"authenticated", true},
                    {"user", user_info(known->who)},
                    {"audiences", list_of(known->audiences)}};
}

// What the token is to end with: it must stand now, with that uid if one is named.
Result<BoundObject> Reviews::bound_object(const api::Request& request, const Json& said) const {
  BoundObject out{.kind = std::string(api::find_string(said, "kind")),
                  .name = std::string(api::find_string(said, "name")),
                  .uid = std::string(api::find_string(said, "uid"))};
  const bool known = out.kind == "Pod" || out.kind == "Secret" || out.kind == "Node";
  const api::Kind* const kind = known ? api::find_kind("", out.kind) : nullptr;
  if (kind == nullptr)
    return fail(Reason::BadRequest,
                R"(cannot bind token for serviceaccount "{}" to object of type )"
                "{}, Kind={}",
                request.name, api::find_string(said, "apiVersion"), out.kind);
  const api::ObjectPtr object =
      store_.get(store::make_key(*kind, kind->namespaced ? request.name_space : "", out.name));
  if (object == nullptr) {
    Error error = make_error(Reason::NotFound, R"({} "{}" not found)", kind->plural, out.name);
    error.name = out.name;
    error.kind = kind->plural;
    return fail(std::move(error));
  }
  if (!out.uid.empty() && out.uid != object->meta().uid)
    return fail(
        Reason::Conflict,
        R"(Operation cannot be fulfilled on {} "{}": the UID in the bound object reference )"
        "({}) does not match the UID in record. The object might have been deleted and then "
        "recreated",
        kind->plural, out.name, out.uid);
  if (out.kind == "Pod")
    if (const std::string account = account_of_pod(*object);
        !account.empty() && account != request.name)
      return fail(Reason::BadRequest,
                  R"(cannot bind token for serviceaccount "{}" to pod running with different )"
                  "serviceaccount name.",
                  request.name);
  out.uid = object->meta().uid;
  return out;
}

Result<Json> Reviews::make_token(api::Request& request, Time now, Entropy& entropy) const {
  if (key_ == nullptr)
    return fail(Reason::ServiceUnavailable, "this server has no key to sign tokens with");
  const api::ObjectPtr account =
      store_.get(store::make_key(*request.kind, request.name_space, request.name));
  if (account == nullptr) {
    Error error = make_error(Reason::NotFound, R"(serviceaccounts "{}" not found)", request.name);
    error.name = request.name;
    error.kind = "serviceaccounts";
    return fail(std::move(error));
  }
  const Json* const spec = api::find(request.body, "spec");
  const Json* const asked = spec != nullptr ? api::find(*spec, "expirationSeconds") : nullptr;
  const std::int64_t seconds =
      asked != nullptr && asked->is_int64() ? asked->get_int64() : kTokenSecondsDefault;
  if (seconds < kTokenSecondsMin || seconds > kTokenSecondsMax)
    return fail(invalid(
        request, "TokenRequest",
        {cause(
            "FieldValueInvalid", "spec.expirationSeconds",
            seconds < kTokenSecondsMin
                ? fmt::format("Invalid value: {}: may not specify a duration less than 10 minutes",
                              seconds)
                : fmt::format("Invalid value: {}: may not specify a duration larger than 2^32 "
                              "seconds",
                              seconds))}));
  TokenClaims claims{
      .issuer = std::string(kTokenIssuer),
      .audiences = texts(spec != nullptr ? api::find(*spec, "audiences") : nullptr),
      .name_space = request.name_space,
      .account = request.name,
      .account_uid = account->meta().uid,
      .bound = std::nullopt,
      .node = std::nullopt,
      .id = random_uuid(entropy),
      .issued_at = std::chrono::floor<std::chrono::seconds>(now),
      .expires_at = std::chrono::floor<std::chrono::seconds>(now) + std::chrono::seconds(seconds)};
  if (claims.audiences.empty()) claims.audiences = {std::string(kTokenIssuer)};
  JsonObject& decided = api::ensure_object(request.body.as_object(), "spec");
  decided["audiences"] = list_of(claims.audiences);
  decided["expirationSeconds"] = seconds;
  if (const Json* bound = spec != nullptr ? api::find(*spec, "boundObjectRef") : nullptr)
    claims.bound = TRY(bound_object(request, *bound));
  if (claims.bound && claims.bound->kind == "Pod")
    claims.node = node_of_pod(store_, request.name_space, claims.bound->name);
  return JsonObject{{"token", key_->sign(claims)},
                    {"expirationTimestamp", format_time(claims.expires_at)}};
}

}  // namespace muster::server
