#include "api/values/go_duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <type_traits>
#include <utility>

namespace muster::api {
namespace {

// In nanoseconds. Longer units that begin alike come first.
constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{{"ns", 1},
                                                                     {"us", 1e3},
                                                                     {"\u00b5s", 1e3},
                                                                     {"\u03bcs", 1e3},
                                                                     {"ms", 1e6},
                                                                     {"s", 1e9},
                                                                     {"m", 60e9},
                                                                     {"h", 3600e9}}};
constexpr double kLongest = 9.2e18;  // what 64 bits hold

bool is_number_start(char letter) { return (letter >= '0' && letter <= '9') || letter == '.'; }

}  // namespace

std::optional<Duration> parse_go_duration(std::string_view text) {
  if (text == "0") return Duration::zero();
  if (text.empty()) return std::nullopt;
  double nanoseconds = 0;
  while (!text.empty()) {
    if (!is_number_start(text.front())) return std::nullopt;
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    double unit = 0;
    for (const auto& [name, length] : kUnits)
      if (unit == 0 && text.starts_with(name)) {
        unit = length;
        text.remove_prefix(name.size());
      }
    nanoseconds += number * unit;
    if (unit == 0 || !(nanoseconds < kLongest)) return std::nullopt;
  }
  return std::chrono::duration_cast<Duration>(
      std::chrono::nanoseconds{static_cast<std::int64_t>(nanoseconds)});
}

std::string print_go_duration(Duration duration) {
  static_assert(std::is_same_v<Duration, std::chrono::microseconds>);
  constexpr std::int64_t kSecond = 1'000'000;
  const std::int64_t all = duration.count();
  // Digits behind the point only as far as they say something.
  const auto decimal = [](std::int64_t amount, std::int64_t unit) {
    std::string text = fmt::format("{}", amount / unit);
    if (amount % unit == 0) return text;
    text += fmt::format(".{:0>{}}", amount % unit, unit == kSecond ? 6 : 3);
    return text.substr(0, text.find_last_not_of('0') + 1);
  };
  if (all == 0) return "0s";
  if (all < 1000) return fmt::format("{}\u00b5s", all);
  if (all < kSecond) return decimal(all, 1000) + "ms";
  std::string text;
  if (const std::int64_t hours = all / (3600 * kSecond); hours > 0)
    text = fmt::format("{}h", hours);
  if (const std::int64_t minutes = all / (60 * kSecond); minutes > 0)
    text += fmt::format("{}m", minutes % 60);
  return text + decimal(all % (60 * kSecond), kSecond) + "s";
}

}  // namespace muster::api
