#include "api/yaml_write.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "api/reading.h"

namespace muster::api {
namespace {

// Words that YAML 1.1 does not take for text, in lower case.
constexpr std::array<std::string_view, 9> kWords{"y",   "n",    "yes",   "no",  "on",
                                                 "off", "true", "false", "null"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_plain(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  if (!std::ranges::all_of(text, [](char c) {
        return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '/';
      }))
    return false;
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return std::ranges::find(kWords, lower) == kWords.end();
}

void write_text(std::string_view text, std::string& out) {
  if (is_plain(text))
    out += text;
  else
    write_string(text, out);
}

bool is_block(const Json& value) {
  if (const auto* object = value.if_object()) return !object->empty();
  if (const auto* array = value.if_array()) return !array->empty();
  return false;
}

// Writes a value that begins where the cursor stands, `depth` spaces from the left.
void write(const Json& value, std::size_t depth, std::string& out);

void write_object(const JsonObject& object, std::size_t depth, std::string& out) {
  bool first = true;
  for (const auto& member : object) {
    if (!first) out.append(depth, ' ');
    first = false;
    write_text(key_of(member), out);
    out += ':';
    if (!is_block(member.value())) {
      out += ' ';
      write(member.value(), depth, out);
      continue;
    }
    // The items of a list stand under their name, members two spaces further.
    const std::size_t inner = member.value().is_array() ? depth : depth + 2;
    out += '\n';
    out.append(inner, ' ');
    write(member.value(), inner, out);
  }
}

void write_array(const JsonArray& array, std::size_t depth, std::string& out) {
  bool first = true;
  for (const Json& item : array) {
    if (!first) out.append(depth, ' ');
    first = false;
    out += "- ";
    write(item, depth + 2, out);
  }
}

void write(const Json& value, std::size_t depth, std::string& out) {
  if (is_block(value)) {
    if (value.is_object())
      write_object(value.get_object(), depth, out);
    else
      write_array(value.get_array(), depth, out);
    return;
  }
  if (value.is_string())
    write_text(text_of(value), out);
  else
    write_json(value, out);  // numbers, true, null, {} and []
  out += '\n';
}

}  // namespace

std::string to_yaml(const Json& value) {
  std::string out;
  write(value, 0, out);
  return out;
}

}  // namespace muster::api
