#include "server/http/query.h"

#include <algorithm>
#include <cctype>

namespace muster::server {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      out += ' ';
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Query::Query(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto key = percent_decode(pair.substr(0, equals), true);
    auto value = percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (key && value) pairs_.emplace_back(*std::move(key), *std::move(value));
  }
}

const std::string* Query::find(std::string_view key) const {
  const auto at = std::ranges::find(
      pairs_, key, [](const auto& pair) -> std::string_view { return pair.first; });
  return at == pairs_.end() ? nullptr : &at->second;
}

std::string Query::text(std::string_view key) const {
  const std::string* value = find(key);
  return value == nullptr ? std::string() : *value;
}

std::vector<std::string> Query::all(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : pairs_)
    if (name == key) values.push_back(value);
  return values;
}

std::size_t Query::held_bytes() const {
  std::size_t bytes = 0;
  for (const auto& pair : pairs_) bytes += sizeof(pair) + pair.first.size() + pair.second.size();
  return bytes;
}

bool Query::flag(std::string_view key) const {
  const std::string* value = find(key);
  return value != nullptr && *value != "0" && !equals_ignoring_case(*value, "false");
}

}  // namespace muster::server
