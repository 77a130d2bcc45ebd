#include "api/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace muster::api {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// strconv.ParseInt(text, 0, 64): 0x, 0o, 0b and a leading 0 choose the base.
std::optional<Json> resolve_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  constexpr std::uint64_t kMin = std::uint64_t{1} << 63U;
  if (negative)
    return magnitude > kMin ? std::nullopt
                            : std::optional<Json>(static_cast<std::int64_t>(-magnitude));
  if (magnitude < kMin) return Json(static_cast<std::int64_t>(magnitude));
  return Json(magnitude);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  const auto skip_digits = [&] {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(digits);
    return digits > 0;
  };
  const auto skip_any = [&](std::string_view set) {
    const bool found = !text.empty() && set.find(text.front()) != std::string_view::npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  skip_any("+-");
  const bool whole = skip_digits();
  const bool fraction = skip_any(".") && skip_digits();
  if (!whole && !fraction) return false;
  if (skip_any("eE")) {
    skip_any("+-");
    if (!skip_digits()) return false;
  }
  return text.empty();
}

// A float without a fraction turns into an integer on its way through JSON in Go.
Json number_from(double value) {
  constexpr double kLimit = 9.2e18;
  if (std::trunc(value) == value && std::abs(value) < kLimit)
    return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

Result<Json> resolve_plain_scalar(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return Json(nullptr);
  if (is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}))
    return Json(true);
  if (is_one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
    return Json(false);
  if (is_one_of(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
                       ".nan", ".NaN", ".NAN"}))
    return fail(Reason::BadRequest, "error converting YAML to JSON: unsupported value: {}", text);
  if (std::string_view("+-.0123456789").find(text.front()) == std::string_view::npos)
    return Json(boost::json::string(text));
  std::string digits(text);
  std::erase(digits, '_');
  if (auto integer = resolve_integer(digits)) return *std::move(integer);
  if (!looks_like_float(digits)) return Json(boost::json::string(text));
  const std::string_view number = std::string_view(digits).substr(digits.front() == '+' ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc()) return Json(boost::json::string(text));
  return number_from(value);
}

}  // namespace muster::api
