#include "api/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "api/base64.h"
#include "api/json_edit.h"
#include "api/place.h"
#include "api/values/quantity.h"
#include "base/check.h"
#include "base/time.h"

namespace muster::api {
namespace {

using schema::Field;
using schema::Message;
using schema::Repeat;
using schema::Shape;

std::string go_name(const Message& message) {
  const std::size_t slash = message.package.find('/');
  return message.package.substr(slash + 1) + "." + message.name;
}

std::string go_type(const Field& field) {
  switch (field.shape) {
    case Shape::Bool: return "bool";
    case Shape::Int32: return "int32";
    case Shape::Int64: return "int64";
    case Shape::Double: return "float64";
    case Shape::Message: return go_name(*field.message);
    case Shape::String:
    case Shape::Bytes:
    case Shape::Quantity:
    case Shape::IntOrString:
    case Shape::Time:
    case Shape::MicroTime:
    case Shape::Duration:
    case Shape::Any: break;
  }
  return "string";
}

// What Go calls the value in "cannot unmarshal …"; numbers are shown if it is their value that is
// wrong.
std::string go_value(const Json& value, bool wants_number) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "bool";
    case boost::json::kind::string: return "string";
    case boost::json::kind::array: return "array";
    case boost::json::kind::object: return "object";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_: break;
  }
  return wants_number ? "number " + to_text(value) : "number";
}

std::optional<std::int64_t> integer_in(const Json& value, std::int64_t min, std::int64_t max) {
  if (!value.is_int64()) return std::nullopt;  // uint64 holds only what int64 cannot
  const std::int64_t number = value.get_int64();
  if (number < min || number > max) return std::nullopt;
  return number;
}

class Decoder {
 public:
  // `wrong_at` may be null.
  Decoder(Reports& unknown, std::string* wrong_at) : unknown_(unknown), wrong_at_(wrong_at) {}

  Result<void> decode_root(const Message& message, Json& value) {
    if (!value.is_object())
      return fail(Reason::BadRequest, "json: cannot unmarshal {} into Go value of type {}",
                  go_value(value, false), go_name(message));
    return decode_message(message, value.get_object(), Place{});
  }

 private:
  Result<void> decode_message(const Message& message, JsonObject& object, const Place& place) {
    std::vector<std::size_t> gone;  // places of unknown and null members
    std::size_t at = 0;
    for (auto& member : object) {
      const std::size_t here_at = at++;
      const std::string_view name = member.key();
      const Place here{.up = &place, .field = name};
      const Field* field = message.find(name);
      if (field == nullptr) {
        if (message.object && (name == "kind" || name == "apiVersion")) {
          if (!member.value().is_string() && !member.value().is_null())
            return mismatch(message, member.value(), "string", false, here);
          if (place.up == nullptr && member.value().is_string()) continue;
        } else {
          report_unknown(here);
        }
        gone.push_back(here_at);
      } else if (member.value().is_null()) {
        gone.push_back(here_at);
      } else {
        if (auto done = decode_field(message, *field, member.value(), here); !done) return done;
      }
    }
    erase_members_at(object, gone);
    return {};
  }

  Result<void> decode_field(const Message& owner, const Field& field, Json& value,
                            const Place& place) {
    if (field.repeat == Repeat::List) {
      if (!value.is_array()) return mismatch(owner, value, "[]" + go_type(field), false, place);
      return decode_items(owner, field, value.get_array(), place);
    }
    if (field.repeat == Repeat::One) return decode_one(owner, field, value, place);
    if (!value.is_object())
      return mismatch(owner, value, "map[string]" + go_type(field), false, place);
    for (auto& member : value.get_object()) {
      if (member.value().is_null()) member.value() = zero(field);
      const Place here{.up = &place, .key = member.key()};
      if (auto done = decode_one(owner, field, member.value(), here); !done) return done;
    }
    return {};
  }

  Result<void> decode_items(const Message& owner, const Field& field, JsonArray& items,
                            const Place& place) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].is_null()) items[i] = zero(field);
      const Place here{.up = &place, .item = i};
      if (auto done = decode_one(owner, field, items[i], here); !done) return done;
    }
    return {};
  }

  Result<void> decode_one(const Message& owner, const Field& field, Json& value,
                          const Place& place) {
    switch (field.shape) {
      case Shape::String:
      case Shape::Duration:
        if (!value.is_string()) return mismatch(owner, value, "string", false, place);
        return {};
      case Shape::Bool:
        if (!value.is_bool()) return mismatch(owner, value, "bool", false, place);
        return {};
      case Shape::Int32:
        if (!integer_in(value, std::numeric_limits<std::int32_t>::min(),
                        std::numeric_limits<std::int32_t>::max()))
          return mismatch(owner, value, "int32", true, place);
        return {};
      case Shape::Int64:
        if (!value.is_int64()) return mismatch(owner, value, "int64", true, place);
        return {};
      case Shape::Double:
        if (!value.is_number()) return mismatch(owner, value, "float64", false, place);
        value = value.to_number<double>();
        return {};
      case Shape::Bytes: return decode_bytes(owner, value, place);
      case Shape::Quantity: return decode_quantity(value);
      case Shape::IntOrString:
        if (!value.is_string() && !integer_in(value, std::numeric_limits<std::int32_t>::min(),
                                              std::numeric_limits<std::int32_t>::max()))
          return mismatch(owner, value, "int32", true, place);
        return {};
      case Shape::Time:
      case Shape::MicroTime: return decode_time(owner, field, value, place);
      case Shape::Any: return {};
      case Shape::Message: break;
    }
    return decode_submessage(owner, field, value, place);
  }

  Result<void> decode_submessage(const Message& owner, const Field& field, Json& value,
                                 const Place& place) {
    if (const Field* items = field.message->bare_list()) {
      if (!value.is_array()) return mismatch(owner, value, go_name(*field.message), false, place);
      return decode_items(*field.message, *items, value.get_array(), place);
    }
    if (!value.is_object()) return mismatch(owner, value, go_name(*field.message), false, place);
    return decode_message(*field.message, value.get_object(), place);
  }

  Result<void> decode_bytes(const Message& owner, Json& value, const Place& place) {
    if (!value.is_string()) return mismatch(owner, value, "[]uint8", false, place);
    const std::optional<std::string> bytes = base64_decode(value.get_string());
    if (!bytes) return fail(Reason::BadRequest, "illegal base64 data in {}", place.path());
    value = base64_encode(*bytes);
    return {};
  }

  static Result<void> decode_quantity(Json& value) {
    const std::string written =
        value.is_string() ? std::string(value.get_string()) : to_text(value);
    const Quantity quantity = TRY(Quantity::parse(written));
    if (const std::string text = quantity.text(); !value.is_string() || text != written)
      value = text;
    return {};
  }

  Result<void> decode_time(const Message& owner, const Field& field, Json& value,
                           const Place& place) {
    if (!value.is_string()) return mismatch(owner, value, "string", false, place);
    const std::string_view text = value.get_string();
    const std::optional<Time> time = parse_time(text);
    const bool micro = field.shape == Shape::MicroTime;
    if (!time)
      return fail(
          Reason::BadRequest,
          R"(parsing time {0} as "2006-01-02T15:04:05{1}Z07:00": cannot parse {0} as "2006")",
          shortened(to_text(value)), micro ? ".000000" : "");
    if (const std::string canonical = micro ? format_micro_time(*time) : format_time(*time);
        canonical != text)
      value = canonical;
    return {};
  }

  // What Go has in place of a null in a list or map.
  static Json zero(const Field& field) {
    switch (field.shape) {
      case Shape::Bool: return false;
      case Shape::Int32:
      case Shape::Int64:
      case Shape::IntOrString: return std::int64_t{0};
      case Shape::Double: return 0.0;
      case Shape::Quantity: return "0";
      case Shape::Message:
        if (field.message->bare_list() != nullptr) return JsonArray();
        return JsonObject();
      case Shape::Any: return nullptr;
      case Shape::Time:
      case Shape::MicroTime: return "0001-01-01T00:00:00Z";
      case Shape::String:
      case Shape::Bytes:
      case Shape::Duration: break;
    }
    return "";
  }

  tl::unexpected<Error> mismatch(const Message& owner, const Json& value, std::string_view type,
                                 bool wants_number, const Place& place) {
    if (wrong_at_ != nullptr) *wrong_at_ = place.path();
    return fail(Reason::BadRequest,
                "json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                go_value(value, wants_number), owner.name, place.field_path(), type);
  }

  void report_unknown(const Place& place) {
    unknown_.add([&] { return fmt::format("unknown field \"{}\"", place.path()); });
  }

  Reports& unknown_;
  std::string* wrong_at_;
};

Result<Decoded> decode_with(const Message& message, ParsedJson parsed, std::string* wrong_at) {
  // Constructed, not assigned: an assignment would copy a document out of scratch memory.
  Decoded decoded{.document = std::move(parsed.value), .unknown = {}};
  Reports reports;
  if (auto done = Decoder(reports, wrong_at).decode_root(message, decoded.document); !done)
    return fail(std::move(done).error());
  for (const std::string& path : parsed.duplicates)
    reports.add([&] { return fmt::format("duplicate field \"{}\"", path); });
  reports.add_left_out(parsed.duplicates_left_out);
  decoded.unknown = std::move(reports).finish();
  return decoded;
}

}  // namespace

Result<Decoded> decode(const Message& message, ParsedJson parsed) {
  return decode_with(message, std::move(parsed), nullptr);
}

Result<Decoded> decode(const Message& message, ParsedJson parsed, std::string& wrong_at) {
  return decode_with(message, std::move(parsed), &wrong_at);
}

}  // namespace muster::api
