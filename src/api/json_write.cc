#include <simdjson.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "api/json.h"
#include "api/json_bounds.h"
#include "api/text_buffer.h"
#include "base/check.h"

namespace muster::api {
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

// As write_json(), but nothing is begun once the text is `end` bytes long.
void write_beginning(const Json& value, std::size_t end, TextBuffer& out) {
  if (out.size() >= end) return;
  if (const JsonArray* items = value.if_array()) {
    out.put('[');
    bool first = true;
    for (const Json& item : *items) {
      if (out.size() >= end) return;
      if (!std::exchange(first, false)) out.put(',');
      write_beginning(item, end, out);
    }
    out.put(']');
  } else if (const JsonObject* object = value.if_object()) {
    out.put('{');
    bool first = true;
    for (const auto& member : *object) {
      if (out.size() >= end) return;
      if (!std::exchange(first, false)) out.put(',');
      write_string(cut_utf8(member.key(), end - out.size()), out);
      out.put(':');
      write_beginning(member.value(), end, out);
    }
    out.put('}');
  } else if (const auto* text = value.if_string()) {
    write_string(cut_utf8(*text, end - out.size()), out);
  } else {
    write_json(value, out);
  }
}

}  // namespace

std::string beginning_of_text(const Json& value, std::size_t bytes_max) {
  std::string out;
  through_buffer(out, [&](TextBuffer& buffer) { write_beginning(value, bytes_max + 1, buffer); });
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

}  // namespace muster::api
