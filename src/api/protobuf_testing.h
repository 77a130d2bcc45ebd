#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/base64.h"
#include "api/json.h"
#include "api/schema/schema.h"
#include "base/check.h"
#include "base/time.h"

namespace muster::api {

// Writes messages the way Go does: members that are not optional always, optional ones if present.
class ProtobufWriter {
 public:
  static std::string message(const schema::Message& message, const Json& value) {
    std::string out;
    for (const schema::Field& field : message.fields) {
      if (field.inlined && field.repeat == schema::Repeat::One) {
        bytes(field.number, ProtobufWriter::message(*field.message, value), out);
        continue;
      }
      const Json* member = find(value, field.name);
      // Members that are always written are null where nothing is set.
      if (member != nullptr && member->is_null() && field.shape != schema::Shape::Any)
        member = nullptr;
      if (member == nullptr && (field.optional || field.repeat != schema::Repeat::One)) continue;
      if (field.repeat == schema::Repeat::List) {
        for (const Json& item : member->as_array()) one(field, field.number, &item, out);
      } else if (field.repeat == schema::Repeat::Map) {
        for (const auto& entry : member->as_object()) {
          std::string pair;
          bytes(1, entry.key(), pair);
          one(field, 2, &entry.value(), pair);
          bytes(field.number, pair, out);
        }
      } else {
        one(field, field.number, member, out);
      }
    }
    return out;
  }

  static void bytes(unsigned number, std::string_view content, std::string& out) {
    varint(number << 3U | 2U, out);
    varint(content.size(), out);
    out += content;
  }

 private:
  static void varint(std::uint64_t value, std::string& out) {
    for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
    out += static_cast<char>(value);
  }
  static void integer(unsigned number, std::int64_t value, std::string& out) {
    varint(number << 3U, out);
    varint(static_cast<std::uint64_t>(value), out);
  }

  static std::string time(const Json& value) {
    std::string out;
    const Time time = parse_time(value.as_string()).value();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    integer(1, seconds.time_since_epoch().count(), out);
    integer(2, (time - seconds).count() * 1000, out);
    return out;
  }

  static std::string int_or_string(const Json* value) {
    std::string out;
    const bool is_text = value != nullptr && value->is_string();
    integer(1, is_text ? 1 : 0, out);
    integer(2, value != nullptr && value->is_int64() ? value->get_int64() : 0, out);
    bytes(3, is_text ? std::string_view(value->get_string()) : "", out);
    return out;
  }

  static void one(const schema::Field& field, unsigned number, const Json* value,
                  std::string& out) {
    std::string wrapped;
    switch (field.shape) {
      case schema::Shape::Bool:
        return integer(number, value != nullptr && value->as_bool() ? 1 : 0, out);
      case schema::Shape::Int32:
      case schema::Shape::Int64:
        return integer(number, value == nullptr ? 0 : value->as_int64(), out);
      case schema::Shape::Bytes:
        return bytes(number, value == nullptr ? "" : *base64_decode(value->as_string()), out);
      case schema::Shape::Quantity:
        if (value != nullptr) bytes(1, value->as_string(), wrapped);
        return bytes(number, wrapped, out);
      case schema::Shape::Time:
      case schema::Shape::MicroTime:
        return bytes(number, value == nullptr || value->is_null() ? "" : time(*value), out);
      case schema::Shape::IntOrString: return bytes(number, int_or_string(value), out);
      case schema::Shape::Any:
        if (value != nullptr) bytes(1, to_text(*value), wrapped);
        return bytes(number, wrapped, out);
      case schema::Shape::Message:
        if (const schema::Field* items = field.message->bare_list()) {
          for (const Json& item : value->as_array()) one(*items, items->number, &item, wrapped);
          return bytes(number, wrapped, out);
        }
        return bytes(number, message(*field.message, value == nullptr ? JsonObject() : *value),
                     out);
      case schema::Shape::String:
        return bytes(number,
                     value == nullptr ? std::string_view() : std::string_view(value->as_string()),
                     out);
      case schema::Shape::Double:
      case schema::Shape::Duration:
        CHECK_THAT(false, "no table has a {} of this shape yet", field.name);
    }
  }
};

}  // namespace muster::api
