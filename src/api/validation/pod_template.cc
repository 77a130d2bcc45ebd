#include "api/validation/pod_template.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "api/reading.h"
#include "api/selectors.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/pod.h"

namespace muster::api {
namespace {

constexpr std::string_view kOnlyAlways[] = {"Always"};

bool is_empty_selector(const Json& selector) {
  return members(selector, "matchLabels").empty() && elements(selector, "matchExpressions").empty();
}

std::set<std::string_view> names_mounted(const Json& pod_spec) {
  std::set<std::string_view> names;
  for (const std::string_view member : {"containers", "initContainers", "ephemeralContainers"})
    for (const Json& container : elements(pod_spec, member))
      for (const std::string_view list : {"volumeMounts", "volumeDevices"})
        for (const Json& mount : elements(container, list))
          names.insert(find_string(mount, "name"));
  return names;
}

}  // namespace

void default_pod_template(JsonObject& holder, std::string_view member) {
  Json* found = holder.if_contains(member);
  if (found == nullptr || !found->is_object()) return;
  Json* spec = found->get_object().if_contains("spec");
  if (spec != nullptr && spec->is_object()) default_pod_spec(spec->get_object());
}

Json with_claim_volumes(const Json& pod_template, const std::set<std::string_view>& claims) {
  Json out = pod_template;
  if (claims.empty() || !out.is_object()) return out;
  std::set<std::string_view> missing = names_mounted(part_of(pod_template, "spec"));
  for (const Json& volume : elements(part_of(pod_template, "spec"), "volumes"))
    missing.erase(find_string(volume, "name"));
  JsonArray& volumes = ensure_array(ensure_object(out.get_object(), "spec"), "volumes");
  for (const std::string_view name : missing)
    if (claims.contains(name))
      volumes.push_back(
          JsonObject{{"name", name}, {"persistentVolumeClaim", JsonObject{{"claimName", name}}}});
  return out;
}

void validate_pod_template(const Json& pod_template, const FieldPath& path, FieldErrors& errors) {
  const Json& metadata = part_of(pod_template, "metadata");
  validate_labels(members(metadata, "labels"), path.child("labels"), errors);
  validate_annotations(members(metadata, "annotations"), path.child("annotations"), errors);
  const FieldPath spec_path = path.child("spec");
  const Json& spec = part_of(pod_template, "spec");
  validate_pod_spec(spec, spec_path, errors);
  if (!elements(spec, "ephemeralContainers").empty())
    errors.forbidden(spec_path.child("ephemeralContainers"),
                     "ephemeral containers not allowed in pod template");
}

void validate_selector_and_template(const Json& spec, const ReplicaRules& rules,
                                    const FieldPath& path, FieldErrors& errors) {
  const FieldPath selector_path = path.child("selector");
  const Json* selector = find_set(spec, "selector");
  if (selector != nullptr) {
    validate_label_selector(selector, selector_path, errors);
    if (is_empty_selector(*selector))
      errors.invalid(selector_path, *selector,
                     fmt::format("empty selector is invalid for {}", rules.noun));
  } else if (rules.selector_required) {
    errors.required(selector_path);
  }
  const FieldPath template_path = path.child("template");
  const Json& pod_template = part_of(spec, "template");
  const auto parsed = read_label_selector(selector);
  if (!parsed && rules.selector_required)
    return errors.invalid(selector_path, *selector, "invalid label selector");
  // A missing selector selects nothing, an empty one everything.
  const Json* metadata = find_set(pod_template, "metadata");
  if (parsed && !parsed->matches(read_labels(metadata))) {
    const FieldPath metadata_path = template_path.child("metadata");
    const Json* labels = metadata == nullptr ? nullptr : find_set(*metadata, "labels");
    errors.invalid(metadata_path.child("labels"),
                   labels == nullptr ? ShownValue::null() : ShownValue(*labels),
                   "`selector` does not match template `labels`");
  }
  validate_pod_template(pod_template, template_path, errors);
  const FieldPath pod_path = template_path.child("spec");
  const Json& pod = part_of(pod_template, "spec");
  if (const auto policy = find_string(pod, "restartPolicy"); policy != "Always")
    errors.not_supported(pod_path.child("restartPolicy"), policy, kOnlyAlways);
  if (find_set(pod, "activeDeadlineSeconds") != nullptr)
    errors.forbidden(pod_path.child("activeDeadlineSeconds"),
                     fmt::format("activeDeadlineSeconds in {} is not Supported", rules.owner));
}

}  // namespace muster::api
