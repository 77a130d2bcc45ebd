#include "api/validation/event.h"

#include <fmt/format.h>

#include "api/reading.h"
#include "api/validation/object_meta.h"

namespace muster::api {
namespace {

constexpr std::size_t kWordBytesMax = 128;
constexpr std::size_t kNoteBytesMax = 1024;

std::string_view string_in(const Json& document, std::string_view member, std::string_view inner) {
  const Json* found = find(document, member);
  return found == nullptr ? std::string_view() : find_string(*found, inner);
}

void validate_name_spaces(const Json& document, bool has_event_time, FieldErrors& errors) {
  const std::string_view own = string_in(document, "metadata", "namespace");
  const std::string_view involved = string_in(document, "involvedObject", "namespace");
  bool agree = true;
  if (involved.empty())
    agree = own == "default" || (has_event_time ? own == "kube-system" : own.empty());
  else if (!has_event_time)
    agree = own == involved;
  if (!agree)
    errors.invalid(FieldPath("involvedObject.namespace"), involved,
                   "does not match event.namespace");
}

void validate_word(const Json& document, std::string_view member, FieldErrors& errors) {
  const std::string_view word = find_string(document, member);
  if (word.empty()) errors.required(FieldPath(member));
  if (word.size() > kWordBytesMax)
    errors.invalid(FieldPath(member), "",
                   fmt::format("can have at most {} characters", kWordBytesMax));
}

// What has an eventTime is of the new kind and must say who reports it.
void validate_reporter(const Json& document, EventGroup through, FieldErrors& errors) {
  const FieldPath path(through == EventGroup::Core ? "reportingComponent" : "reportingController");
  const std::string_view controller = find_string(document, "reportingComponent");
  if (controller.empty()) errors.required(path);
  errors.invalid_each(path, controller, check_qualified_name(controller));
  for (const std::string_view member : {"reportingInstance", "action", "reason"})
    validate_word(document, member, errors);
  if (find_string(document, "message").size() > kNoteBytesMax)
    errors.invalid(FieldPath("message"), "",
                   fmt::format("can have at most {} characters", kNoteBytesMax));
}

void validate_series(const Json& document, FieldErrors& errors) {
  const Json* series = find_set(document, "series");
  if (series == nullptr) return;
  if (find_integer(*series, "count").value_or(0) < 2)
    errors.invalid(FieldPath("series.count"), "", "should be at least 2");
  if (find_set(*series, "lastObservedTime") == nullptr)
    errors.required(FieldPath("series.lastObservedTime"));
}

void validate_common(const Json& document, EventGroup through, FieldErrors& errors) {
  const bool has_event_time = find_set(document, "eventTime") != nullptr;
  validate_name_spaces(document, has_event_time, errors);
  if (has_event_time) validate_reporter(document, through, errors);
  const std::string_view own = string_in(document, "metadata", "namespace");
  errors.invalid_each(FieldPath("namespace"), own, check_dns_subdomain(own));
}

void validate_strict(const Json& document, FieldErrors& errors) {
  validate_object_meta(document, {.known_finalizers = true}, errors);
  validate_series(document, errors);
  if (find_set(document, "eventTime") == nullptr) errors.required(FieldPath("eventTime"));
  const std::string_view type = find_string(document, "type");
  if (type != "Normal" && type != "Warning")
    errors.invalid(FieldPath("type"), "", fmt::format("has invalid value: {}", type));
  for (const std::string_view member : {"firstTimestamp", "lastTimestamp"})
    if (find_set(document, member) != nullptr)
      errors.invalid(FieldPath(member), "", "needs to be unset");
  if (find_integer(document, "count").value_or(0) != 0)
    errors.invalid(FieldPath("count"), "", "needs to be unset");
  if (!string_in(document, "source", "component").empty() ||
      !string_in(document, "source", "host").empty())
    errors.invalid(FieldPath("source"), "", "needs to be unset");
}

// Missing, null and empty mean the same.
bool same(const Json* a, const Json* b) {
  const auto is_unset = [](const Json* value) {
    if (value == nullptr || value->is_null()) return true;
    if (const auto* object = value->if_object()) return object->empty();
    if (const auto* text = value->if_string()) return text->empty();
    return integer_of(*value) == 0;
  };
  return is_unset(a) || is_unset(b) ? is_unset(a) == is_unset(b) : *a == *b;
}

}  // namespace

FieldErrors validate_event(const Json& document, EventGroup through) {
  FieldErrors errors;
  validate_common(document, through, errors);
  if (through == EventGroup::Events) validate_strict(document, errors);
  return errors;
}

FieldErrors validate_event_update(const Json& now, const Json& old, EventGroup through) {
  FieldErrors errors;
  validate_common(now, through, errors);
  if (through == EventGroup::Core) return errors;
  validate_object_meta_update(now, old, errors);
  if (!same(find(now, "series"), find(old, "series"))) validate_series(now, errors);
  for (const std::string_view member :
       {"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count",
        "reportingComponent", "reportingInstance", "action", "type", "eventTime", "related"}) {
    const Json* value = find_set(now, member);
    if (same(value, find(old, member))) continue;
    const bool renamed = member == "reportingComponent";
    errors.invalid(FieldPath(renamed ? "reportingController" : member),
                   value == nullptr ? ShownValue::null() : ShownValue(*value),
                   "field is immutable");
  }
  return errors;
}

}  // namespace muster::api
