#include "api/values/human_duration.h"

#include <fmt/format.h>

namespace muster::api {
namespace {

constexpr std::int64_t kMinute = 60;  // seconds
constexpr std::int64_t kHour = 60;    // minutes
constexpr std::int64_t kDay = 24;     // hours
constexpr std::int64_t kYear = 365;   // days

// "5m30s", or "5m" if there is no rest.
std::string two_units(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::string human_duration(Duration duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const std::int64_t minutes = seconds / kMinute;
  const std::int64_t hours = minutes / kHour;
  const std::int64_t days = hours / kDay;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * kMinute) return fmt::format("{}s", seconds);
  if (minutes < 10) return two_units(minutes, 'm', seconds % kMinute, 's');
  if (minutes < 3 * kHour) return fmt::format("{}m", minutes);
  if (hours < 8) return two_units(hours, 'h', minutes % kHour, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return two_units(days, 'd', hours % kDay, 'h');
  if (days < 2 * kYear) return fmt::format("{}d", days);
  if (days < 8 * kYear) return two_units(days / kYear, 'y', days % kYear, 'd');
  return fmt::format("{}y", days / kYear);
}

}  // namespace muster::api
