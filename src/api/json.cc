#include "api/json.h"

#include <cstddef>

namespace muster::api {

const Json* find(const Json& value, std::string_view member) {
  const JsonObject* object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(member);
}

const JsonObject* find_object(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  return found == nullptr ? nullptr : found->if_object();
}

const JsonArray* find_array(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  return found == nullptr ? nullptr : found->if_array();
}

std::string_view find_string(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  const auto* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

const Json* find_path(const Json& value, std::string_view dotted_path) {
  const Json* at = &value;
  while (at != nullptr) {
    const std::size_t dot = dotted_path.find('.');
    at = find(*at, dotted_path.substr(0, dot));
    if (dot == std::string_view::npos) return at;
    dotted_path.remove_prefix(dot + 1);
  }
  return nullptr;
}

// operator[] of Boost 1.81 may move all members even if the key is there already, and references to
// them dangle; so it is asked only where a member really has to be added.
JsonObject& ensure_object(JsonObject& parent, std::string_view member) {
  Json* found = parent.if_contains(member);
  Json& value = found != nullptr ? *found : parent[member];
  return value.is_object() ? value.get_object() : value.emplace_object();
}

JsonArray& ensure_array(JsonObject& parent, std::string_view member) {
  Json* found = parent.if_contains(member);
  Json& value = found != nullptr ? *found : parent[member];
  return value.is_array() ? value.get_array() : value.emplace_array();
}

}  // namespace muster::api
