#include "api/validation/group_binding.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

#include "api/reading.h"
#include "api/validation/object_meta.h"
#include "api/validation/status_rules.h"
#include "api/values/names.h"

namespace muster::api {
namespace {

constexpr std::array<std::string_view, 2> kGroupKinds{"CompositePodGroup", "PodGroup"};
constexpr std::array<std::string_view, 2> kLeafTypes{"DisruptionTarget",
                                                     "PodGroupInitiallyScheduled"};
constexpr std::array<std::string_view, 2> kCompositeTypes{"CompositePodGroupInitiallyScheduled",
                                                          "DisruptionTarget"};

void validate_name(const Json& holder, std::string_view member, const FieldPath& path,
                   FieldErrors& errors) {
  const std::string_view name = find_string(holder, member);
  if (name.empty())
    errors.required(path.child(member));
  else
    errors.invalid_each(path.child(member), name, check_dns_subdomain(name, LengthWord::Bytes));
}

void validate_group(const Json& group, const FieldPath& path, FieldErrors& errors) {
  const std::string_view kind = find_string(group, "kind");
  if (kind.empty())
    errors.required(path.child("kind"));
  else if (std::ranges::find(kGroupKinds, kind) == kGroupKinds.end())
    errors.not_supported(path.child("kind"), kind, kGroupKinds);
  validate_name(group, "name", path, errors);
}

// A resourceVersion is opaque to clients, but one that no server can have given is a mistake.
bool is_number(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Pods are distinguished by name over both lists: one cannot be bound twice, nor bound and
// nominated.
void validate_assignments(const Json& spec, std::string_view member,
                          std::set<std::string_view>& names, FieldErrors& errors) {
  const FieldPath spec_path("spec");
  const FieldPath path = spec_path.child(member);
  const JsonArray& pods = elements(spec, member);
  if (pods.size() > kGroupBindingItemsMax) {
    errors.too_many(path, pods.size(), kGroupBindingItemsMax);
    return;
  }
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const FieldPath here = path.index(i);
    validate_name(pods[i], "name", here, errors);
    if (const std::string_view name = find_string(pods[i], "name");
        !name.empty() && !names.insert(name).second)
      errors.duplicate(here.child("name"), name);
    if (find_string(pods[i], "uid").empty()) errors.required(here.child("uid"));
    if (const std::string_view version = find_string(pods[i], "resourceVersion");
        !is_number(version))
      errors.invalid(here.child("resourceVersion"), version,
                     "must be a resourceVersion of the pod");
    validate_name(pods[i], "nodeName", here, errors);
  }
}

void validate_observation(const Json& item, const FieldPath& path, FieldErrors& errors) {
  validate_group(item, path, errors);
  const FieldPath condition_path = path.child("condition");
  const Json& condition = part_of(item, "condition");
  validate_condition(condition, condition_path, {.stamped = false}, errors);
  const auto& types = find_string(item, "kind") == "PodGroup" ? kLeafTypes : kCompositeTypes;
  const std::string_view type = find_string(condition, "type");
  if (!type.empty() && std::ranges::find(types, type) == types.end())
    errors.not_supported(condition_path.child("type"), type, types);
}

void validate_observations(const Json& spec, FieldErrors& errors) {
  const FieldPath path("spec.conditions");
  const JsonArray& items = elements(spec, "conditions");
  if (items.size() > kGroupBindingItemsMax) {
    errors.too_many(path, items.size(), kGroupBindingItemsMax);
    return;
  }
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> said;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const FieldPath here = path.index(i);
    validate_observation(items[i], here, errors);
    const std::string_view type = find_string(part_of(items[i], "condition"), "type");
    const bool is_new =
        said.emplace(find_string(items[i], "kind"), find_string(items[i], "name"), type).second;
    if (!is_new) errors.duplicate(here, type);
  }
}

}  // namespace

FieldErrors validate_group_binding(const Json& document) {
  FieldErrors errors;
  validate_object_meta(document, {}, errors);
  const Json& spec = part_of(document, "spec");
  const FieldPath root("spec.root");
  validate_group(part_of(spec, "root"), root, errors);
  if (elements(spec, "pods").empty() && elements(spec, "nominations").empty() &&
      elements(spec, "conditions").empty())
    errors.required(FieldPath("spec.pods"),
                    "one of pods, nominations and conditions must be given");
  std::set<std::string_view> names;
  validate_assignments(spec, "pods", names, errors);
  validate_assignments(spec, "nominations", names, errors);
  validate_observations(spec, errors);
  return errors;
}

}  // namespace muster::api
