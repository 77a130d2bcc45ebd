#include "api/json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "api/json_bounds.h"
#include "api/json_error.h"
#include "api/scratch.h"
#include "api/text_buffer.h"
#include "base/check.h"

namespace muster::api {
namespace {

// A parser keeps the memory of its largest document; one that grew beyond this is not kept.
constexpr std::size_t kParserBytesKept = std::size_t{1} << 20U;

// Where in the document we are; lives on the stack, written out only when a key stands twice.
struct Place {
  const Place* up = nullptr;
  std::string_view key;
  std::size_t index = 0;

  void write(std::string& out) const {
    if (up == nullptr) return;
    up->write(out);
    if (key.data() == nullptr) {
      fmt::format_to(std::back_inserter(out), "[{}]", index);
      return;
    }
    if (!out.empty()) out += '.';
    out += key;
  }
};

class Converter {
 public:
  explicit Converter(std::vector<std::string>& duplicates, boost::json::storage_ptr storage = {})
      : duplicates_(duplicates), storage_(std::move(storage)) {}

  Json convert(simdjson::dom::element element, const Place& place) {
    using simdjson::dom::element_type;
    switch (element.type()) {
      case element_type::ARRAY: return convert_array(element.get_array().value_unsafe(), place);
      case element_type::OBJECT: return convert_object(element.get_object().value_unsafe(), place);
      case element_type::INT64: return Json(element.get_int64().value_unsafe(), storage_);
      case element_type::UINT64: return Json(element.get_uint64().value_unsafe(), storage_);
      case element_type::DOUBLE: return Json(element.get_double().value_unsafe(), storage_);
      case element_type::STRING:
        return Json(to_boost(element.get_string().value_unsafe()), storage_);
      case element_type::BOOL: return Json(element.get_bool().value_unsafe(), storage_);
      case element_type::NULL_VALUE: break;
    }
    return Json(nullptr, storage_);
  }
  // Of an object, only these members.
  Json convert_members(simdjson::dom::element element,
                       std::initializer_list<std::string_view> members) {
    JsonObject out(storage_);
    simdjson::dom::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return out;
    for (const auto [key, value] : object)
      if (std::ranges::find(members, std::string_view(key)) != members.end())
        out.emplace(to_boost(key), convert(value, {}));
    return out;
  }

 private:
  static boost::json::string_view to_boost(std::string_view text) {
    return {text.data(), text.size()};
  }

  Json convert_array(simdjson::dom::array array, const Place& place) {
    JsonArray out(storage_);
    out.reserve(array.size());
    for (const simdjson::dom::element element : array)
      out.push_back(convert(element, {&place, {}, out.size()}));
    return out;
  }

  Json convert_object(simdjson::dom::object object, const Place& place) {
    JsonObject out(storage_);
    out.reserve(object.size());
    for (const auto [key, element] : object) {
      const Place here{&place, key, 0};
      const auto [member, added] = out.emplace(to_boost(key), nullptr);
      member->value() = convert(element, here);
      if (added) continue;
      std::string path;
      here.write(path);
      duplicates_.push_back(std::move(path));
    }
    return out;
  }

  std::vector<std::string>& duplicates_;
  const boost::json::storage_ptr storage_;
};

std::string refusal(std::string_view text, simdjson::error_code code) {
  if (auto syntax = json_syntax_error(text)) return *std::move(syntax);
  switch (code) {
    case simdjson::DEPTH_ERROR: return "exceeded max depth";
    case simdjson::UTF8_ERROR: return "invalid UTF-8 in JSON text";
    case simdjson::NUMBER_ERROR: return "a number is out of range";
    case simdjson::STRING_ERROR: return "invalid surrogate pair in string literal";
    default: return simdjson::error_message(code);
  }
}

// Parses, and hands the root to `use` before the parser is used again.
template <typename Use>
Result<void> with_parsed(std::string_view text, Use&& use) {
  static thread_local simdjson::dom::parser parser;
  // Sets the depth limit; parse() grows the capacity and keeps the limit. simdjson counts what is
  // innermost too, unless it is an empty list or object.
  constexpr std::size_t kLimit = kJsonDepthMax + 1;
  if (parser.max_depth() != kLimit && parser.allocate(0, kLimit) != simdjson::SUCCESS)
    return fail(Reason::InternalError, "no memory to parse JSON");
  simdjson::dom::element root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root); error)
    return fail(Reason::BadRequest, "{}", refusal(text, error));
  use(root);
  if (parser.capacity() > kParserBytesKept) parser = simdjson::dom::parser();
  return {};
}

// An object's bytes were written by us: that they parse is not a question.
template <typename Use>
void with_bytes(const Object& object, Use&& use) {
  const Result<void> parsed = with_parsed(object.bytes(), use);
  CHECK_THAT(parsed.has_value(), "{} {}: {}", object.kind().kind, key_text(object.meta()),
             parsed.error().message);
}

}  // namespace

Result<ParsedJson> parse_json(std::string_view text) {
  ParsedJson parsed;
  TRY(with_parsed(text, [&](simdjson::dom::element root) {
    parsed.value = Converter(parsed.duplicates).convert(root, {});
  }));
  return parsed;
}

Json document_in(Scratch& scratch, const Object& object) {
  std::vector<std::string> none;
  Json document(scratch.storage());
  with_bytes(object, [&](simdjson::dom::element root) {
    document = Converter(none, scratch.storage()).convert(root, {});
  });
  return document;
}

Json members_in(Scratch& scratch, const Object& object,
                std::initializer_list<std::string_view> members) {
  std::vector<std::string> none;
  Json document(scratch.storage());
  with_bytes(object, [&](simdjson::dom::element root) {
    document = Converter(none, scratch.storage()).convert_members(root, members);
  });
  return document;
}

namespace {

// The shortest text that reads back as the same double, and as a double: 1000.0, not 1000.
void write_double(double value, TextBuffer& out) {
  if (!std::isfinite(value)) {
    out.put("null");
    return;
  }
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  CHECK(error == std::errc());
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  out.put(text);
  if (text.find_first_of(".e") == std::string_view::npos) out.put(".0");
}

template <typename Integer>
void write_integer(Integer value, TextBuffer& out) {
  std::array<char, 24> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  CHECK(error == std::errc());
  out.put(std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data())));
}

}  // namespace

void write_json(const Json& value, TextBuffer& out) {
  switch (value.kind()) {
    case boost::json::kind::null: out.put("null"); return;
    case boost::json::kind::bool_: out.put(value.get_bool() ? "true" : "false"); return;
    case boost::json::kind::int64: write_integer(value.get_int64(), out); return;
    case boost::json::kind::uint64: write_integer(value.get_uint64(), out); return;
    case boost::json::kind::double_: write_double(value.get_double(), out); return;
    case boost::json::kind::string: write_string(value.get_string(), out); return;
    case boost::json::kind::array: {
      out.put('[');
      bool first = true;
      for (const Json& element : value.get_array()) {
        if (!std::exchange(first, false)) out.put(',');
        write_json(element, out);
      }
      out.put(']');
      return;
    }
    case boost::json::kind::object: {
      out.put('{');
      bool first = true;
      for (const auto& member : value.get_object()) {
        if (!std::exchange(first, false)) out.put(',');
        write_string(member.key(), out);
        out.put(':');
        write_json(member.value(), out);
      }
      out.put('}');
      return;
    }
  }
}

namespace {

// What `write` puts out, appended: through one buffer per thread, for only that is quick.
template <typename Write>
void through_buffer(std::string& out, Write&& write) {
  static thread_local TextBuffer buffer;
  buffer.cut(0);
  write(buffer);
  out += buffer.view();
}

}  // namespace

void write_json(const Json& value, std::string& out) {
  through_buffer(out, [&](TextBuffer& buffer) { write_json(value, buffer); });
}

void write_string(std::string_view text, std::string& out) {
  through_buffer(out, [&](TextBuffer& buffer) { write_string(text, buffer); });
}

std::string to_text(const Json& value) {
  std::string out;
  write_json(value, out);
  return out;
}

namespace {

// Where the next character stands that JSON cannot hold as it is; text.size() if there is none.
// Looks at eight at a time: nearly all texts have none at all.
std::size_t next_escape(std::string_view text, std::size_t from) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  // The high bit of each byte that is zero; of bytes above a zero perhaps too, never without one.
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHigh; };
  std::size_t at = from;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t quotes = zeros(word ^ (kOnes * '"'));
    const std::uint64_t slashes = zeros(word ^ (kOnes * '\\'));
    const std::uint64_t controls = (word - kOnes * 0x20U) & ~word & kHigh;
    if ((quotes | slashes | controls) != 0) break;
  }
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == '"' || byte == '\\') break;
  }
  return at;
}

bool is_ascii(std::string_view text) {
  std::uint64_t seen = 0;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    seen |= word;
  }
  for (; at < text.size(); ++at) seen |= static_cast<unsigned char>(text[at]);
  return (seen & 0x8080808080808080U) == 0;
}

}  // namespace

void write_string(std::string_view text, TextBuffer& out) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  if (!is_ascii(text) && !simdjson::validate_utf8(text.data(), text.size())) {
    write_string(valid_utf8(text), out);
    return;
  }
  out.put('\"');
  std::size_t plain = 0;  // start of the run not yet copied
  for (std::size_t i = next_escape(text, 0); i < text.size(); i = next_escape(text, i + 1)) {
    const auto byte = static_cast<unsigned char>(text[i]);
    out.put(text.substr(plain, i - plain));
    plain = i + 1;
    out.put('\\');
    switch (byte) {
      case '"':
      case '\\': out.put(text[i]); break;
      case '\n': out.put('n'); break;
      case '\r': out.put('r'); break;
      case '\t': out.put('t'); break;
      default:
        out.put("u00");
        out.put(kHex[byte >> 4U]);
        out.put(kHex[byte & 0xfU]);
    }
  }
  out.put(text.substr(plain));
  out.put('"');
}

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
