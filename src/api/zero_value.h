#pragma once

#include "api/json.h"

namespace muster::api {

// Whether a scalar is what Go calls the zero value of its type. False for lists and objects.
inline bool is_zero_scalar(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return true;
    case boost::json::kind::bool_: return !value.get_bool();
    case boost::json::kind::int64: return value.get_int64() == 0;
    case boost::json::kind::uint64: return value.get_uint64() == 0;
    case boost::json::kind::double_: return value.get_double() == 0;
    case boost::json::kind::string: return value.get_string().empty();
    case boost::json::kind::array:
    case boost::json::kind::object: break;
  }
  return false;
}

// The same, and empty lists and objects.
inline bool is_zero(const Json& value) {
  if (const auto* list = value.if_array()) return list->empty();
  if (const auto* object = value.if_object()) return object->empty();
  return is_zero_scalar(value);
}

}  // namespace muster::api
