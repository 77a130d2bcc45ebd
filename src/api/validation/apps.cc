#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/pod_template.h"
#include "api/validation/storage.h"

// The kinds of apps/v1, and their ancestors in core.
namespace muster::api::rules {
namespace {

const FieldPath kSpec("spec");

JsonObject& spec_of(JsonObject& document) { return ensure_object(document, "spec"); }

bool has(const JsonObject& object, std::string_view member) {
  const Json* found = object.if_contains(member);
  return found != nullptr && !found->is_null();
}

void default_member(JsonObject& object, std::string_view member, Json value) {
  if (!has(object, member)) object[member] = std::move(value);
}

std::string_view type_of(const JsonObject& strategy) {
  const Json* type = strategy.if_contains("type");
  return type == nullptr ? std::string_view() : text_of(*type);
}

// The selector never changes: there are pods that were made by it.
void validate_selector_unchanged(const Json& now, const Json* old, FieldErrors& errors) {
  if (old != nullptr)
    validate_immutable_members(part_of(now, "spec"), part_of(*old, "spec"), {"selector"}, kSpec,
                               errors);
}

// Amounts of a rollout; those named in `at_most_all` may not be above 100%.
void validate_surge(const Json& rolling, std::initializer_list<std::string_view> at_most_all,
                    const FieldPath& path, FieldErrors& errors) {
  for (const std::string_view member : {"maxUnavailable", "maxSurge"})
    if (const Json* amount = find_set(rolling, member))
      validate_amount(*amount, path.child(member), errors);
  for (const std::string_view member : at_most_all)
    if (const Json* amount = find_set(rolling, member))
      validate_at_most_all(*amount, path.child(member), errors);
}

// A strategy as upstream's messages show it: by the names that its members have in memory.
Json shown_strategy(const Json& strategy) {
  JsonObject rolling;
  for (const auto& member : members(strategy, "rollingUpdate")) {
    std::string name(key_of(member));
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    rolling[name] = member.value();
  }
  const bool rolls = find_set(strategy, "rollingUpdate") != nullptr;
  return JsonObject{{"Type", find_string(strategy, "type")},
                    {"RollingUpdate", rolls ? Json(rolling) : Json(nullptr)}};
}

bool is_zero(const Json& holder, std::string_view member) {
  const Json* amount = find_set(holder, member);
  return amount == nullptr || amount_value(*amount) == 0;
}

void validate_strategy(const Json& spec, FieldErrors& errors) {
  const FieldPath path = kSpec.child("strategy");
  const Json& strategy = part_of(spec, "strategy");
  const std::string_view type = find_string(strategy, "type");
  const Json* rolling = find_set(strategy, "rollingUpdate");
  const FieldPath rolling_path = path.child("rollingUpdate");
  if (type == "Recreate") {
    if (rolling != nullptr)
      errors.forbidden(rolling_path, "may not be specified when strategy `type` is 'Recreate'");
  } else if (type != "RollingUpdate") {
    constexpr std::string_view kTypes[] = {"Recreate", "RollingUpdate"};
    errors.not_supported(path, shown_strategy(strategy), kTypes);
  } else if (rolling == nullptr) {
    errors.required(rolling_path, "this should be defaulted and never be nil");
  } else {
    validate_surge(*rolling, {"maxUnavailable"}, rolling_path, errors);
    if (is_zero(*rolling, "maxUnavailable") && is_zero(*rolling, "maxSurge"))
      errors.invalid(rolling_path.child("maxUnavailable"), part_of(*rolling, "maxUnavailable"),
                     "may not be 0 when `maxSurge` is 0");
  }
}

void validate_daemon_update(const Json& spec, FieldErrors& errors) {
  const FieldPath path = kSpec.child("updateStrategy");
  const Json& strategy = part_of(spec, "updateStrategy");
  const std::string_view type = find_string(strategy, "type");
  if (type == "OnDelete") return;
  if (type != "RollingUpdate") {
    constexpr std::string_view kTypes[] = {"RollingUpdate", "OnDelete"};
    errors.not_supported(path, shown_strategy(strategy), kTypes);
    return;
  }
  const FieldPath rolling_path = path.child("rollingUpdate");
  const Json* rolling = find_set(strategy, "rollingUpdate");
  if (rolling == nullptr) return errors.required(rolling_path);
  validate_surge(*rolling, {"maxUnavailable", "maxSurge"}, rolling_path, errors);
  const bool no_unavailable = is_zero(*rolling, "maxUnavailable");
  const bool no_surge = is_zero(*rolling, "maxSurge");
  if (no_unavailable && no_surge)
    errors.required(rolling_path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0");
  if (!no_unavailable && !no_surge)
    errors.invalid(rolling_path.child("maxSurge"), part_of(*rolling, "maxSurge"),
                   "may not be set when maxUnavailable is non-zero");
}

void validate_stateful_policies(const Json& spec, FieldErrors& errors) {
  if (const auto policy = find_string(spec, "podManagementPolicy"); policy.empty())
    errors.required(kSpec.child("podManagementPolicy"));
  else if (policy != "OrderedReady" && policy != "Parallel")
    errors.invalid(kSpec.child("podManagementPolicy"), policy,
                   "must be 'OrderedReady' or 'Parallel'");
  const FieldPath path = kSpec.child("updateStrategy");
  const Json& strategy = part_of(spec, "updateStrategy");
  const std::string_view type = find_string(strategy, "type");
  const FieldPath rolling_path = path.child("rollingUpdate");
  const Json* rolling = find_set(strategy, "rollingUpdate");
  if (type.empty()) {
    errors.required(path);
  } else if (type == "OnDelete") {
    if (rolling != nullptr)
      errors.invalid(rolling_path, *rolling,
                     fmt::format("only allowed for updateStrategy '{}'", "RollingUpdate"));
  } else if (type != "RollingUpdate") {
    errors.invalid(path, shown_strategy(strategy), "must be 'RollingUpdate' or 'OnDelete'");
  } else if (rolling != nullptr) {
    not_negative(*rolling, {"partition"}, rolling_path, errors);
    if (const Json* unavailable = find_set(*rolling, "maxUnavailable")) {
      validate_amount(*unavailable, rolling_path.child("maxUnavailable"), errors);
      if (amount_value(*unavailable) == 0)
        errors.invalid(rolling_path.child("maxUnavailable"), *unavailable, "cannot be 0");
      validate_at_most_all(*unavailable, rolling_path.child("maxUnavailable"), errors);
    }
  }
  constexpr std::string_view kRetention[] = {"Retain", "Delete"};
  const FieldPath claims = kSpec.child("persistentVolumeClaimRetentionPolicy");
  if (const Json* policy = find_set(spec, "persistentVolumeClaimRetentionPolicy"))
    for (const std::string_view member : {"whenDeleted", "whenScaled"})
      if (const auto word = find_string(*policy, member);
          std::ranges::find(kRetention, word) == std::ranges::end(kRetention))
        errors.not_supported(claims.child(member), word, kRetention);
}

// The spec as its pods see it: with a volume for each claim they get, and without the names that
// the controller overwrites.
Json with_claimed_volumes(const Json& spec) {
  Json out = spec;
  if (!out.is_object()) return out;
  JsonObject& pod = ensure_object(ensure_object(out.get_object(), "template"), "spec");
  pod.erase("hostname");
  pod.erase("subdomain");
  if (elements(spec, "volumeClaimTemplates").empty()) return out;
  Json* found = pod.if_contains("volumes");
  if (found == nullptr || !found->is_array()) found = &(pod["volumes"] = JsonArray());
  JsonArray& volumes = found->get_array();
  std::map<std::string, std::size_t, std::less<>> places;  // by name
  for (std::size_t i = 0; i < volumes.size(); ++i)
    places.emplace(find_string(volumes[i], "name"), i);
  for (const Json& claim : elements(spec, "volumeClaimTemplates")) {
    const std::string_view name = find_string(part_of(claim, "metadata"), "name");
    const JsonObject volume{{"name", name},
                            {"persistentVolumeClaim", JsonObject{{"claimName", name}}}};
    if (const auto [place, is_new] = places.emplace(name, volumes.size()); is_new)
      volumes.push_back(volume);
    else
      volumes[place->second] = volume;
  }
  return out;
}

// A copy of `spec` without what may change.
Json fixed_part(const Json& spec, std::initializer_list<std::string_view> free) {
  Json out = spec;
  if (auto* object = out.if_object())
    for (const std::string_view member : free) object->erase(member);
  return out;
}

}  // namespace

void default_deployment(JsonObject& document) {
  JsonObject& spec = spec_of(document);
  default_pod_template(spec);
  JsonObject& strategy = ensure_object(spec, "strategy");
  if (type_of(strategy) != "RollingUpdate") return;
  JsonObject& rolling = ensure_object(strategy, "rollingUpdate");
  default_member(rolling, "maxUnavailable", "25%");
  default_member(rolling, "maxSurge", "25%");
}

void validate_deployment(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  not_negative(spec, {"replicas"}, kSpec, errors);
  validate_selector_and_template(spec, {.noun = "deployment", .owner = "ReplicaSet"}, kSpec,
                                 errors);
  validate_strategy(spec, errors);
  not_negative(spec, {"minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"}, kSpec,
               errors);
  if (const auto deadline = find_integer(spec, "progressDeadlineSeconds");
      deadline && *deadline <= find_integer(spec, "minReadySeconds").value_or(0))
    errors.invalid(kSpec.child("progressDeadlineSeconds"), *deadline,
                   "must be greater than minReadySeconds");
  validate_selector_unchanged(now, old, errors);
}

void default_replica_set(JsonObject& document) { default_pod_template(spec_of(document)); }

void validate_replica_set(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  not_negative(spec, {"replicas", "minReadySeconds"}, kSpec, errors);
  validate_selector_and_template(spec, {.noun = "deployment", .owner = "ReplicaSet"}, kSpec,
                                 errors);
  validate_selector_unchanged(now, old, errors);
}

void default_daemon_set(JsonObject& document) {
  JsonObject& spec = spec_of(document);
  default_pod_template(spec);
  JsonObject& strategy = ensure_object(spec, "updateStrategy");
  if (type_of(strategy) != "RollingUpdate") return;
  JsonObject& rolling = ensure_object(strategy, "rollingUpdate");
  default_member(rolling, "maxUnavailable", std::int64_t{1});
  default_member(rolling, "maxSurge", std::int64_t{0});
}

void validate_daemon_set(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_selector_and_template(
      spec, {.noun = "daemonset", .owner = "DaemonSet", .selector_required = false}, kSpec, errors);
  not_negative(spec, {"minReadySeconds"}, kSpec, errors);
  validate_daemon_update(spec, errors);
  not_negative(spec, {"revisionHistoryLimit"}, kSpec, errors);
  validate_selector_unchanged(now, old, errors);
}

void default_stateful_set(JsonObject& document) {
  JsonObject& spec = spec_of(document);
  default_pod_template(spec);
  JsonObject& strategy = ensure_object(spec, "updateStrategy");
  if (type_of(strategy) == "RollingUpdate")
    default_member(ensure_object(strategy, "rollingUpdate"), "partition", std::int64_t{0});
}

void validate_stateful_set(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_stateful_policies(spec, errors);
  const FieldPath claims = kSpec.child("volumeClaimTemplates");
  std::size_t at = 0;
  if (old == nullptr)
    for (const Json& claim : elements(spec, "volumeClaimTemplates")) {
      const FieldPath here = claims.index(at++);
      validate_claim_spec(part_of(claim, "spec"), here.child("spec"), errors);
    }
  not_negative(spec, {"replicas", "minReadySeconds"}, kSpec, errors);
  not_negative(part_of(spec, "ordinals"), {"start"}, kSpec.child("ordinals"), errors);
  not_negative(spec, {"revisionHistoryLimit"}, kSpec, errors);
  const Json whole = with_claimed_volumes(spec);
  validate_selector_and_template(whole, {.noun = "statefulset", .owner = "StatefulSet"}, kSpec,
                                 errors);
  if (const auto service = find_string(spec, "serviceName"); !service.empty() && old == nullptr)
    errors.invalid_each(kSpec.child("serviceName"), service, check_dns_label(service));
  if (old == nullptr) return;
  const auto fixed = [](const Json& document) {
    return fixed_part(part_of(document, "spec"),
                      {"replicas", "ordinals", "template", "updateStrategy", "minReadySeconds",
                       "persistentVolumeClaimRetentionPolicy", "revisionHistoryLimit"});
  };
  const Json before = fixed(*old);
  const Json after = fixed(now);
  if (!same_meaning(&after, &before))
    errors.forbidden(kSpec,
                     "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                     "'template', 'updateStrategy', 'revisionHistoryLimit', "
                     "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

void validate_controller_revision(const Json& now, const Json* old, FieldErrors& errors) {
  if (find_set(now, "data") == nullptr) errors.required(FieldPath("data"), "data is mandatory");
  if (const auto revision = find_integer(now, "revision"); revision && *revision < 0)
    errors.invalid(FieldPath("revision"), *revision, "must be greater than or equal to 0");
  if (old != nullptr && !same_meaning(find(now, "data"), find(*old, "data")))
    errors.invalid(FieldPath("data"), part_of(now, "data"), kImmutableField);
}

void default_pod_template_object(JsonObject& document) { default_pod_template(document); }

void validate_pod_template_object(const Json& now, const Json*, FieldErrors& errors) {
  const FieldPath path("template");
  validate_pod_template(part_of(now, "template"), path, errors);
}

// Its labels, and what it selects, are those of its template unless it says otherwise.
void default_replication_controller(JsonObject& document) {
  JsonObject& spec = spec_of(document);
  default_pod_template(spec);
  const Json* labels = nullptr;
  if (const Json* pod_template = spec.if_contains("template"))
    labels = find_set(part_of(*pod_template, "metadata"), "labels");
  if (labels == nullptr) return;
  const Json copy = *labels;
  default_member(spec, "selector", copy);
  JsonObject& metadata = ensure_object(document, "metadata");
  default_member(metadata, "labels", copy);
}

void validate_replication_controller(const Json& now, const Json*, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  not_negative(spec, {"minReadySeconds"}, kSpec, errors);
  const JsonObject& selector = members(spec, "selector");
  if (selector.empty()) errors.required(kSpec.child("selector"));
  not_negative(spec, {"replicas"}, kSpec, errors);
  const FieldPath path = kSpec.child("template");
  const Json* pod_template = find_set(spec, "template");
  if (pod_template == nullptr) return errors.required(path);
  const Json* labels = find_set(part_of(*pod_template, "metadata"), "labels");
  for (const auto& wanted : selector) {
    const Json* label = labels == nullptr ? nullptr : find(*labels, key_of(wanted));
    if (label != nullptr && *label == wanted.value()) continue;
    const FieldPath metadata = path.child("metadata");
    errors.invalid(metadata.child("labels"),
                   labels == nullptr ? ShownValue::null() : ShownValue(*labels),
                   "`selector` does not match template `labels`");
    break;
  }
  validate_pod_template(*pod_template, path, errors);
  constexpr std::string_view kOnlyAlways[] = {"Always"};
  const FieldPath pod_path = path.child("spec");
  const Json& pod = part_of(*pod_template, "spec");
  if (const auto policy = find_string(pod, "restartPolicy"); policy != "Always")
    errors.not_supported(pod_path.child("restartPolicy"), policy, kOnlyAlways);
  if (find_set(pod, "activeDeadlineSeconds") != nullptr)
    errors.forbidden(pod_path.child("activeDeadlineSeconds"),
                     "activeDeadlineSeconds in ReplicationController is not Supported");
}

}  // namespace muster::api::rules
