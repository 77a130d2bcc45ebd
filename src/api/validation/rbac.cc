#include <cstdint>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"

// Roles and bindings: whether they are well-formed, not what they allow.
namespace muster::api::rules {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

enum class Scope : std::uint8_t { Namespace, Cluster };

void validate_rule(const Json& rule, Scope scope, const FieldPath& path, FieldErrors& errors) {
  if (elements(rule, "verbs").empty())
    errors.required(path.child("verbs"), "verbs must contain at least one value");
  if (const JsonArray& urls = elements(rule, "nonResourceURLs"); !urls.empty()) {
    const Json shown = urls;
    if (scope == Scope::Namespace)
      errors.invalid(path.child("nonResourceURLs"), shown,
                     "namespaced rules cannot apply to non-resource URLs");
    if (!elements(rule, "apiGroups").empty() || !elements(rule, "resources").empty() ||
        !elements(rule, "resourceNames").empty())
      errors.invalid(path.child("nonResourceURLs"), shown,
                     "rules cannot apply to both regular resources and non-resource URLs");
    return;
  }
  if (elements(rule, "apiGroups").empty())
    errors.required(path.child("apiGroups"), "resource rules must supply at least one api group");
  if (elements(rule, "resources").empty())
    errors.required(path.child("resources"), "resource rules must supply at least one resource");
}

void validate_rules(const Json& role, Scope scope, FieldErrors& errors) {
  const FieldPath path("rules");
  std::size_t at = 0;
  for (const Json& rule : elements(role, "rules"))
    validate_rule(rule, scope, path.index(at++), errors);
}

void validate_role_ref(const Json& binding, std::span<const std::string_view> kinds,
                       FieldErrors& errors) {
  const FieldPath path("roleRef");
  const Json& reference = part_of(binding, "roleRef");
  constexpr std::string_view kGroups[] = {kGroup};
  if (const auto group = find_string(reference, "apiGroup"); group != kGroup)
    errors.not_supported(path.child("apiGroup"), group, kGroups);
  if (const auto kind = find_string(reference, "kind");
      std::ranges::find(kinds, kind) == kinds.end())
    errors.not_supported(path.child("kind"), kind, kinds);
  const std::string_view name = find_string(reference, "name");
  if (name.empty())
    errors.required(path.child("name"));
  else
    errors.invalid_each(path.child("name"), name, check_path_segment(name));
}

void validate_subject(const Json& subject, Scope scope, const FieldPath& path,
                      FieldErrors& errors) {
  const std::string_view name = find_string(subject, "name");
  const std::string_view kind = find_string(subject, "kind");
  const std::string_view group = find_string(subject, "apiGroup");
  if (name.empty()) errors.required(path.child("name"));
  if (kind == "ServiceAccount") {
    constexpr std::string_view kNoGroup[] = {""};
    if (!name.empty()) errors.invalid_each(path.child("name"), name, check_dns_subdomain(name));
    if (!group.empty()) errors.not_supported(path.child("apiGroup"), group, kNoGroup);
    if (scope == Scope::Cluster && find_string(subject, "namespace").empty())
      errors.required(path.child("namespace"));
  } else if (kind == "User" || kind == "Group") {
    constexpr std::string_view kGroups[] = {kGroup};
    if (group != kGroup) errors.not_supported(path.child("apiGroup"), group, kGroups);
  } else {
    constexpr std::string_view kKinds[] = {"ServiceAccount", "User", "Group"};
    errors.not_supported(path.child("kind"), kind, kKinds);
  }
}

// As upstream's message shows it: by the names that its members have in memory.
Json shown_role_ref(const Json& reference) {
  return JsonObject{{"APIGroup", find_string(reference, "apiGroup")},
                    {"Kind", find_string(reference, "kind")},
                    {"Name", find_string(reference, "name")}};
}

void validate_binding_of(const Json& now, const Json* old, Scope scope,
                         std::span<const std::string_view> kinds, FieldErrors& errors) {
  validate_role_ref(now, kinds, errors);
  const FieldPath path("subjects");
  std::size_t at = 0;
  for (const Json& subject : elements(now, "subjects"))
    validate_subject(subject, scope, path.index(at++), errors);
  if (old != nullptr && !same_meaning(find(now, "roleRef"), find(*old, "roleRef")))
    errors.invalid(FieldPath("roleRef"), shown_role_ref(part_of(now, "roleRef")),
                   "cannot change roleRef");
}

}  // namespace

// People and groups belong to this API group; accounts to core.
void default_role_binding(JsonObject& binding) {
  Json* subjects = binding.if_contains("subjects");
  if (subjects == nullptr || !subjects->is_array()) return;
  for (Json& subject : subjects->get_array()) {
    const std::string_view kind = find_string(subject, "kind");
    if ((kind == "User" || kind == "Group") && find_string(subject, "apiGroup").empty())
      subject.get_object()["apiGroup"] = kGroup;
  }
}

void validate_role(const Json& now, const Json*, FieldErrors& errors) {
  validate_rules(now, Scope::Namespace, errors);
}

void validate_cluster_role(const Json& now, const Json*, FieldErrors& errors) {
  validate_rules(now, Scope::Cluster, errors);
  const Json* aggregation = find_set(now, "aggregationRule");
  if (aggregation == nullptr) return;
  const FieldPath path("aggregationRule.clusterRoleSelectors");
  const JsonArray& selectors = elements(*aggregation, "clusterRoleSelectors");
  if (selectors.empty())
    errors.required(path,
                    "at least one clusterRoleSelector required if aggregationRule is non-nil");
  std::size_t at = 0;
  for (const Json& selector : selectors)
    validate_label_selector(&selector, path.index(at++), errors);
}

void validate_role_binding(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kKinds[] = {"Role", "ClusterRole"};
  validate_binding_of(now, old, Scope::Namespace, kKinds, errors);
}

void validate_cluster_role_binding(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kKinds[] = {"ClusterRole"};
  validate_binding_of(now, old, Scope::Cluster, kKinds, errors);
}

}  // namespace muster::api::rules
