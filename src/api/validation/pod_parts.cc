#include "api/validation/pod_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "api/decode.h"
#include "api/reading.h"
#include "api/schema/schema.h"
#include "api/validation/object_meta.h"
#include "api/validation/pod.h"

namespace muster::api {
namespace {

constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

// Whether a file on its node, not the API, says what the pod is.
bool is_static(const Json& pod) {
  return members(part_of(pod, "metadata"), "annotations").contains(kMirrorAnnotation);
}

FieldErrors only(std::string_view detail) {
  FieldErrors errors;
  errors.forbidden(FieldPath(""), detail);
  return errors;
}

bool is_sidecar(const Json& init_container) {
  return find_string(init_container, "restartPolicy") == "Always";
}

// The value with every absent, empty and defaulted form made equal.
std::string normalized(std::string_view message, const Json& value) {
  return canonical_text(schema::message("core/v1", message), value);
}

// A node that can resize says what its running containers have got.
bool node_can_resize(const Json& pod) {
  for (const Json& status : elements(part_of(pod, "status"), "containerStatuses"))
    if (find_set(part_of(status, "state"), "running") != nullptr)
      return find_set(status, "resources") != nullptr;
  return true;
}

// False if containers came, went, or changed places: then nothing can be compared.
bool validate_same_order(const Json& now, const Json& old, std::string_view list,
                         FieldErrors& errors) {
  const FieldPath spec("spec");
  const FieldPath path = spec.child(list);
  const JsonArray& after = elements(now, list);
  const JsonArray& before = elements(old, list);
  if (after.size() != before.size()) {
    errors.forbidden(path, fmt::format("{} may not be added or removed on resize", list));
    return false;
  }
  bool same = true;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (find_string(after[i], "name") == find_string(before[i], "name")) continue;
    const FieldPath here = path.index(i);
    errors.forbidden(here.child("name"),
                     fmt::format("{} may not be renamed or reordered on resize", list));
    same = false;
  }
  return same;
}

void validate_none_removed(const Json& after, const Json& before, const FieldPath& path,
                           FieldErrors& errors) {
  for (const std::string_view amounts : {"requests", "limits"}) {
    const JsonObject& left = members(after, amounts);
    const bool removed = std::ranges::any_of(
        members(before, amounts), [&](const auto& amount) { return !left.contains(amount.key()); });
    if (removed)
      errors.forbidden(path.child(amounts), fmt::format("resource {} cannot be removed", amounts));
  }
}

// The container as it would be without what a resize may change.
Json without_cpu_and_memory(const Json& container) {
  Json copy = container;
  if (!copy.is_object()) return copy;
  Json* const resources = copy.get_object().if_contains("resources");
  if (resources == nullptr || !resources->is_object()) return copy;
  for (const char* amounts : {"requests", "limits"})
    if (Json* stated = resources->get_object().if_contains(amounts);
        stated != nullptr && stated->is_object())
      for (const char* name : {"cpu", "memory"}) stated->get_object().erase(name);
  return copy;
}

bool differ_otherwise(const Json& after, const Json& before) {
  return normalized("Container", without_cpu_and_memory(after)) !=
         normalized("Container", without_cpu_and_memory(before));
}

void validate_resized(const Json& now, const Json& old, FieldErrors& errors) {
  const FieldPath spec("spec");
  const FieldPath containers = spec.child("containers");
  const FieldPath init_containers = spec.child("initContainers");
  bool only_resources = true;
  for (std::size_t i = 0; i < elements(now, "containers").size(); ++i) {
    const Json& after = elements(now, "containers")[i];
    const Json& before = elements(old, "containers")[i];
    const FieldPath here = containers.index(i);
    validate_none_removed(part_of(after, "resources"), part_of(before, "resources"),
                          here.child("resources"), errors);
    only_resources = only_resources && !differ_otherwise(after, before);
  }
  if (!only_resources) errors.forbidden(spec, "only cpu and memory resources are mutable");

  for (std::size_t i = 0; i < elements(now, "initContainers").size(); ++i) {
    const Json& after = elements(now, "initContainers")[i];
    const Json& before = elements(old, "initContainers")[i];
    if (is_sidecar(before)) {
      const FieldPath here = init_containers.index(i);
      validate_none_removed(part_of(after, "resources"), part_of(before, "resources"),
                            here.child("resources"), errors);
      if (differ_otherwise(after, before))
        errors.forbidden(spec, "only cpu and memory resources for sidecar containers are mutable");
    } else if (normalized("Container", after) != normalized("Container", before)) {
      errors.forbidden(spec, "resources for non-sidecar init containers are immutable");
    }
  }
}

}  // namespace

FieldErrors validate_pod_resize(const Json& now, const Json& old, std::string_view qos_class) {
  if (is_static(old)) return only("static pods cannot be resized");
  const Json& after = part_of(now, "spec");
  const Json& before = part_of(old, "spec");
  if (find_string(part_of(before, "os"), "name") == "windows")
    return only("windows pods cannot be resized");

  FieldErrors errors;
  const FieldPath spec("spec");
  validate_object_meta_update(now, old, errors);
  validate_pod_metadata_and_spec(now, errors);
  if (const std::string_view had = find_string(part_of(old, "status"), "qosClass");
      had != qos_class)
    errors.invalid(spec, had, "Pod QOS Class may not change as a result of resizing");
  if (!node_can_resize(old))
    errors.forbidden(spec, "Pod running on node without support for resize");
  const bool same_containers = validate_same_order(after, before, "containers", errors);
  const bool same_init_containers = validate_same_order(after, before, "initContainers", errors);
  if (same_containers && same_init_containers) validate_resized(after, before, errors);
  return errors;
}

FieldErrors validate_ephemeral_containers_update(const Json& now, const Json& old) {
  if (is_static(old)) return only("static pods do not support ephemeral containers");
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_pod_metadata_and_spec(now, errors);
  const FieldPath path("spec.ephemeralContainers");
  const JsonArray& after = elements(part_of(now, "spec"), "ephemeralContainers");
  // Patches do not keep the order, so they are matched by name.
  std::map<std::string_view, const Json*> by_name;
  for (const Json& container : after) by_name.emplace(find_string(container, "name"), &container);
  for (const Json& container : elements(part_of(old, "spec"), "ephemeralContainers")) {
    const std::string_view name = find_string(container, "name");
    const auto kept = by_name.find(name);
    if (kept == by_name.end())
      errors.forbidden(
          path, fmt::format("existing ephemeral containers \"{}\" may not be removed\n", name));
    else if (normalized("EphemeralContainer", *kept->second) !=
             normalized("EphemeralContainer", container))
      errors.forbidden(
          path, fmt::format("existing ephemeral containers \"{}\" may not be changed\n", name));
  }
  return errors;
}

}  // namespace muster::api
