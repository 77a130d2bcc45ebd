#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "api/decode.h"
#include "api/reading.h"
#include "api/same_text.h"
#include "api/schema/schema.h"
#include "api/validation/addresses.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/pod.h"

namespace muster::api {
namespace {

constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
constexpr std::string_view kUpdateRule =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

// Undoes a change that is allowed, so that what remains different is not.
void put_back(JsonObject& now, const JsonObject& old, const char* member) {
  if (const Json* before = old.if_contains(member))
    now[member] = *before;
  else
    now.erase(member);
}

// The spec with every absent, empty and defaulted form made equal.
Json normalized(const Json& spec) {
  Result<ParsedJson> parsed =
      parse_json(canonical_text(schema::message("core/v1", "PodSpec"), spec));
  return parsed ? std::move(parsed->value) : Json(JsonObject());
}

// False if containers were added or removed; then there is no point in comparing further.
bool validate_same_containers(const Json& now, const Json& old, std::string_view list,
                              FieldErrors& errors) {
  if (elements(now, list).size() == elements(old, list).size()) return true;
  const FieldPath path("spec");
  errors.forbidden(path.child(list), "pod updates may not add or remove containers");
  return false;
}

// A deadline may be set, or brought forward. False if it is wrong in a way that ends the
// comparison.
bool validate_deadline_update(const Json& now, const Json& old, FieldErrors& errors) {
  const FieldPath path("spec.activeDeadlineSeconds");
  const auto after = find_integer(now, "activeDeadlineSeconds");
  const auto before = find_integer(old, "activeDeadlineSeconds");
  if (!after) {
    if (before)
      errors.invalid(path, ShownValue::null(),
                     "must not update from a positive integer to nil value");
    return true;
  }
  if (*after < 0 || *after > kSecondsMax) {
    errors.invalid(path, *after, inclusive_range(0, kSecondsMax));
    return false;
  }
  if (before && *before < *after) {
    errors.invalid(path, *after, "must be less than or equal to previous value");
    return false;
  }
  return true;
}

// What of a toleration may not change: all but its seconds.
using FixedToleration =
    std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
FixedToleration fixed_part(const Json& toleration) {
  return {find_string(toleration, "key"), find_string(toleration, "operator"),
          find_string(toleration, "value"), find_string(toleration, "effect")};
}

void validate_only_added_tolerations(const Json& now, const Json& old, FieldErrors& errors) {
  const JsonArray& after = elements(now, "tolerations");
  const FieldPath path("spec.tolerations");
  std::set<FixedToleration> kept;
  for (const Json& toleration : after) kept.insert(fixed_part(toleration));
  for (const Json& toleration : elements(old, "tolerations")) {
    if (kept.contains(fixed_part(toleration))) continue;
    errors.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
  validate_tolerations(after, path, errors);
}

void validate_only_removed_gates(const Json& now, const Json& old, FieldErrors& errors) {
  std::set<std::string_view> before;
  for (const Json& gate : elements(old, "schedulingGates"))
    before.insert(find_string(gate, "name"));
  const FieldPath path("spec.schedulingGates");
  std::size_t at = 0;
  for (const Json& gate : elements(now, "schedulingGates")) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(gate, "name");
    if (!before.contains(name))
      errors.forbidden(
          here.child("name"),
          fmt::format("only deletion is allowed, but found new scheduling gate '{}'", name));
  }
}

// While gated, a pod's node selector may only grow.
void validate_grown_node_selector(const Json& now, const Json& old, FieldErrors& errors) {
  const JsonObject& after = members(now, "nodeSelector");
  for (const auto& pair : members(old, "nodeSelector")) {
    const Json* value = after.if_contains(pair.key());
    if (value != nullptr && *value == pair.value()) continue;
    errors.invalid(FieldPath("spec.nodeSelector"), Json(after),
                   "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    return;
  }
}

bool starts_with(const JsonArray& list, const JsonArray& beginning) {
  return list.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), list.begin());
}

// A term that matches nothing must go on matching nothing.
bool only_adds(const Json& after, const Json& before) {
  const JsonArray& expressions = elements(before, "matchExpressions");
  const JsonArray& fields = elements(before, "matchFields");
  const JsonArray& new_expressions = elements(after, "matchExpressions");
  const JsonArray& new_fields = elements(after, "matchFields");
  if (expressions.empty() && fields.empty()) return new_expressions.empty() && new_fields.empty();
  return starts_with(new_expressions, expressions) && starts_with(new_fields, fields);
}

// While gated, a pod's required node affinity may only become narrower.
void validate_narrowed_affinity(const Json& now, const Json& old, FieldErrors& errors) {
  constexpr std::string_view kTerms =
      "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";
  const Json* before = find_path(old, kTerms);
  const Json* after = find_path(now, kTerms);
  if (before == nullptr || elements(*before, "nodeSelectorTerms").empty()) return;
  static const Json kNone;
  const JsonArray& old_terms = elements(*before, "nodeSelectorTerms");
  const JsonArray& new_terms = elements(after == nullptr ? kNone : *after, "nodeSelectorTerms");
  const FieldPath path(
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
      "nodeSelectorTerms");
  if (old_terms.size() != new_terms.size()) {
    errors.invalid(path, Json(new_terms),
                   "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    return;
  }
  for (std::size_t i = 0; i < old_terms.size(); ++i)
    if (!only_adds(new_terms[i], old_terms[i]))
      errors.invalid(path.index(i), new_terms[i],
                     "only additions are allowed (no mutations or deletions)");
}

// Replaces the node affinity of `spec` by the old one, so that the rest can be compared.
void put_back_node_affinity(JsonObject& spec, const JsonObject& old) {
  const Json* old_affinity = old.if_contains("affinity");
  const Json* before = old_affinity == nullptr ? nullptr : find_set(*old_affinity, "nodeAffinity");
  JsonObject& affinity = ensure_object(spec, "affinity");
  if (before != nullptr)
    affinity["nodeAffinity"] = *before;
  else
    affinity.erase("nodeAffinity");
  if (affinity.empty() && old_affinity == nullptr) spec.erase("affinity");
}

void put_back_images(JsonObject& spec, const JsonObject& old) {
  for (const char* list : {"containers", "initContainers"}) {
    Json* containers = spec.if_contains(list);
    const Json* before = old.if_contains(list);
    if (containers == nullptr || before == nullptr) continue;
    if (!containers->is_array() || !before->is_array()) continue;
    JsonArray& after = containers->get_array();
    for (std::size_t i = 0; i < after.size() && i < before->get_array().size(); ++i)
      if (after[i].is_object() && before->get_array()[i].is_object())
        put_back(after[i].get_object(), before->get_array()[i].get_object(), "image");
  }
}

// "\n- nodeName: \"a\"\n+ nodeName: \"b\"" for each member that differs.
std::string difference(const JsonObject& now, const JsonObject& old) {
  std::string text;
  std::set<std::string_view> names;
  for (const auto& member : old) names.insert(key_of(member));
  for (const auto& member : now) names.insert(key_of(member));
  for (const std::string_view name : names) {
    const Json* before = old.if_contains({name.data(), name.size()});
    const Json* after = now.if_contains({name.data(), name.size()});
    if (before != nullptr && after != nullptr && *before == *after) continue;
    if (before != nullptr) text += fmt::format("\n- {}: {}", name, to_text(*before));
    if (after != nullptr) text += fmt::format("\n+ {}: {}", name, to_text(*after));
  }
  return text;
}

// Everything but the few members that may change must be as it was. Containers must have been
// matched.
void validate_unchanged(const Json& now, const Json& old, FieldErrors& errors) {
  if (same_text(now, old)) return;
  const Json old_spec = normalized(old);
  Json new_spec = normalized(now);
  if (new_spec == old_spec || !new_spec.is_object() || !old_spec.is_object()) return;
  const JsonObject& before = old_spec.get_object();
  JsonObject& after = new_spec.get_object();
  put_back_images(after, before);
  for (const char* member : {"activeDeadlineSeconds", "schedulingGates", "tolerations"})
    put_back(after, before, member);
  if (find_integer(old_spec, "terminationGracePeriodSeconds").value_or(0) < 0 &&
      find_integer(new_spec, "terminationGracePeriodSeconds") == 1)
    put_back(after, before, "terminationGracePeriodSeconds");
  if (!elements(old_spec, "schedulingGates").empty()) {
    validate_grown_node_selector(new_spec, old_spec, errors);
    put_back(after, before, "nodeSelector");
    validate_narrowed_affinity(new_spec, old_spec, errors);
    put_back_node_affinity(after, before);
  }
  if (after != before)
    errors.forbidden(FieldPath("spec"),
                     fmt::format("{}{}", kUpdateRule, difference(after, before)));
}

void validate_annotation_update(const Json& now, const Json& old, FieldErrors& errors) {
  const FieldPath path("metadata.annotations");
  const std::string key(kMirrorAnnotation);
  const Json* after = members(part_of(now, "metadata"), "annotations").if_contains(key);
  const Json* before = members(part_of(old, "metadata"), "annotations").if_contains(key);
  if (before != nullptr && (after == nullptr || *after != *before))
    errors.forbidden(path.key(kMirrorAnnotation), "may not remove or update mirror pod annotation");
  if (before == nullptr && after != nullptr)
    errors.forbidden(path.key(kMirrorAnnotation), "may not add mirror pod annotation");
}

// --- status

void validate_conditions(const Json& status, FieldErrors& errors) {
  const FieldPath path("metadata.conditions");  // upstream's path
  std::size_t at = 0;
  for (const Json& condition : elements(status, "conditions")) {
    const FieldPath here = path.index(at++);
    const std::string_view type = find_string(condition, "type");
    errors.invalid_each(here.child("Type"), type, check_qualified_name(type));
  }
}

bool is_terminated(const Json& container_status) {
  return find_set(part_of(container_status, "state"), "terminated") != nullptr;
}

// A container that has ended for good may not come back to life.
void validate_transitions(const Json& now, const Json& old, std::string_view list,
                          std::string_view restart_policy,
                          const std::set<std::string_view>& sidecars, FieldErrors& errors) {
  if (restart_policy == "Always") return;
  const FieldPath base("status");
  const FieldPath path = base.child(list);
  std::map<std::string_view, std::size_t> alive;  // how many by that name
  for (const Json& after : elements(now, list))
    if (!is_terminated(after)) ++alive[find_string(after, "name")];
  std::size_t at = 0;
  for (const Json& before : elements(old, list)) {
    const FieldPath here = path.index(at++);
    if (!is_terminated(before)) continue;
    const Json* exit_code = find_path(before, "state.terminated.exitCode");
    const bool failed = exit_code != nullptr && integer_of(*exit_code).value_or(0) != 0;
    if (failed && restart_policy == "OnFailure") continue;
    const std::string_view name = find_string(before, "name");
    if (sidecars.contains(name)) continue;
    const auto count = alive.find(name);
    if (count == alive.end()) continue;
    errors.forbidden(here.child("state"), "may not be transitioned to non-terminated state");
    errors.repeat_last(count->second - 1);
  }
}

void validate_nomination(const Json& now, const Json& old, FieldErrors& errors) {
  const std::string_view node = find_string(part_of(now, "status"), "nominatedNodeName");
  if (node.empty() || node == find_string(part_of(old, "status"), "nominatedNodeName")) return;
  const FieldPath path("status.nominatedNodeName");
  errors.invalid_each(path, node, check_dns_subdomain(node));
  if (!find_string(part_of(old, "spec"), "nodeName").empty())
    errors.forbidden(path, "may not be set on pods that are already bound to a node");
}

void validate_claim_statuses(const Json& pod, FieldErrors& errors) {
  std::set<std::string_view> declared;
  for (const Json& claim : elements(part_of(pod, "spec"), "resourceClaims"))
    declared.insert(find_string(claim, "name"));
  const FieldPath path("status.resourceClaimStatuses");
  std::set<std::string_view> seen;
  std::size_t at = 0;
  for (const Json& status : elements(part_of(pod, "status"), "resourceClaimStatuses")) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(status, "name");
    if (!declared.contains(name))
      errors.invalid(here.child("name"), name,
                     "must match the name of an entry in `spec.resourceClaims`");
    if (!seen.insert(name).second) errors.duplicate(here.child("name"), name);
    if (const std::string_view claim = find_string(status, "resourceClaimName"); !claim.empty())
      errors.invalid_each(here.child("name"), claim, check_dns_subdomain(claim));
  }
}

void validate_pod_ips(const Json& status, FieldErrors& errors) {
  const FieldPath path("status.podIPs");
  const JsonArray& ips = elements(status, "podIPs");
  std::set<IpFamily> families;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < ips.size(); ++i) {
    const std::string_view ip = find_string(ips[i], "ip");
    const IpFamily family = ip_family(ip);
    if (family == IpFamily::None) errors.invalid(path.index(i), ip, kBadIp);
    families.insert(family);
  }
  if (families.size() < ips.size())
    errors.invalid(path, Json(ips), "may specify no more than one IP for each IP family");
  for (std::size_t i = 0; i < ips.size(); ++i)
    if (!seen.insert(find_string(ips[i], "ip")).second) errors.duplicate(path.index(i), ips[i]);
}

}  // namespace

FieldErrors validate_pod_update(const Json& now, const Json& old) {
  FieldErrors errors;
  const Json& after = part_of(now, "spec");
  const Json& before = part_of(old, "spec");
  validate_object_meta_update(now, old, errors);
  validate_pod_metadata_and_spec(now, errors);
  validate_annotation_update(now, old, errors);
  if (!validate_same_containers(after, before, "containers", errors)) return errors;
  if (!validate_same_containers(after, before, "initContainers", errors)) return errors;
  if (!validate_deadline_update(after, before, errors)) return errors;
  validate_only_added_tolerations(after, before, errors);
  validate_only_removed_gates(after, before, errors);
  validate_unchanged(after, before, errors);
  return errors;
}

FieldErrors validate_pod_status_update(const Json& now, const Json& old) {
  FieldErrors errors;
  const Json& status = part_of(now, "status");
  const Json& old_status = part_of(old, "status");
  const Json& old_spec = part_of(old, "spec");
  validate_object_meta_update(now, old, errors);
  validate_annotation_update(now, old, errors);
  validate_conditions(status, errors);
  if (find_string(part_of(now, "spec"), "nodeName") != find_string(old_spec, "nodeName"))
    errors.forbidden(FieldPath("status.nodeName"), "may not be changed directly");
  validate_nomination(now, old, errors);
  const std::string_view qos = find_string(status, "qosClass");
  if (qos != find_string(old_status, "qosClass"))
    errors.invalid(FieldPath("status.qosClass"), qos, "field is immutable");

  const std::string_view restart_policy = find_string(old_spec, "restartPolicy");
  std::set<std::string_view> sidecars;
  for (const Json& container : elements(old_spec, "initContainers"))
    if (find_string(container, "restartPolicy") == "Always")
      sidecars.insert(find_string(container, "name"));
  validate_transitions(status, old_status, "containerStatuses", restart_policy, {}, errors);
  validate_transitions(status, old_status, "initContainerStatuses", restart_policy, sidecars,
                       errors);
  validate_transitions(status, old_status, "ephemeralContainerStatuses", "Never", {}, errors);
  validate_claim_statuses(now, errors);
  validate_pod_ips(status, errors);
  return errors;
}

}  // namespace muster::api
