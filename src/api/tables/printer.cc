#include "api/tables/printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "api/selectors.h"
#include "api/values/human_duration.h"

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
  const auto parsed = read_label_selector(selector);
  if (!parsed) return "<error>";
  return parsed->selects_everything() ? "<none>" : parsed->text();
}

std::string labels_text(const Json& labels) {
  std::vector<std::string> pairs;
  if (const auto* object = labels.if_object())
    for (const auto& label : *object)
      pairs.push_back(
          fmt::format("{}={}", std::string_view(label.key()), find_string(labels, label.key())));
  std::ranges::sort(pairs);
  return pairs.empty() ? "<none>" : fmt::format("{}", fmt::join(pairs, ","));
}

}  // namespace muster::api::tables
