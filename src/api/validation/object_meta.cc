#include "api/validation/object_meta.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "api/reading.h"

namespace muster::api {
namespace {

constexpr std::size_t kAnnotationBytesMax = std::size_t{256} * 1024;
constexpr std::size_t kManagerBytesMax = 128;
constexpr std::size_t kSubresourceBytesMax = 256;
constexpr std::string_view kImmutable = "field is immutable";
constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

const Json& metadata_of(const Json& document) {
  static const Json kNone;
  const Json* metadata = find(document, "metadata");
  return metadata == nullptr ? kNone : *metadata;
}

void validate_owner(const Json& owner, const FieldPath& path, FieldErrors& errors) {
  const std::string_view api_version = find_string(owner, "apiVersion");
  const std::string_view kind = find_string(owner, "kind");
  if (api_version.empty() || api_version.ends_with('/'))
    errors.invalid(path.child("apiVersion"), api_version, "version must not be empty");
  for (const std::string_view member : {"kind", "name", "uid"})
    if (const std::string_view value = find_string(owner, member); value.empty())
      errors.invalid(path.child(member), value, "must not be empty");
  if (api_version == "v1" && kind == "Event")
    errors.invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner");
}

void validate_owners(const Json& metadata, const FieldPath& path, FieldErrors& errors) {
  std::string first_controller;
  for (const Json& owner : elements(metadata, "ownerReferences")) {
    validate_owner(owner, path, errors);
    if (!find_true(owner, "controller")) continue;
    // Cut, because the first one stands in the message of every other.
    std::string controller =
        shortened(fmt::format("{}/{}", find_string(owner, "kind"), find_string(owner, "name")),
                  kLimits.path_bytes);
    if (first_controller.empty())
      first_controller = std::move(controller);
    else
      errors.invalid(
          path, *find(metadata, "ownerReferences"),
          fmt::format("Only one reference can have Controller set to true. Found \"true\" "
                      "in references for {} and {}",
                      first_controller, controller));
  }
}

void validate_finalizers(const Json& metadata, const FieldPath& path, FieldErrors& errors) {
  bool orphan = false;
  bool foreground = false;
  for (const Json& element : elements(metadata, "finalizers")) {
    const std::string_view finalizer = text_of(element);
    errors.invalid_each(path, finalizer, check_qualified_name(finalizer));
    orphan = orphan || finalizer == kOrphan;
    foreground = foreground || finalizer == kForeground;
  }
  if (orphan && foreground)
    errors.invalid(path, *find(metadata, "finalizers"),
                   fmt::format("finalizer {} and {} cannot be both set", kOrphan, kForeground));
}

void validate_known_finalizers(const Json& metadata, const FieldPath& path, FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& element : elements(metadata, "finalizers")) {
    const std::string_view finalizer = text_of(element);
    const bool known =
        finalizer == "kubernetes" || finalizer == kOrphan || finalizer == kForeground;
    if (!known && finalizer.find('/') == std::string_view::npos)
      errors.invalid(path.index(at), finalizer,
                     "name is neither a standard finalizer name nor is it fully qualified");
    ++at;
  }
}

void validate_managed_fields(const Json& metadata, const FieldPath& path, FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& entry : elements(metadata, "managedFields")) {
    const FieldPath here = path.index(at++);
    const std::string_view operation = find_string(entry, "operation");
    if (operation != "Apply" && operation != "Update")
      errors.invalid(here.child("operation"), operation, "must be `Apply` or `Update`");
    const std::string_view type = find_string(entry, "fieldsType");
    if (!type.empty() && type != "FieldsV1")
      errors.invalid(here.child("fieldsType"), type, "must be `FieldsV1`");
    if (find_string(entry, "manager").size() > kManagerBytesMax)
      errors.too_long(here.child("manager"), kManagerBytesMax);
    if (find_string(entry, "subresource").size() > kSubresourceBytesMax)
      errors.too_long(here.child("subresource"), kSubresourceBytesMax);
  }
}

// The parts that are judged alike on create and update.
void validate_contents(const Json& metadata, const FieldPath& path, FieldErrors& errors) {
  validate_labels(members(metadata, "labels"), path.child("labels"), errors);
  validate_annotations(members(metadata, "annotations"), path.child("annotations"), errors);
  validate_owners(metadata, path.child("ownerReferences"), errors);
}

void validate_name(const Json& metadata, NameRule rule, const FieldPath& path,
                   FieldErrors& errors) {
  if (const std::string_view prefix = find_string(metadata, "generateName"); !prefix.empty())
    errors.invalid_each(path.child("generateName"), prefix, check_name(rule, as_generated(prefix)));
  const std::string_view name = find_string(metadata, "name");
  if (name.empty())
    errors.required(path.child("name"), "name or generateName is required");
  else
    errors.invalid_each(path.child("name"), name, check_name(rule, name));
}

void validate_no_new_finalizers(const Json& now, const Json& old, const FieldPath& path,
                                FieldErrors& errors) {
  std::set<std::string_view> before;
  for (const Json& finalizer : elements(old, "finalizers")) before.insert(text_of(finalizer));
  std::vector<std::string> added;
  for (const Json& finalizer : elements(now, "finalizers"))
    if (!before.contains(text_of(finalizer)))
      added.push_back(fmt::format("\"{}\"", text_of(finalizer)));
  if (added.empty()) return;
  std::ranges::sort(added);
  added.erase(std::ranges::unique(added).begin(), added.end());
  errors.forbidden(path,
                   fmt::format("no new finalizers can be added if the object is being deleted, "
                               "found new finalizers []string{{{}}}",
                               fmt::join(added, ", ")));
}

}  // namespace

MetaRules meta_rules(const Kind& kind) {
  MetaRules rules;
  rules.namespaced = kind.namespaced;
  rules.known_finalizers = kind.group.empty();
  if (kind.group.empty() && kind.kind == "Namespace") rules.name = NameRule::DnsLabel;
  if (kind.group.empty() && kind.kind == "Service") rules.name = NameRule::Dns1035Label;
  if (kind.group == "apps" && kind.kind == "StatefulSet") rules.name = NameRule::DnsLabel;
  if (kind.group == kRbacGroup) rules.name = NameRule::PathSegment;
  return rules;
}

Messages check_name(NameRule rule, std::string_view name) {
  switch (rule) {
    case NameRule::DnsSubdomain: return check_dns_subdomain(name);
    case NameRule::DnsLabel: return check_dns_label(name);
    case NameRule::Dns1035Label: return check_dns_1035_label(name);
    case NameRule::PathSegment: return check_path_segment(name);
  }
  return {};
}

void validate_labels(const JsonObject& labels, const FieldPath& path, FieldErrors& errors) {
  for (const auto& label : labels) {
    errors.invalid_each(path, key_of(label), check_qualified_name(key_of(label)));
    const std::string_view value = text_of(label.value());
    errors.invalid_each(path, value, check_label_value(value));
  }
}

void validate_annotations(const JsonObject& annotations, const FieldPath& path,
                          FieldErrors& errors) {
  std::size_t bytes = 0;
  for (const auto& annotation : annotations) {
    const std::string_view key = key_of(annotation);
    // Annotation keys are qualified names except that case does not matter.
    errors.invalid_each(path, key, check_qualified_name(lower_case(key)));
    bytes += key.size() + text_of(annotation.value()).size();
  }
  if (bytes > kAnnotationBytesMax) errors.too_long(path, kAnnotationBytesMax);
}

void validate_object_meta(const Json& document, const MetaRules& rules, FieldErrors& errors) {
  const FieldPath path("metadata");
  const Json& metadata = metadata_of(document);
  validate_name(metadata, rules.name, path, errors);
  const std::string_view name_space = find_string(metadata, "namespace");
  if (!rules.namespaced) {
    if (!name_space.empty()) errors.forbidden(path.child("namespace"), "not allowed on this type");
  } else if (name_space.empty()) {
    errors.required(path.child("namespace"));
  } else {
    errors.invalid_each(path.child("namespace"), name_space, check_dns_label(name_space));
  }
  if (const auto generation = find_integer(metadata, "generation"); generation && *generation < 0)
    errors.invalid(path.child("generation"), *generation, "must be greater than or equal to 0");
  validate_contents(metadata, path, errors);
  const FieldPath finalizers = path.child("finalizers");
  validate_finalizers(metadata, finalizers, errors);
  validate_managed_fields(metadata, path.child("managedFields"), errors);
  if (rules.known_finalizers) validate_known_finalizers(metadata, finalizers, errors);
}

void validate_object_meta_update(const Json& now_document, const Json& old_document,
                                 FieldErrors& errors) {
  const FieldPath path("metadata");
  const Json& now = metadata_of(now_document);
  const Json& old = metadata_of(old_document);
  if (find_set(old, "deletionTimestamp") != nullptr)
    validate_no_new_finalizers(now, old, path.child("finalizers"), errors);
  const std::int64_t generation = find_integer(now, "generation").value_or(0);
  if (generation < find_integer(old, "generation").value_or(0))
    errors.invalid(path.child("generation"), generation, "must not be decremented");
  for (const std::string_view member : {"name", "namespace", "uid"})
    if (const std::string_view value = find_string(now, member); value != find_string(old, member))
      errors.invalid(path.child(member), value, kImmutable);
  for (const std::string_view member :
       {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Json* value = find_set(now, member);
    const Json* before = find_set(old, member);
    const bool same = value == nullptr || before == nullptr ? value == before : *value == *before;
    if (!same)
      errors.invalid(path.child(member), value == nullptr ? ShownValue::null() : ShownValue(*value),
                     kImmutable);
  }
  validate_contents(now, path, errors);
  validate_managed_fields(now, path.child("managedFields"), errors);
}

}  // namespace muster::api
