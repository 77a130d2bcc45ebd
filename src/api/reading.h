#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/json.h"

// Reads that never throw, for rules that look at members which may be missing.
namespace muster::api {

inline std::string_view text_of(const Json& value) {
  const auto* text = value.if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

inline std::string_view key_of(const JsonObject::value_type& member) {
  return {member.key().data(), member.key().size()};
}

inline std::optional<std::int64_t> integer_of(const Json& value) {
  if (const auto* number = value.if_int64()) return *number;
  if (const auto* number = value.if_uint64()) return static_cast<std::int64_t>(*number);
  return std::nullopt;
}

inline std::optional<std::int64_t> find_integer(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  return found == nullptr ? std::nullopt : integer_of(*found);
}

inline bool find_true(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  return found != nullptr && found->is_bool() && found->get_bool();
}

// The member if it is there and not null.
inline const Json* find_set(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  return found == nullptr || found->is_null() ? nullptr : found;
}

// The member, or a null value to go on looking in.
inline const Json& part_of(const Json& value, std::string_view member) {
  static const Json kNone;
  const Json* found = find(value, member);
  return found == nullptr ? kNone : *found;
}

// The elements or members to loop over; nothing if the member is missing or of another type.
inline const JsonArray& elements(const Json& value, std::string_view member) {
  static const JsonArray kNone;
  const JsonArray* found = find_array(value, member);
  return found == nullptr ? kNone : *found;
}

inline const JsonObject& members(const Json& value, std::string_view member) {
  static const JsonObject kNone;
  const JsonObject* found = find_object(value, member);
  return found == nullptr ? kNone : *found;
}

}  // namespace muster::api
