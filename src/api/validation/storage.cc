#include <set>
#include <string>

#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/reading.h"
#include "api/validation/resources.h"
#include "api/validation/schema_rules.h"
#include "api/values/quantity.h"

// Volumes, claims, and the kinds of storage.k8s.io/v1.
namespace muster::api::rules {
namespace {

constexpr std::string_view kAccessModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                             "ReadWriteOncePod"};
const FieldPath kSpec("spec");

const schema::Message& message_of(std::string_view package, std::string_view name) {
  return schema::message(package, name);
}

void validate_access_modes(const Json& spec, FieldErrors& errors) {
  const FieldPath path = kSpec.child("accessModes");
  const JsonArray& modes = elements(spec, "accessModes");
  if (modes.empty()) errors.required(path, "at least 1 access mode is required");
  bool alone = false;
  for (const Json& mode : modes) {
    if (std::ranges::find(kAccessModes, text_of(mode)) == std::ranges::end(kAccessModes))
      errors.not_supported(path, text_of(mode), kAccessModes);
    alone |= text_of(mode) == "ReadWriteOncePod";
  }
  if (alone && modes.size() > 1)
    errors.forbidden(path, "may not use ReadWriteOncePod with other access modes");
}

void validate_class_name(const Json& spec, FieldErrors& errors) {
  const std::string_view name = find_string(spec, "storageClassName");
  if (!name.empty())
    errors.invalid_each(kSpec.child("storageClassName"), name, check_dns_subdomain(name));
}

// The members of a volume's spec that say what it is.
std::size_t count_sources(const Json& spec) {
  std::size_t count = 0;
  for (const schema::Field& source : message_of("core/v1", "PersistentVolumeSource").fields)
    count += find_set(spec, source.name) != nullptr ? 1U : 0U;
  return count;
}

bool shrinks(const Json& now, const Json& old) {
  const auto asked = [](const Json& spec) {
    const Json& requests = part_of(part_of(spec, "resources"), "requests");
    return Quantity::parse(find_string(requests, "storage"));
  };
  const auto after = asked(now);
  const auto before = asked(old);
  return after && before && *after < *before;
}

// Spec without what a bound claim may change: the size it asks for, and its attributes.
Json fixed_claim(const Json& spec) {
  Json out = spec;
  if (auto* object = out.if_object())
    for (const std::string_view member : {"resources", "volumeAttributesClassName", "volumeName"})
      object->erase(member);
  return out;
}

}  // namespace

void validate_persistent_volume(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_access_modes(spec, errors);
  const FieldPath capacity = kSpec.child("capacity");
  if (members(spec, "capacity").empty()) errors.required(capacity);
  if (!members(spec, "capacity").empty() && find(part_of(spec, "capacity"), "storage") == nullptr) {
    constexpr std::string_view kStorage[] = {"storage"};
    errors.not_supported(capacity, part_of(spec, "capacity"), kStorage);
  }
  for (const auto& entry : members(spec, "capacity"))
    validate_resource_amount(key_of(entry), entry.value(), capacity.key(key_of(entry)), errors);
  const std::size_t sources = count_sources(spec);
  if (sources == 0) errors.required(kSpec, "must specify a volume type");
  if (sources > 1) errors.forbidden(kSpec, "may not specify more than 1 volume type");
  validate_class_name(spec, errors);
  if (const Json* affinity = find_set(spec, "nodeAffinity")) {
    const FieldPath path = kSpec.child("nodeAffinity");
    if (const Json* required = find_set(*affinity, "required"))
      validate_node_selector(*required, path.child("required"), errors);
    else
      errors.required(path.child("required"), "must specify required node constraints");
  }
  if (old == nullptr) return;
  for (const schema::Field& source : message_of("core/v1", "PersistentVolumeSource").fields)
    if (!same_meaning(find_set(spec, source.name), find_set(part_of(*old, "spec"), source.name))) {
      errors.forbidden(FieldPath("spec.persistentvolumesource"),
                       "spec.persistentvolumesource is immutable after creation");
      break;
    }
  keep_members(spec, part_of(*old, "spec"), {"volumeMode"}, kSpec, errors);
}

void validate_persistent_volume_claim(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_access_modes(spec, errors);
  validate_label_selector(find_set(spec, "selector"), kSpec.child("selector"), errors);
  const FieldPath resources = kSpec.child("resources");
  const Json& requests = part_of(part_of(spec, "resources"), "requests");
  if (const Json* storage = find_set(requests, "storage")) {
    const FieldPath path = resources.child("storage");
    validate_resource_amount("storage", *storage, path, errors);
    const auto amount = Quantity::parse(text_of(*storage));
    if (amount && !(*Quantity::parse("0") < *amount))
      errors.invalid(path, text_of(*storage), "must be greater than zero");
  } else {
    errors.required(resources.key("storage"));
  }
  validate_class_name(spec, errors);
  if (old == nullptr) return;
  const Json& before = part_of(*old, "spec");
  const Json fixed_now = fixed_claim(spec);
  const Json fixed_before = fixed_claim(before);
  const std::string_view volume = find_string(before, "volumeName");
  if (!same_meaning(&fixed_now, &fixed_before) ||
      (!volume.empty() && volume != find_string(spec, "volumeName")))
    errors.forbidden(kSpec,
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
  const FieldPath requests_path = resources.child("requests");
  if (shrinks(spec, before))
    errors.forbidden(requests_path.child("storage"), "field can not be less than status.capacity");
}

void validate_storage_class(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kPolicies[] = {"Delete", "Retain"};
  constexpr std::string_view kModes[] = {"Immediate", "WaitForFirstConsumer"};
  const auto word = [&](std::string_view member, std::span<const std::string_view> allowed) {
    const std::string_view value = find_string(now, member);
    if (value.empty())
      errors.required(FieldPath(member));
    else if (std::ranges::find(allowed, value) == allowed.end())
      errors.not_supported(FieldPath(member), value, allowed);
  };
  if (find_string(now, "provisioner").empty()) errors.required(FieldPath("provisioner"));
  word("reclaimPolicy", kPolicies);
  word("volumeBindingMode", kModes);
  if (old == nullptr) return;
  for (const std::string_view member : {"parameters", "provisioner", "reclaimPolicy"})
    if (!same_meaning(find(now, member), find(*old, member)))
      errors.forbidden(FieldPath(member), "updates to " + std::string(member) + " are forbidden.");
  if (!same_meaning(find(now, "volumeBindingMode"), find(*old, "volumeBindingMode")))
    errors.invalid(FieldPath("volumeBindingMode"), find_string(now, "volumeBindingMode"),
                   kImmutableField);
}

void default_csi_driver(JsonObject& driver) {
  JsonObject& spec = ensure_object(driver, "spec");
  const Json* modes = spec.if_contains("volumeLifecycleModes");
  if (modes == nullptr || !modes->is_array() || modes->get_array().empty())
    spec["volumeLifecycleModes"] = JsonArray{"Persistent"};
}

void validate_csi_driver(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kModes[] = {"Persistent", "Ephemeral"};
  constexpr std::string_view kPolicies[] = {"ReadWriteOnceWithFSType", "File", "None"};
  const Json& spec = part_of(now, "spec");
  const FieldPath modes = kSpec.child("volumeLifecycleModes");
  for (const Json& mode : elements(spec, "volumeLifecycleModes"))
    if (std::ranges::find(kModes, text_of(mode)) == std::ranges::end(kModes))
      errors.not_supported(modes, text_of(mode), kModes);
  validate_required_word(spec, "fsGroupPolicy", kPolicies, kSpec, errors);
  if (old != nullptr)
    keep_members(spec, part_of(*old, "spec"), {"attachRequired", "volumeLifecycleModes"}, kSpec,
                 errors);
}

void validate_csi_node(const Json& now, const Json*, FieldErrors& errors) {
  const FieldPath path = kSpec.child("drivers");
  std::set<std::string_view> seen;
  std::size_t at = 0;
  for (const Json& driver : elements(part_of(now, "spec"), "drivers")) {
    const FieldPath here = path.index(at++);
    validate_by_schema(message_of("storage/v1", "CSINodeDriver"), driver, here, errors);
    const std::string_view name = find_string(driver, "name");
    if (!name.empty() && !seen.insert(name).second) errors.duplicate(here.child("name"), name);
    not_negative(part_of(driver, "allocatable"), {"count"}, here.child("allocatable"), errors);
  }
}

void validate_csi_storage_capacity(const Json& now, const Json* old, FieldErrors& errors) {
  const std::string_view name = find_string(now, "storageClassName");
  const FieldPath path("storageClassName");
  errors.invalid_each(path, name, check_dns_subdomain(name));
  const FieldPath topology("nodeTopology");
  validate_label_selector(find_set(now, "nodeTopology"), topology, errors);
  for (const std::string_view member : {"capacity", "maximumVolumeSize"})
    if (const Json* amount = find_set(now, member))
      validate_resource_amount("storage", *amount, FieldPath(member), errors);
  if (old == nullptr) return;
  if (name != find_string(*old, "storageClassName")) errors.invalid(path, name, kImmutableField);
  if (!same_meaning(find(now, "nodeTopology"), find(*old, "nodeTopology")))
    errors.invalid(topology, part_of(now, "nodeTopology"), kImmutableField);
}

void validate_volume_attachment(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  for (const std::string_view member : {"attacher", "nodeName"})
    if (find_string(spec, member).empty()) errors.required(kSpec.child(member));
  const Json& source = part_of(spec, "source");
  const bool inlined = find_set(source, "inlineVolumeSpec") != nullptr;
  const bool named = find_set(source, "persistentVolumeName") != nullptr;
  if (!inlined && !named)
    errors.required(kSpec.child("source"),
                    "must specify exactly one of inlineVolumeSpec and "
                    "persistentVolumeName");
  if (inlined && named)
    errors.forbidden(kSpec.child("source"),
                     "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  if (old != nullptr && !same_meaning(&spec, &part_of(*old, "spec")))
    errors.invalid(kSpec, spec, kImmutableField);
}

void validate_volume_attributes_class(const Json& now, const Json* old, FieldErrors& errors) {
  const FieldPath driver("driverName");
  if (find_string(now, "driverName").empty()) errors.required(driver);
  if (members(now, "parameters").empty())
    errors.required(FieldPath("parameters"), "must contain at least one key/value pair");
  if (old == nullptr) return;
  if (find_string(now, "driverName") != find_string(*old, "driverName"))
    errors.forbidden(driver, "updates to driverName are forbidden.");
  if (!same_meaning(find(now, "parameters"), find(*old, "parameters")))
    errors.forbidden(FieldPath("parameters"), "updates to parameters are forbidden.");
}

}  // namespace muster::api::rules
