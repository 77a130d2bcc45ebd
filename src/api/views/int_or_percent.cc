#include "api/views/int_or_percent.h"

#include <charconv>

#include "api/reading.h"

namespace muster::api {

std::int64_t IntOrPercent::of_rounded_up(std::int64_t whole) const {
  return percent ? (whole * value + 99) / 100 : value;
}

std::int64_t IntOrPercent::of_rounded_down(std::int64_t whole) const {
  return percent ? whole * value / 100 : value;
}

IntOrPercent read_int_or_percent(const Json& holder, std::string_view member,
                                 IntOrPercent otherwise) {
  const Json& amount = part_of(holder, member);
  if (const auto number = integer_of(amount)) return {.value = *number, .percent = false};
  const std::string_view text = text_of(amount);
  std::int32_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool whole =
      error == std::errc{} && std::string_view(end, text.data() + text.size()) == "%";
  return whole ? IntOrPercent{.value = percent, .percent = true} : otherwise;
}

}  // namespace muster::api
