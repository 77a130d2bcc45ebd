#include "api/validation/name_space.h"

#include "api/reading.h"
#include "api/validation/object_meta.h"

namespace muster::api {
namespace {

constexpr const char* kNameLabel = "kubernetes.io/metadata.name";

void validate_spec_finalizers(const Json& document, FieldErrors& errors) {
  const Json* spec = find(document, "spec");
  if (spec == nullptr) return;
  const FieldPath path("spec.finalizers");
  for (const Json& element : elements(*spec, "finalizers")) {
    const std::string_view finalizer = text_of(element);
    const Messages messages = check_qualified_name(finalizer);
    errors.invalid_each(path, finalizer, messages);
    const bool known =
        finalizer == "kubernetes" || finalizer == "orphan" || finalizer == "foregroundDeletion";
    if (messages.empty() && !known && finalizer.find('/') == std::string_view::npos)
      errors.invalid(path, finalizer,
                     "name is neither a standard finalizer name nor is it fully qualified");
  }
}

}  // namespace

void default_name_space(Json& document) {
  if (!document.is_object()) return;
  JsonObject& metadata = ensure_object(document.get_object(), "metadata");
  const Json* name = metadata.if_contains("name");
  if (name == nullptr || text_of(*name).empty()) return;
  const Json copy = *name;
  ensure_object(metadata, "labels")[kNameLabel] = copy;
}

FieldErrors validate_name_space(const Json& document) {
  FieldErrors errors;
  validate_object_meta(document,
                       {.name = NameRule::DnsLabel, .namespaced = false, .known_finalizers = true},
                       errors);
  validate_spec_finalizers(document, errors);
  return errors;
}

FieldErrors validate_name_space_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  return errors;
}

FieldErrors validate_name_space_status_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  const Json* metadata = find(now, "metadata");
  const bool deleting = metadata != nullptr && find_set(*metadata, "deletionTimestamp") != nullptr;
  const Json* phase = find_path(now, "status.phase");
  const std::string_view text = phase == nullptr ? "" : text_of(*phase);
  const FieldPath path("status.Phase");
  if (!deleting && text != "Active")
    errors.invalid(path, text, "may only be 'Active' if `deletionTimestamp` is empty");
  if (deleting && text != "Terminating")
    errors.invalid(path, text, "may only be 'Terminating' if `deletionTimestamp` is not empty");
  return errors;
}

FieldErrors validate_name_space_finalize_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_spec_finalizers(now, errors);
  return errors;
}

}  // namespace muster::api
