#include "api/validation/storage.h"

#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/resources.h"
#include "api/validation/schema_rules.h"
#include "api/validation/storage_words.h"
#include "api/values/quantity.h"

// Volumes, claims and storage classes.
namespace muster::api {
namespace rules {
namespace {

constexpr std::string_view kAccessModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                             "ReadWriteOncePod"};
constexpr std::string_view kVolumeModes[] = {"Block", "Filesystem"};
constexpr std::string_view kManyTypes = "may not specify more than 1 volume type";
const FieldPath kSpec("spec");

const schema::Message& message_of(std::string_view package, std::string_view name) {
  return schema::message(package, name);
}

void validate_access_modes(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  bool alone = false;
  bool shared = false;
  for (const Json& mode : elements(spec, "accessModes")) {
    const bool known = contains(kAccessModes, text_of(mode));
    if (!known) errors.not_supported(path, text_of(mode), kAccessModes);
    alone |= text_of(mode) == "ReadWriteOncePod";
    shared |= known && text_of(mode) != "ReadWriteOncePod";
  }
  if (alone && shared)
    errors.forbidden(path, "may not use ReadWriteOncePod with other access modes");
}

void validate_class_name(const Json& spec, std::string_view member, const FieldPath& path,
                         FieldErrors& errors) {
  const std::string_view name = find_string(spec, member);
  if (!name.empty()) errors.invalid_each(path.child(member), name, check_dns_subdomain(name));
}

bool has_source(const Json& spec, std::string_view type) { return find_set(spec, type) != nullptr; }

// The members of a volume's spec that say what it is: exactly one.
void validate_volume_source(const Json& spec, FieldErrors& errors) {
  std::size_t count = 0;
  for (const schema::Field& source : message_of("core/v1", "PersistentVolumeSource").fields) {
    if (!has_source(spec, source.name)) continue;
    const FieldPath path = kSpec.child(source.name);
    if (count++ > 0) {
      errors.forbidden(path, kManyTypes);
      continue;
    }
    const Json& value = part_of(spec, source.name);
    if (source.name == "csi") {
      validate_driver_name(find_string(value, "driver"), path.child("driver"), errors);
      if (find_string(value, "volumeHandle").empty()) errors.required(path.child("volumeHandle"));
    } else if (source.message != nullptr) {
      validate_by_schema(*source.message, value, path, errors);
    }
    if (source.name == "local" && !has_source(spec, "nodeAffinity"))
      errors.required(kSpec.child("nodeAffinity"), "Local volume requires node affinity");
  }
  if (count == 0) errors.required(kSpec, "must specify a volume type");
}

void validate_capacity(const Json& spec, FieldErrors& errors) {
  constexpr std::string_view kStorage[] = {"storage"};
  const FieldPath path = kSpec.child("capacity");
  const JsonObject& capacity = members(spec, "capacity");
  if (capacity.empty()) errors.required(path);
  if (!capacity.contains("storage") || capacity.size() > 1)
    errors.not_supported(path, part_of(spec, "capacity"), kStorage);
  for (const auto& entry : capacity) {
    const auto amount = Quantity::parse(text_of(entry.value()));
    if (!amount) continue;
    const FieldPath here = path.key(key_of(entry));
    if (amount->value() < 0)
      errors.invalid(here, amount->value(), "must be a valid resource quantity");
    if (amount->sign() <= 0) errors.invalid(here, *amount, "must be greater than zero");
  }
}

void validate_data_source(const Json& spec, std::string_view member, const FieldPath& path,
                          FieldErrors& errors) {
  const Json* source = find_set(spec, member);
  if (source == nullptr) return;
  const FieldPath here = path.child(member);
  for (const std::string_view part : {"name", "kind"})
    if (find_string(*source, part).empty()) errors.required(here.child(part));
  const std::string_view group = find_string(*source, "apiGroup");
  const std::string_view kind = find_string(*source, "kind");
  if (group.empty() && kind != "PersistentVolumeClaim")
    errors.invalid(here, kind,
                   "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  if (!group.empty())
    errors.invalid_each(here.child("apiGroup"), group, check_dns_subdomain(group));
}

Quantity storage_of(const Json& amounts) {
  auto parsed = Quantity::parse(find_string(amounts, "storage"));
  return parsed ? *parsed : Quantity();
}
Quantity requested_storage(const Json& spec) {
  return storage_of(part_of(part_of(spec, "resources"), "requests"));
}

// Whether a claim without a class gets one, as when a default class appears later.
bool gets_first_class(const Json& now, const Json& old) {
  return find_set(old, "storageClassName") == nullptr &&
         find_set(now, "storageClassName") != nullptr;
}

// Spec without what may change: attributes at any time, the size once the claim is bound, volume
// and class if there was none.
Json fixed_claim(const Json& spec, const Json& now, const Json& old) {
  Json out = spec;
  if (!out.is_object()) return out;
  JsonObject& object = out.get_object();
  object.erase("volumeAttributesClassName");
  const Json& before = part_of(old, "spec");
  if (find_string(before, "volumeName").empty()) object.erase("volumeName");
  if (gets_first_class(part_of(now, "spec"), before)) object.erase("storageClassName");
  if (find_string(part_of(now, "status"), "phase") != "Bound") return out;
  if (Json* resources = object.if_contains("resources");
      resources != nullptr && resources->is_object())
    if (Json* requests = resources->get_object().if_contains("requests");
        requests != nullptr && requests->is_object())
      requests->get_object().erase("storage");
  return out;
}

void validate_attributes_class_update(const Json& now, const Json& old, FieldErrors& errors) {
  const Json* before = find_set(old, "volumeAttributesClassName");
  if (before == nullptr) return;
  const Json* after = find_set(now, "volumeAttributesClassName");
  const FieldPath path = kSpec.child("volumeAttributesClassName");
  if (after == nullptr)
    errors.forbidden(path, "update from non-nil value to nil is forbidden");
  else if (text_of(*after).empty() && !text_of(*before).empty())
    errors.forbidden(path, "update from non-nil value to an empty string is forbidden");
}

// Upstream reports this one without the "spec." in front.
void validate_volume_mode_update(const Json& now, const Json& old, FieldErrors& errors) {
  const Json* mode = find_set(now, "volumeMode");
  if (!same_meaning(mode, find_set(old, "volumeMode")))
    errors.invalid(FieldPath("volumeMode"),
                   mode == nullptr ? ShownValue::null() : ShownValue(*mode), kImmutableField);
}

}  // namespace
}  // namespace rules

void validate_claim_spec(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  using namespace rules;
  const FieldPath modes = path.child("accessModes");
  if (elements(spec, "accessModes").empty())
    errors.required(modes, "at least 1 access mode is required");
  validate_label_selector(find_set(spec, "selector"), path.child("selector"), errors);
  validate_access_modes(spec, modes, errors);
  const FieldPath resources = path.child("resources");
  const FieldPath storage_path = resources.key("storage");
  const Json& requests = part_of(part_of(spec, "resources"), "requests");
  if (find_set(requests, "storage") == nullptr)
    errors.required(storage_path);
  else if (const Quantity amount = storage_of(requests); amount.sign() <= 0)
    errors.invalid(storage_path, amount, "must be greater than zero");
  validate_class_name(spec, "storageClassName", path, errors);
  validate_optional_word(spec, "volumeMode", kVolumeModes, path, errors);
  validate_data_source(spec, "dataSource", path, errors);
  validate_data_source(spec, "dataSourceRef", path, errors);
  validate_class_name(spec, "volumeAttributesClassName", path, errors);
}

namespace rules {

void validate_persistent_volume(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kPolicies[] = {"Delete", "Recycle", "Retain"};
  const Json& spec = part_of(now, "spec");
  const FieldPath modes = kSpec.child("accessModes");
  if (elements(spec, "accessModes").empty()) errors.required(modes);
  validate_access_modes(spec, modes, errors);
  validate_capacity(spec, errors);
  const std::string_view policy = find_string(spec, "persistentVolumeReclaimPolicy");
  const FieldPath policy_path = kSpec.child("persistentVolumeReclaimPolicy");
  if (!policy.empty() && !contains(kPolicies, policy))
    errors.not_supported(policy_path, policy, kPolicies);
  if (const Json* affinity = find_set(spec, "nodeAffinity")) {
    const FieldPath path = kSpec.child("nodeAffinity");
    if (const Json* required = find_set(*affinity, "required"))
      validate_node_selector(*required, path.child("required"), errors);
    else
      errors.required(path.child("required"), "must specify required node constraints");
  }
  validate_volume_source(spec, errors);
  if (policy == "Recycle" && find_string(part_of(spec, "hostPath"), "path") == "/")
    errors.forbidden(policy_path, "may not be 'recycle' for a hostPath mount of '/'");
  validate_class_name(spec, "storageClassName", kSpec, errors);
  validate_optional_word(spec, "volumeMode", kVolumeModes, kSpec, errors);
  if (find_set(spec, "volumeAttributesClassName") != nullptr) {
    if (find_string(spec, "volumeAttributesClassName").empty())
      errors.required(kSpec.child("volumeAttributesClassName"), "an empty string is disallowed");
    validate_class_name(spec, "volumeAttributesClassName", kSpec, errors);
    if (!has_source(spec, "csi"))
      errors.required(kSpec.child("csi"),
                      "has to be specified when using volumeAttributesClassName");
  }
  if (old == nullptr) return;
  const Json& before = part_of(*old, "spec");
  for (const schema::Field& source : message_of("core/v1", "PersistentVolumeSource").fields)
    if (!same_meaning(find_set(spec, source.name), find_set(before, source.name))) {
      errors.forbidden(FieldPath("spec.persistentvolumesource"),
                       "spec.persistentvolumesource is immutable after creation");
      break;
    }
  validate_volume_mode_update(spec, before, errors);
  const Json* affinity = find_set(before, "nodeAffinity");
  if (affinity != nullptr && !same_meaning(find_set(spec, "nodeAffinity"), affinity))
    errors.invalid(FieldPath("nodeAffinity"), part_of(spec, "nodeAffinity"),
                   "field is immutable, except for updating from beta label to GA");
  const Json* attributes = find_set(before, "volumeAttributesClassName");
  if (attributes != nullptr && find_set(spec, "volumeAttributesClassName") == nullptr)
    errors.forbidden(kSpec.child("volumeAttributesClassName"),
                     "update from non-nil value to nil is forbidden");
}

void validate_persistent_volume_claim(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_claim_spec(spec, kSpec, errors);
  if (old == nullptr) return;
  const Json& before = part_of(*old, "spec");
  const Json fixed_now = fixed_claim(spec, now, *old);
  const Json fixed_before = fixed_claim(before, now, *old);
  if (!same_meaning(&fixed_now, &fixed_before))
    errors.forbidden(kSpec,
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
  // After a failed expansion one may ask for less, but not for less than there is.
  const Quantity asked = requested_storage(spec);
  const Quantity capacity = storage_of(part_of(part_of(*old, "status"), "capacity"));
  if (asked < requested_storage(before) && asked <= capacity)
    errors.forbidden(FieldPath("spec.resources.requests.storage"),
                     "field can not be less than status.capacity");
  validate_volume_mode_update(spec, before, errors);
  validate_attributes_class_update(spec, before, errors);
}

void validate_storage_class(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kPolicies[] = {"Delete", "Retain"};
  constexpr std::string_view kModes[] = {"Immediate", "WaitForFirstConsumer"};
  validate_provisioner(find_string(now, "provisioner"), FieldPath("provisioner"), errors);
  validate_parameters(now, errors);
  const std::string_view policy = find_string(now, "reclaimPolicy");
  if (!policy.empty() && !contains(kPolicies, policy))
    errors.not_supported(FieldPath("reclaimPolicy"), policy, kPolicies);
  const std::string_view mode = find_string(now, "volumeBindingMode");
  if (find_set(now, "volumeBindingMode") == nullptr)
    errors.required(FieldPath("volumeBindingMode"));
  else if (!contains(kModes, mode))
    errors.not_supported(FieldPath("volumeBindingMode"), mode, kModes);
  if (old == nullptr) return;
  for (const std::string_view member : {"parameters", "provisioner", "reclaimPolicy"})
    if (!same_meaning(find(now, member), find(*old, member)))
      errors.forbidden(FieldPath(member), "updates to " + std::string(member) + " are forbidden.");
  if (!same_meaning(find(now, "volumeBindingMode"), find(*old, "volumeBindingMode")))
    errors.invalid(FieldPath("volumeBindingMode"), mode, kImmutableField);
}

}  // namespace rules
}  // namespace muster::api
