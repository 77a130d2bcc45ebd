#include "api/values/human_duration.h"

#include <fmt/format.h>

namespace muster::api {
namespace {

// "5m30s", or "5m" if there is no rest.
std::string two_units(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::string human_duration(Duration duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * 60) return fmt::format("{}s", seconds);
  if (minutes < 10) return two_units(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return fmt::format("{}m", minutes);
  if (hours < 8) return two_units(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return two_units(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return fmt::format("{}d", days);
  if (days < 8 * 365) return two_units(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

}  // namespace muster::api
