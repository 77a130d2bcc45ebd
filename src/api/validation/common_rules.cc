#include "api/validation/common_rules.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "api/reading.h"

namespace muster::api {
namespace {

bool is_empty(const Json* value) {
  if (value == nullptr || value->is_null()) return true;
  if (const auto* object = value->if_object())
    return std::ranges::all_of(*object, [](const auto& entry) { return is_empty(&entry.value()); });
  if (const auto* list = value->if_array()) return list->empty();
  if (const auto* text = value->if_string()) return text->empty();
  return false;
}

// "25%" is 25.
std::optional<std::int64_t> percentage(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end + 1 != text.data() + text.size() || *end != '%' || value < 0)
    return std::nullopt;
  return value;
}

}  // namespace

bool same_meaning(const Json* a, const Json* b) {
  if (is_empty(a) || is_empty(b)) return is_empty(a) == is_empty(b);
  if (a->is_object() && b->is_object()) {
    const auto covers = [](const JsonObject& one, const JsonObject& other) {
      return std::ranges::all_of(one, [&](const auto& entry) {
        return same_meaning(&entry.value(), other.if_contains(entry.key()));
      });
    };
    return covers(a->get_object(), b->get_object()) && covers(b->get_object(), a->get_object());
  }
  if (a->is_array() && b->is_array())
    return std::ranges::equal(a->get_array(), b->get_array(),
                              [](const Json& x, const Json& y) { return same_meaning(&x, &y); });
  return *a == *b;
}

void validate_immutable_members(const Json& now, const Json& old,
                                std::initializer_list<std::string_view> members,
                                const FieldPath& path, FieldErrors& errors) {
  for (const std::string_view member : members) {
    const Json* value = find_set(now, member);
    if (!same_meaning(value, find_set(old, member)))
      errors.invalid(path.child(member), value == nullptr ? ShownValue::null() : ShownValue(*value),
                     kImmutableField);
  }
}

void not_negative(const Json& holder, std::initializer_list<std::string_view> members,
                  const FieldPath& path, FieldErrors& errors) {
  for (const std::string_view member : members)
    if (const auto value = find_integer(holder, member); value && *value < 0)
      errors.invalid(path.child(member), *value, "must be greater than or equal to 0");
}

void validate_amount(const Json& amount, const FieldPath& path, FieldErrors& errors) {
  if (const auto number = integer_of(amount)) {
    if (*number < 0) errors.invalid(path, *number, "must be greater than or equal to 0");
  } else if (!percentage(text_of(amount))) {
    errors.invalid(path, text_of(amount),
                   "a valid percent string must be a numeric string followed by an ending '%' "
                   "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
  }
}

void validate_at_most_all(const Json& amount, const FieldPath& path, FieldErrors& errors) {
  if (const auto percent = percentage(text_of(amount)); percent && *percent > 100)
    errors.invalid(path, text_of(amount), "must not be greater than 100%");
}

std::int64_t amount_value(const Json& amount) {
  if (const auto number = integer_of(amount)) return *number;
  return percentage(text_of(amount)).value_or(0);
}

void validate_required_word(const Json& holder, std::string_view member,
                            std::span<const std::string_view> allowed, const FieldPath& path,
                            FieldErrors& errors) {
  const std::string_view word = find_string(holder, member);
  if (word.empty())
    errors.required(path.child(member));
  else if (std::ranges::find(allowed, word) == allowed.end())
    errors.not_supported(path.child(member), word, allowed);
}

}  // namespace muster::api
