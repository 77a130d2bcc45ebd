#include "server/http/warnings.h"

#include <algorithm>
#include <string_view>

namespace muster::server {
namespace {

constexpr std::size_t kTotalMax = 4096;
constexpr std::size_t kShort = 256;

// A character of UTF-8 is one byte and those that go on with it.
bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !goes_on(c); }));
}

std::string_view shortened(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size(); ++end)
    if (!goes_on(text[end]) && ++count > kShort) break;
  return text.substr(0, end);
}

std::string header(std::string_view text) {
  std::string out = "299 - \"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) continue;
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::vector<std::string> warning_headers(std::span<const std::string> warnings) {
  std::vector<std::string_view> texts;
  std::size_t total = 0;
  for (const std::string& text : warnings) {
    if (std::ranges::find(texts, text) != texts.end()) continue;
    texts.push_back(text);
    total += characters(text);
  }
  std::vector<std::string> out;
  const bool cut = total > kTotalMax;
  std::size_t written = 0;
  for (const std::string_view full : texts) {
    if (cut && written >= kTotalMax) break;
    const std::string_view text = cut ? shortened(full) : full;
    written += characters(text);
    out.push_back(header(text));
  }
  return out;
}

}  // namespace muster::server
