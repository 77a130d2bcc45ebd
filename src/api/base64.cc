#include "api/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace muster::api {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t kNone = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group =
        byte_at(bytes, i) << 16U | byte_at(bytes, i + 1) << 8U | byte_at(bytes, i + 2);
    const std::size_t left = bytes.size() - i;
    out += kAlphabet[group >> 18U & 63U];
    out += kAlphabet[group >> 12U & 63U];
    out += left > 1 ? kAlphabet[group >> 6U & 63U] : '=';
    out += left > 2 ? kAlphabet[group & 63U] : '=';
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  std::string out;
  std::uint32_t group = 0;
  std::size_t digits = 0;  // in the current group, padding included
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n') continue;
    if (padding > 0 && digits == 0) return std::nullopt;  // something after the last group
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (c == '=' && digits >= 2)
      ++padding;
    else if (value == kNone || padding > 0)
      return std::nullopt;
    group = group << 6U | (c == '=' ? 0U : value);
    if (++digits < 4) continue;
    out += static_cast<char>(group >> 16U & 0xffU);
    if (padding < 2) out += static_cast<char>(group >> 8U & 0xffU);
    if (padding < 1) out += static_cast<char>(group & 0xffU);
    group = 0;
    digits = 0;
  }
  if (digits != 0) return std::nullopt;
  return out;
}

}  // namespace muster::api
