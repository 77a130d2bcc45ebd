#include "api/protobuf.h"

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "api/base64.h"
#include "api/json_bounds.h"
#include "base/time.h"

namespace muster::api {
namespace {

using schema::Field;
using schema::Message;
using schema::Repeat;
using schema::Shape;

enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// One field as it stands on the wire.
struct Token {
  std::uint32_t number = 0;
  Wire wire = Wire::Varint;
  std::uint64_t integer = 0;  // of Varint, Fixed64 and Fixed32
  std::string_view bytes;     // of Bytes
};

tl::unexpected<Error> malformed() {
  return fail(Reason::BadRequest, "the body is no valid protobuf message");
}

tl::unexpected<Error> too_large() {
  return fail(Reason::RequestEntityTooLarge, "the body holds more than {} values", kLimits.values);
}

tl::unexpected<Error> too_deep() {
  return fail(Reason::BadRequest, "the body is nested too deeply");
}

// Bytes that no UTF-8 text has would be lost on the way through JSON; Go puts U+FFFD there.
Json text_value(std::string_view bytes) { return boost::json::string(valid_utf8(bytes)); }

// Steps through a message, never beyond its end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }

  std::optional<Token> next() {
    const auto key = varint();
    if (!key || *key >> 3U == 0 || *key >> 32U != 0) return std::nullopt;
    Token token;
    token.number = static_cast<std::uint32_t>(*key >> 3U);
    token.wire = static_cast<Wire>(*key & 7U);
    switch (token.wire) {
      case Wire::Varint: return finish(token, varint());
      case Wire::Fixed64: return finish(token, fixed(8));
      case Wire::Fixed32: return finish(token, fixed(4));
      case Wire::Bytes: break;
      default: return std::nullopt;  // groups, which nobody writes
    }
    const auto size = varint();
    if (!size || *size > rest_.size()) return std::nullopt;
    token.bytes = rest_.substr(0, *size);
    rest_.remove_prefix(*size);
    return token;
  }

 private:
  static std::optional<Token> finish(Token token, std::optional<std::uint64_t> integer) {
    if (!integer) return std::nullopt;
    token.integer = *integer;
    return token;
  }

  std::optional<std::uint64_t> fixed(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(size);
    return value;
  }

  std::string_view rest_;
};

// The fields of a small helper message (Time, Quantity, IntOrString, a map entry), by number.
struct SmallMessage {
  Token fields[4];
  bool present[4] = {};

  static std::optional<SmallMessage> read(std::string_view bytes) {
    SmallMessage message;
    for (Reader reader(bytes); !reader.done();) {
      const auto token = reader.next();
      if (!token) return std::nullopt;
      if (token->number >= 4) continue;
      message.fields[token->number] = *token;
      message.present[token->number] = true;
    }
    return message;
  }
};

Result<Json> read_time(std::string_view bytes, bool micro) {
  if (bytes.empty()) return Json(nullptr);
  const auto message = SmallMessage::read(bytes);
  if (!message) return malformed();
  const auto seconds = static_cast<std::int64_t>(message->fields[1].integer);
  const auto nanos = static_cast<std::int32_t>(message->fields[2].integer);
  // From year 1 to year 9999, which is all that RFC 3339 can write.
  if (seconds < -62'135'596'800 || seconds > 253'402'300'799 || nanos < 0 || nanos > 999'999'999)
    return malformed();
  const Time time = Time(std::chrono::seconds(seconds)) + std::chrono::microseconds(nanos / 1000);
  return Json(boost::json::string(micro ? format_micro_time(time) : format_time(time)));
}

Result<Json> read_any(std::string_view bytes) {
  const auto message = SmallMessage::read(bytes);
  if (!message) return malformed();
  if (message->fields[1].bytes.empty()) return Json(nullptr);
  ParsedJson parsed = TRY(parse_json(message->fields[1].bytes));
  return std::move(parsed.value);
}

Result<Json> read_int_or_string(std::string_view bytes) {
  const auto message = SmallMessage::read(bytes);
  if (!message) return malformed();
  if (message->fields[1].integer == 1) return text_value(message->fields[3].bytes);
  return Json(std::int64_t{static_cast<std::int32_t>(message->fields[2].integer)});
}

// The text of a Go duration, which has no sign of its own beyond seconds: "1.5s".
std::string duration_text(std::int64_t nanoseconds) {
  std::string text = fmt::format("{:.9f}", static_cast<double>(nanoseconds) / 1e9);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "s";
}

bool is_unset(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return true;
    case boost::json::kind::bool_: return !value.get_bool();
    case boost::json::kind::int64: return value.get_int64() == 0;
    case boost::json::kind::double_: return value.get_double() == 0;
    case boost::json::kind::string: return value.get_string().empty();
    case boost::json::kind::object: return value.get_object().empty();
    case boost::json::kind::array: return value.get_array().empty();
    case boost::json::kind::uint64: break;
  }
  return false;
}

bool is_scalar(Shape shape) {
  return shape == Shape::Bool || shape == Shape::Int32 || shape == Shape::Int64 ||
         shape == Shape::Double;
}

class MessageReader {
 public:
  Result<void> read(const Message& message, std::string_view bytes, JsonObject& object) {
    if (depth_ == kJsonDepthMax) return too_deep();
    ++depth_;
    for (Reader reader(bytes); !reader.done();) {
      const auto token = reader.next();
      if (!token) return malformed();
      if (!values_.spend(1)) return too_large();
      const Field* field = field_of(message, token->number);
      if (field == nullptr) {
        report_unknown(*token, object);
        continue;
      }
      if (auto done = read_field(*field, *token, object); !done) return done;
    }
    --depth_;
    return {};
  }

 private:
  // decode() reports members that the schema does not know. Go writes fields out even when they
  // are zero, so a newer client's unset ones are no news.
  static void report_unknown(const Token& token, JsonObject& object) {
    if (token.wire == Wire::Bytes ? !token.bytes.empty() : token.integer != 0)
      object[std::to_string(token.number)] = true;
  }

  static const Field* field_of(const Message& message, std::uint32_t number) {
    for (const Field& field : message.fields)
      if (field.number == number) return &field;
    return nullptr;
  }

  Result<void> read_field(const Field& field, const Token& token, JsonObject& object) {
    const bool has_bytes = token.wire == Wire::Bytes;
    if (field.inlined && field.repeat == Repeat::One)
      return has_bytes ? read(*field.message, token.bytes, object) : malformed();
    if (field.repeat == Repeat::Map) return read_entry(field, token, object);
    if (field.repeat == Repeat::List) {
      JsonArray& items = ensure_array(object, field.name);
      if (is_scalar(field.shape) && has_bytes) return read_packed(field, token.bytes, items);
      items.push_back(TRY(read_one(field, token)));
      return {};
    }
    Json value = TRY(read_one(field, token));
    const bool kept = value.is_null() ? false
                                      : field.optional || field.shape == Shape::IntOrString ||
                                            field.shape == Shape::Quantity || !is_unset(value);
    if (kept)
      object[field.name] = std::move(value);
    else
      object.erase(field.name);
    return {};
  }

  Result<void> read_entry(const Field& field, const Token& token, JsonObject& object) {
    if (token.wire != Wire::Bytes) return malformed();
    const auto entry = SmallMessage::read(token.bytes);
    if (!entry || (entry->present[1] && entry->fields[1].wire != Wire::Bytes)) return malformed();
    Token value = entry->fields[2];
    if (!entry->present[2]) value.wire = is_scalar(field.shape) ? Wire::Varint : Wire::Bytes;
    Json read = TRY(read_one(field, value));
    ensure_object(object, field.name)[valid_utf8(entry->fields[1].bytes)] = std::move(read);
    return {};
  }

  // Go does not write packed lists, but a reader of protobuf must take them.
  Result<void> read_packed(const Field& field, std::string_view bytes, JsonArray& items) {
    if (field.shape == Shape::Double) return malformed();
    for (Reader reader(bytes); !reader.done();) {
      const auto value = reader.varint();
      if (!value) return malformed();
      if (!values_.spend(1)) return too_large();
      items.push_back(integer_value(field.shape, *value));
    }
    return {};
  }

  static Json integer_value(Shape shape, std::uint64_t value) {
    if (shape == Shape::Bool) return value != 0;
    if (shape == Shape::Int32) return std::int64_t{static_cast<std::int32_t>(value)};
    return static_cast<std::int64_t>(value);
  }

  Result<Json> read_one(const Field& field, const Token& token) {
    if (field.shape == Shape::Double) {
      if (token.wire != Wire::Fixed64) return malformed();
      return Json(std::bit_cast<double>(token.integer));
    }
    if (is_scalar(field.shape)) {
      if (token.wire != Wire::Varint) return malformed();
      return integer_value(field.shape, token.integer);
    }
    if (token.wire != Wire::Bytes) return malformed();
    switch (field.shape) {
      case Shape::Bytes: return Json(boost::json::string(base64_encode(token.bytes)));
      case Shape::Time:
      case Shape::MicroTime: return read_time(token.bytes, field.shape == Shape::MicroTime);
      case Shape::Any: return read_any(token.bytes);
      case Shape::IntOrString: return read_int_or_string(token.bytes);
      case Shape::Quantity:
      case Shape::Duration: return read_wrapped(field.shape, token.bytes);
      case Shape::Message: return read_message(*field.message, token.bytes);
      default: return text_value(token.bytes);
    }
  }

  static Result<Json> read_wrapped(Shape shape, std::string_view bytes) {
    const auto message = SmallMessage::read(bytes);
    if (!message) return malformed();
    if (shape == Shape::Duration)
      return Json(boost::json::string(
          duration_text(static_cast<std::int64_t>(message->fields[1].integer))));
    if (!message->present[1]) return Json(nullptr);
    return text_value(message->fields[1].bytes);
  }

  Result<Json> read_message(const Message& message, std::string_view bytes) {
    JsonObject object;
    if (auto done = read(message, bytes, object); !done) return fail(std::move(done).error());
    const Field* items = message.bare_list();
    if (items == nullptr) return Json(std::move(object));
    return Json(std::move(ensure_array(object, items->name)));
  }

  std::size_t depth_ = 0;
  Budget values_{kLimits.values};
};

}  // namespace

Result<ProtobufEnvelope> read_protobuf_envelope(std::string_view body) {
  constexpr std::string_view kMagic("k8s\0", 4);
  if (!body.starts_with(kMagic))
    return fail(Reason::BadRequest,
                "provided data does not appear to be a protobuf message, expected "
                "prefix [107 56 115 0]");
  ProtobufEnvelope envelope;
  for (Reader reader(body.substr(kMagic.size())); !reader.done();) {
    const auto token = reader.next();
    if (!token) return malformed();
    if (token->number == 2) envelope.raw = token->bytes;
    if (token->number != 1) continue;
    const auto type = SmallMessage::read(token->bytes);
    if (!type) return malformed();
    envelope.api_version = type->fields[1].bytes;
    envelope.kind = type->fields[2].bytes;
  }
  return envelope;
}

Result<ParsedJson> parse_protobuf(const Message& root, std::string_view message_bytes) {
  ParsedJson parsed;
  parsed.value.emplace_object();
  if (auto done = MessageReader().read(root, message_bytes, parsed.value.get_object()); !done)
    return fail(std::move(done).error());
  // Lists stand between messages, and a member may hold JSON of its own.
  if (depth_of(parsed.value) > kJsonDepthMax) return too_deep();
  return parsed;
}

}  // namespace muster::api
