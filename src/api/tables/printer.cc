#include "api/tables/printer.h"

#include <fmt/format.h>

#include "api/values/human_duration.h"
#include "api/values/label_selector.h"

namespace muster::api::tables {

void Cells::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void Cells::text(std::string_view value) {
  separate();
  write_string(value, out_);
}

void Cells::number(std::int64_t value) {
  separate();
  out_ += std::to_string(value);
}

void Cells::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

std::string Cells::age_text(std::optional<Time> since) const {
  return since ? human_duration(now_ - *since) : "<unknown>";
}

const Json& part(const Json& value, std::string_view member) {
  static const Json kNone;
  const Json* found = find(value, member);
  return found == nullptr ? kNone : *found;
}

const JsonArray& list(const Json& value, std::string_view member) {
  static const JsonArray kNone;
  const JsonArray* found = find_array(value, member);
  return found == nullptr ? kNone : *found;
}

std::int64_t integer(const Json& value, std::string_view member, std::int64_t if_missing) {
  const Json& found = part(value, member);
  if (const auto* number = found.if_int64()) return *number;
  if (const auto* number = found.if_uint64()) return static_cast<std::int64_t>(*number);
  return if_missing;
}

bool truth(const Json& value, std::string_view member) {
  const Json& found = part(value, member);
  return found.is_bool() && found.get_bool();
}

bool is_set(const Json& value, std::string_view member) { return !part(value, member).is_null(); }

std::optional<Time> time(const Json& value, std::string_view member) {
  return parse_time(find_string(value, member));
}

const Json* condition(const Json& status, std::string_view type) {
  for (const Json& candidate : list(status, "conditions"))
    if (find_string(candidate, "type") == type) return &candidate;
  return nullptr;
}

bool condition_is_true(const Json& status, std::string_view type) {
  const Json* found = condition(status, type);
  return found != nullptr && find_string(*found, "status") == "True";
}

std::string joined(const JsonArray& objects, std::string_view member) {
  std::string text;
  for (const Json& object : objects) {
    if (!text.empty()) text += ',';
    text += find_string(object, member);
  }
  return text;
}

std::string selector_text(const Json* selector) {
  if (selector == nullptr || selector->is_null()) return "<none>";
  LabelSelector parsed;
  if (const JsonObject* labels = find_object(*selector, "matchLabels"))
    for (const auto& label : *labels) {
      const auto* value = label.value().if_string();
      auto requirement =
          LabelRequirement::make(std::string(label.key()), LabelOperator::Equals,
                                 {value == nullptr ? std::string() : std::string(*value)});
      if (!requirement) return "<error>";
      parsed.add(*std::move(requirement));
    }
  for (const Json& expression : list(*selector, "matchExpressions")) {
    const auto op = label_operator_named(find_string(expression, "operator"));
    std::vector<std::string> values;
    for (const Json& value : list(expression, "values"))
      if (const auto* text = value.if_string()) values.emplace_back(*text);
    if (!op) return "<error>";
    auto requirement =
        LabelRequirement::make(std::string(find_string(expression, "key")), *op, std::move(values));
    if (!requirement) return "<error>";
    parsed.add(*std::move(requirement));
  }
  return parsed.selects_everything() ? "<none>" : parsed.text();
}

}  // namespace muster::api::tables
