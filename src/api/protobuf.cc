#include "api/protobuf.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "api/base64.h"
#include "api/json_bounds.h"
#include "api/protobuf_wire.h"
#include "api/scratch.h"
#include "api/values/quantity.h"
#include "base/time.h"

namespace muster::api {
namespace {

using schema::Field;
using schema::Message;
using schema::Repeat;
using schema::Shape;
using wire::malformed;
using wire::SmallMessage;
using wire::Token;

constexpr std::size_t kUsualMembers = 4;  // of a message

tl::unexpected<Error> too_large() {
  return fail(Reason::RequestEntityTooLarge, "the body holds more than {} values", kLimits.values);
}

tl::unexpected<Error> too_deep() {
  return fail(Reason::BadRequest, "the body is nested too deeply");
}

boost::json::string_view to_boost(std::string_view text) { return {text.data(), text.size()}; }

bool is_ascii(std::string_view text) {
  unsigned all = 0;
  for (const char letter : text) all |= static_cast<unsigned char>(letter);
  return all < 0x80;
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

// What is kept of a member; see Kept.
struct Choice {
  bool is_kept = true;
  std::span<const Kept> below = {};
};
Choice choose(std::span<const Kept> kept, std::string_view name) {
  if (kept.empty()) return {};
  const auto at = std::ranges::find(kept, name, &Kept::name);
  if (at == kept.end()) return {.is_kept = kept.back().name == kTheOthers};
  return {.is_kept = !at->dropped, .below = at->below};
}

class MessageReader {
 public:
  // Who wrote the message: a client, whose mistakes are to be found, or a server that we asked, of
  // which we read what we know, in the form that decode() gives it.
  enum class From : std::uint8_t { Client, Server };

  MessageReader(From from, std::size_t values_max, boost::json::storage_ptr storage = {})
      : from_(from), values_(values_max), storage_(std::move(storage)) {}

  Result<void> read(const Message& message, std::string_view bytes, std::span<const Kept> kept,
                    JsonObject& object) {
    if (depth_ == kJsonDepthMax) return too_deep();
    ++depth_;
    for (wire::Reader reader(bytes); !reader.done();) {
      const auto token = reader.next();
      if (!token) return malformed();
      if (!values_.spend(1)) return too_large();
      const Field* field = field_of(message, token->number);
      if (field == nullptr) {
        if (from_ == From::Client) report_unknown(*token, object);
        continue;
      }
      if (auto done = read_field(*field, *token, kept, object); !done) return done;
    }
    --depth_;
    return {};
  }

 private:
  // decode() reports members that the schema does not know. Go writes fields out even when they are
  // zero, so unset fields of a newer client are not reported.
  static void report_unknown(const Token& token, JsonObject& object) {
    if (token.type == wire::Type::Bytes ? !token.bytes.empty() : token.integer != 0)
      object[std::to_string(token.number)] = true;
  }

  // Tables mostly stand in the order of the numbers, with gaps.
  static const Field* field_of(const Message& message, std::uint32_t number) {
    const std::vector<Field>& fields = message.fields;
    const std::size_t guess = std::min<std::size_t>(number, fields.size());
    for (std::size_t at = guess; at > 0; --at)
      if (fields[at - 1].number == number) return &fields[at - 1];
    for (std::size_t at = guess; at < fields.size(); ++at)
      if (fields[at].number == number) return &fields[at];
    return nullptr;
  }

  // Bytes that no UTF-8 text has would be lost on the way through JSON; Go puts U+FFFD there.
  Json text_value(std::string_view bytes) const {
    return is_ascii(bytes) ? Json(to_boost(bytes), storage_)
                           : Json(to_boost(valid_utf8(bytes)), storage_);
  }

  Result<void> read_field(const Field& field, const Token& token, std::span<const Kept> kept,
                          JsonObject& object) {
    const bool has_bytes = token.type == wire::Type::Bytes;
    if (field.inlined && field.repeat == Repeat::One)
      return has_bytes ? read(*field.message, token.bytes, kept, object) : malformed();
    const Choice choice = choose(kept, field.name);
    if (!choice.is_kept) return {};
    if (field.repeat == Repeat::Map) return read_entry(field, token, choice.below, object);
    if (field.repeat == Repeat::List) {
      JsonArray& items = ensure_array(object, field.name);
      if (is_scalar(field.shape) && has_bytes) return read_packed(field, token.bytes, items);
      items.push_back(element(field, TRY(read_one(field, token, choice.below))));
      return {};
    }
    Json value = TRY(read_one(field, token, choice.below));
    const bool is_set = value.is_null() ? false
                                        : field.optional || field.shape == Shape::IntOrString ||
                                              field.shape == Shape::Quantity || !is_unset(value);
    if (is_set)
      object[field.name] = std::move(value);
    else
      object.erase(field.name);
    return {};
  }

  Result<void> read_entry(const Field& field, const Token& token, std::span<const Kept> kept,
                          JsonObject& object) {
    if (token.type != wire::Type::Bytes) return malformed();
    const auto entry = SmallMessage::read(token.bytes);
    if (!entry || (entry->present[1] && entry->fields[1].type != wire::Type::Bytes))
      return malformed();
    const Choice choice = choose(kept, entry->fields[1].bytes);
    if (!choice.is_kept) return {};
    Token value = entry->fields[2];
    if (!entry->present[2])
      value.type = is_scalar(field.shape) ? wire::Type::Varint : wire::Type::Bytes;
    Json read = element(field, TRY(read_one(field, value, choice.below)));
    ensure_object(object, field.name)[valid_utf8(entry->fields[1].bytes)] = std::move(read);
    return {};
  }

  // Of a list or a map: what has no value has one all the same, as decode() says.
  Json element(const Field& field, Json value) const {
    if (from_ == From::Client || !value.is_null()) return value;
    if (field.shape == Shape::Quantity) return Json(to_boost("0"), storage_);
    if (field.shape == Shape::Any) return value;
    return Json(to_boost("0001-01-01T00:00:00Z"), storage_);  // a time: no others can be null
  }

  // Go does not write packed lists, but a reader of protobuf must take them.
  Result<void> read_packed(const Field& field, std::string_view bytes, JsonArray& items) {
    if (field.shape == Shape::Double) return malformed();
    for (wire::Reader reader(bytes); !reader.done();) {
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

  Result<Json> read_one(const Field& field, const Token& token, std::span<const Kept> kept) {
    if (field.shape == Shape::Double) {
      if (token.type != wire::Type::Fixed64) return malformed();
      return Json(std::bit_cast<double>(token.integer));
    }
    if (is_scalar(field.shape)) {
      if (token.type != wire::Type::Varint) return malformed();
      return integer_value(field.shape, token.integer);
    }
    if (token.type != wire::Type::Bytes) return malformed();
    switch (field.shape) {
      case Shape::Bytes: return Json(to_boost(base64_encode(token.bytes)), storage_);
      case Shape::Time:
      case Shape::MicroTime: return read_time(token.bytes, field.shape == Shape::MicroTime);
      case Shape::Any: return read_any(token.bytes);
      case Shape::IntOrString: return read_int_or_string(token.bytes);
      case Shape::Quantity: return read_quantity(token.bytes);
      case Shape::Duration: return read_duration(token.bytes);
      case Shape::Message: return read_message(*field.message, token.bytes, kept);
      default: return text_value(token.bytes);
    }
  }

  Result<Json> read_time(std::string_view bytes, bool micro) const {
    if (bytes.empty()) return Json(nullptr);
    const auto message = SmallMessage::read(bytes);
    if (!message) return malformed();
    const auto seconds = static_cast<std::int64_t>(message->fields[1].integer);
    const auto nanos = static_cast<std::int32_t>(message->fields[2].integer);
    // From year 1 to year 9999, which is all that RFC 3339 can write.
    if (seconds < -62'135'596'800 || seconds > 253'402'300'799 || nanos < 0 || nanos > 999'999'999)
      return malformed();
    const Time time = Time(std::chrono::seconds(seconds)) + std::chrono::microseconds(nanos / 1000);
    return Json(to_boost(micro ? format_micro_time(time) : format_time(time)), storage_);
  }

  static Result<Json> read_any(std::string_view bytes) {
    const auto message = SmallMessage::read(bytes);
    if (!message) return malformed();
    if (message->fields[1].bytes.empty()) return Json(nullptr);
    ParsedJson parsed = TRY(parse_json(message->fields[1].bytes));
    return std::move(parsed.value);
  }

  Result<Json> read_int_or_string(std::string_view bytes) const {
    const auto message = SmallMessage::read(bytes);
    if (!message) return malformed();
    if (message->fields[1].integer == 1) return text_value(message->fields[3].bytes);
    return Json(std::int64_t{static_cast<std::int32_t>(message->fields[2].integer)});
  }

  Result<Json> read_quantity(std::string_view bytes) const {
    const auto message = SmallMessage::read(bytes);
    if (!message) return malformed();
    const std::string_view text = message->fields[1].bytes;
    if (!message->present[1]) return Json(nullptr);
    if (from_ == From::Client) return text_value(text);
    const Quantity quantity = TRY(Quantity::parse(text));
    return Json(to_boost(quantity.text()), storage_);
  }

  Result<Json> read_duration(std::string_view bytes) const {
    const auto message = SmallMessage::read(bytes);
    if (!message) return malformed();
    return Json(to_boost(duration_text(static_cast<std::int64_t>(message->fields[1].integer))),
                storage_);
  }

  Result<Json> read_message(const Message& message, std::string_view bytes,
                            std::span<const Kept> kept) {
    JsonObject object(storage_);
    object.reserve(kept.empty() ? kUsualMembers : std::min(kept.size(), 2 * kUsualMembers));
    const Field* items = message.bare_list();
    if (auto done = read(message, bytes, items == nullptr ? kept : std::span<const Kept>(), object);
        !done)
      return fail(std::move(done).error());
    if (items == nullptr) return Json(std::move(object));
    return Json(std::move(ensure_array(object, items->name)));
  }

  const From from_;
  std::size_t depth_ = 0;
  Budget values_;
  const boost::json::storage_ptr storage_;
};

}  // namespace

Result<ProtobufEnvelope> read_protobuf_envelope(std::string_view body) {
  if (!is_protobuf(body))
    return fail(Reason::BadRequest,
                "provided data does not appear to be a protobuf message, expected "
                "prefix [107 56 115 0]");
  ProtobufEnvelope envelope;
  for (wire::Reader reader(body.substr(kProtobufMagic.size())); !reader.done();) {
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
  MessageReader reader(MessageReader::From::Client, kLimits.values);
  TRY(reader.read(root, message_bytes, {}, parsed.value.get_object()));
  // Lists stand between messages, and a member may hold JSON of its own.
  if (depth_of(parsed.value) > kJsonDepthMax) return too_deep();
  return parsed;
}

Result<Json> parse_protobuf_kept(Scratch& scratch, const Message& root,
                                 std::string_view message_bytes, std::span<const Kept> kept) {
  JsonObject document(scratch.storage());
  MessageReader reader(MessageReader::From::Server, Limits::of_answers().values, scratch.storage());
  TRY(reader.read(root, message_bytes, kept, document));
  Json value(std::move(document));
  if (depth_of(value) > kJsonDepthMax) return too_deep();
  return value;
}

}  // namespace muster::api
