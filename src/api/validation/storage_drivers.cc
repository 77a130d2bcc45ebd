#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/resources.h"
#include "api/validation/storage_words.h"

// What storage drivers say of themselves, of nodes and of volumes: the CSI kinds, attachments and
// classes of attributes.
namespace muster::api::rules {
namespace {

constexpr std::size_t kNodeIdMax = 256;
const FieldPath kSpec("spec");

void validate_token_requests(const Json& spec, FieldErrors& errors) {
  constexpr std::int64_t kLeastSeconds = 600;
  constexpr std::int64_t kMostSeconds = std::int64_t{1} << 32;
  const FieldPath path = kSpec.child("tokenRequests");
  std::set<std::string_view> audiences;
  std::size_t at = 0;
  for (const Json& request : elements(spec, "tokenRequests")) {
    const FieldPath here = path.index(at++);
    const std::string_view audience = find_string(request, "audience");
    if (!audiences.insert(audience).second) {
      errors.duplicate(here.child("audience"), audience);
      continue;
    }
    const auto seconds = find_integer(request, "expirationSeconds");
    if (seconds && *seconds < kLeastSeconds)
      errors.invalid(here.child("expirationSeconds"), *seconds,
                     "may not specify a duration less than 10 minutes");
    if (seconds && *seconds > kMostSeconds)
      errors.invalid(here.child("expirationSeconds"), *seconds,
                     "may not specify a duration larger than 2^32 seconds");
  }
}

// What a driver says of itself on a node stays, but for how many volumes it can take.
void validate_drivers_update(const Json& now, const Json& old, FieldErrors& errors) {
  const auto fixed = [](Json driver) {
    if (driver.is_object()) driver.get_object().erase("allocatable");
    return driver;
  };
  std::multimap<std::string_view, const Json*> by_name;  // equal names in the order of the list
  for (const Json& after : elements(part_of(now, "spec"), "drivers"))
    by_name.emplace(find_string(after, "name"), &after);
  // What is stored has no name twice.
  for (const Json& before : elements(part_of(old, "spec"), "drivers")) {
    const Json fixed_before = fixed(before);
    const auto [first, last] = by_name.equal_range(find_string(before, "name"));
    for (auto after = first; after != last; ++after) {
      const Json fixed_after = fixed(*after->second);
      if (!same_meaning(&fixed_before, &fixed_after))
        errors.invalid(FieldPath("CSINodeDriver"), *after->second, kImmutableField);
    }
  }
}

}  // namespace

void default_csi_driver(JsonObject& driver) {
  JsonObject& spec = ensure_object(driver, "spec");
  const Json* modes = spec.if_contains("volumeLifecycleModes");
  if (modes == nullptr || !modes->is_array() || modes->get_array().empty())
    spec["volumeLifecycleModes"] = JsonArray{"Persistent"};
}

void validate_csi_driver(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kModes[] = {"Persistent", "Ephemeral"};
  constexpr std::string_view kPolicies[] = {"File", "None", "ReadWriteOnceWithFSType"};
  const Json& spec = part_of(now, "spec");
  validate_optional_word(spec, "fsGroupPolicy", kPolicies, kSpec, errors);
  validate_token_requests(spec, errors);
  const FieldPath modes = kSpec.child("volumeLifecycleModes");
  for (const Json& mode : elements(spec, "volumeLifecycleModes"))
    if (!contains(kModes, text_of(mode))) errors.not_supported(modes, text_of(mode), kModes);
  if (old == nullptr) return;
  const Json& before = part_of(*old, "spec");
  // Upstream's own spelling of the path.
  if (const Json* attach = find_set(spec, "attachRequired");
      !same_meaning(attach, find_set(before, "attachRequired")))
    errors.invalid(kSpec.child("attachedRequired"),
                   attach == nullptr ? ShownValue::null() : ShownValue(*attach), kImmutableField);
  validate_immutable_members(spec, before, {"volumeLifecycleModes"}, kSpec, errors);
}

void validate_csi_node(const Json& now, const Json* old, FieldErrors& errors) {
  const FieldPath path = kSpec.child("drivers");
  std::set<std::string_view> seen;
  std::size_t at = 0;
  for (const Json& driver : elements(part_of(now, "spec"), "drivers")) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(driver, "name");
    validate_driver_name(name, here.child("name"), errors);
    const std::string_view id = find_string(driver, "nodeID");
    if (id.empty()) errors.required(here.child("nodeID"));
    if (id.size() > kNodeIdMax)
      errors.invalid(here.child("nodeID"), id, "must be 256 characters or less");
    not_negative(part_of(driver, "allocatable"), {"count"}, here.child("allocatable"), errors);
    if (!seen.insert(name).second) errors.duplicate(here.child("name"), name);
    std::set<std::string_view> keys;
    for (const Json& key : elements(driver, "topologyKeys")) {
      if (text_of(key).empty()) errors.required(here);
      if (!keys.insert(text_of(key)).second) errors.duplicate(here, text_of(key));
      errors.invalid_each(here, text_of(key), check_qualified_name(text_of(key)));
    }
  }
  if (old != nullptr) validate_drivers_update(now, *old, errors);
}

void validate_csi_storage_capacity(const Json& now, const Json* old, FieldErrors& errors) {
  const FieldPath topology("nodeTopology");
  validate_label_selector(find_set(now, "nodeTopology"), topology, errors);
  const std::string_view name = find_string(now, "storageClassName");
  const FieldPath path("storageClassName");
  errors.invalid_each(path, name, check_dns_subdomain(name));
  for (const std::string_view member : {"capacity", "maximumVolumeSize"})
    if (const Json* amount = find_set(now, member))
      validate_resource_amount("storage", *amount, FieldPath(member), errors);
  if (old == nullptr) return;
  if (!same_meaning(find(now, "nodeTopology"), find(*old, "nodeTopology")))
    errors.invalid(topology, part_of(now, "nodeTopology"), kImmutableField);
  if (name != find_string(*old, "storageClassName")) errors.invalid(path, name, kImmutableField);
}

void validate_volume_attachment(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kOneOf =
      "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  const Json& spec = part_of(now, "spec");
  const FieldPath attacher_path = kSpec.child("attacher");
  const std::string_view attacher = find_string(spec, "attacher");
  if (attacher.empty()) errors.required(attacher_path);
  const FieldPath source_path = kSpec.child("source");
  const Json& source = part_of(spec, "source");
  const bool inlined = find_set(source, "inlineVolumeSpec") != nullptr;
  const Json* volume = find_set(source, "persistentVolumeName");
  if (!inlined && volume == nullptr)
    errors.required(source_path, kOneOf);
  else if (inlined && volume != nullptr)
    errors.forbidden(source_path, kOneOf);
  else if (volume != nullptr && text_of(*volume).empty())
    errors.required(source_path.child("persistentVolumeName"),
                    "must specify non empty persistentVolumeName");
  const std::string_view node = find_string(spec, "nodeName");
  errors.invalid_each(kSpec.child("nodeName"), node, check_dns_subdomain(node));
  if (old == nullptr) {
    // Rules of v1 that came after those above.
    validate_driver_name(attacher, attacher_path, errors);
    if (volume != nullptr)
      errors.invalid_each(source_path.child("persistentVolumeName"), text_of(*volume),
                          check_dns_subdomain(text_of(*volume)));
  } else if (!same_meaning(&spec, &part_of(*old, "spec"))) {
    errors.invalid(kSpec, spec, kImmutableField);
  }
}

void validate_volume_attributes_class(const Json& now, const Json* old, FieldErrors& errors) {
  const FieldPath driver("driverName");
  validate_provisioner(find_string(now, "driverName"), driver, errors);
  validate_parameters(now, errors);
  if (members(now, "parameters").empty())
    errors.required(FieldPath("parameters"), "must contain at least one key/value pair");
  if (old == nullptr) return;
  if (find_string(now, "driverName") != find_string(*old, "driverName"))
    errors.forbidden(driver, "updates to driverName are forbidden.");
  if (!same_meaning(find(now, "parameters"), find(*old, "parameters")))
    errors.forbidden(FieldPath("parameters"), "updates to parameters are forbidden.");
}

}  // namespace muster::api::rules
