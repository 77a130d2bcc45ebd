#include "api/values/cron_schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace muster::api {
namespace {

struct Bounds {
  std::int64_t least;
  std::int64_t most;
  std::span<const std::string_view> names = {};  // of least, least + 1, …
};
constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};
constexpr Bounds kMinuteBounds{0, 59};
constexpr Bounds kHourBounds{0, 23};
constexpr Bounds kDayBounds{1, 31};
constexpr Bounds kMonthBounds{1, 12, kMonths};
constexpr Bounds kWeekdayBounds{0, 6, kWeekdays};

struct Field {
  std::uint64_t bits = 0;
  bool restricted = false;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  std::vector<std::string_view> out;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
    if (text.empty()) return out;
    out.push_back(text.substr(0, text.find_first_of(kWhiteSpace)));
    text.remove_prefix(out.back().size());
  }
}

Result<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(Reason::BadRequest,
                "failed to parse int from {}: strconv.Atoi: parsing \"{}\": invalid syntax", text,
                text);
  if (value < 0)
    return fail(Reason::BadRequest, "negative number ({}) not allowed: {}", value, text);
  return value;
}

Result<std::int64_t> parse_value(std::string_view text, const Bounds& bounds) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto named = std::ranges::find(bounds.names, lower);
  if (named != bounds.names.end()) return bounds.least + std::distance(bounds.names.begin(), named);
  return parse_number(text);
}

// One of the parts between commas: *, 5, 1-5, */15, 10/5, 1-30/2.
Result<Field> parse_range(std::string_view text, const Bounds& bounds) {
  const std::vector<std::string_view> steps = split(text, '/');
  const std::vector<std::string_view> ends = split(steps[0], '-');
  std::int64_t first = bounds.least;
  std::int64_t last = bounds.most;
  std::int64_t step = 1;
  const bool any = ends[0] == "*" || ends[0] == "?";
  if (steps.size() > 2) return fail(Reason::BadRequest, "too many slashes: {}", text);
  if (ends.size() > 2) return fail(Reason::BadRequest, "too many hyphens: {}", text);
  if (!any) {
    first = TRY(parse_value(ends[0], bounds));
    last = first;
    if (ends.size() == 2) last = TRY(parse_value(ends[1], bounds));
  }
  if (steps.size() == 2) {
    step = TRY(parse_number(steps[1]));
    if (!any && ends.size() == 1) last = bounds.most;  // 10/5 means 10-max/5
  }
  if (first < bounds.least)
    return fail(Reason::BadRequest, "beginning of range ({}) below minimum ({}): {}", first,
                bounds.least, text);
  if (last > bounds.most)
    return fail(Reason::BadRequest, "end of range ({}) above maximum ({}): {}", last, bounds.most,
                text);
  if (first > last)
    return fail(Reason::BadRequest, "beginning of range ({}) beyond end of range ({}): {}", first,
                last, text);
  if (step == 0)
    return fail(Reason::BadRequest, "step of range should be a positive number: {}", text);
  Field out{.bits = 0, .restricted = !any || step > 1};
  // A step past the last value takes none but the first, however long it is.
  step = std::min(step, bounds.most + 1);
  for (std::int64_t value = first; value <= last; value += step)
    out.bits |= std::uint64_t{1} << static_cast<unsigned>(value);
  return out;
}

Result<Field> parse_field(std::string_view text, const Bounds& bounds) {
  Field out{.bits = 0, .restricted = true};
  for (const std::string_view part : split(text, ',')) {
    if (part.empty()) continue;
    const Field range = TRY(parse_range(part, bounds));
    out.bits |= range.bits;
    out.restricted = out.restricted && range.restricted;
  }
  return out;
}

// 1h30m, 90s, 1.5h: Go's durations, in whole seconds.
Result<Duration> parse_every(std::string_view text) {
  constexpr double kSecondsMax = 9'223'372'036;  // 2^63 ns
  const auto invalid = [whole = text] {
    return fail(Reason::BadRequest,
                "failed to parse duration @every {}: time: invalid duration \"{}\"", whole, whole);
  };
  if (text.empty()) return invalid();
  double seconds = 0;
  while (!text.empty()) {
    double number = 0;
    if (std::string_view("0123456789.").find(text.front()) == std::string_view::npos)
      return invalid();
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc()) return invalid();
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::size_t unit = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view name = text.substr(0, unit);
    const double scale = name == "h"    ? 3600
                         : name == "m"  ? 60
                         : name == "s"  ? 1
                         : name == "ms" ? 1e-3
                         : name == "us" ? 1e-6
                         : name == "ns" ? 1e-9
                                        : 0;
    if (scale == 0) return invalid();
    seconds += number * scale;
    text.remove_prefix(unit);
  }
  if (seconds > kSecondsMax) return invalid();
  return std::chrono::seconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds)));
}

std::string_view meaning_of_descriptor(std::string_view text) {
  if (text == "@yearly" || text == "@annually") return "0 0 1 1 *";
  if (text == "@monthly") return "0 0 1 * *";
  if (text == "@weekly") return "0 0 * * 0";
  if (text == "@daily" || text == "@midnight") return "0 0 * * *";
  if (text == "@hourly") return "0 * * * *";
  return {};
}

}  // namespace

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
  CronSchedule out;
  if (constexpr std::string_view kEvery = "@every "; text.starts_with(kEvery)) {
    out.every_ = TRY(parse_every(text.substr(kEvery.size())));
    return out;
  }
  if (text.starts_with('@')) {
    const std::string_view meaning = meaning_of_descriptor(text);
    if (meaning.empty()) return fail(Reason::BadRequest, "unrecognized descriptor: {}", text);
    text = meaning;
  }
  const std::vector<std::string_view> fields = words(text);
  if (fields.size() != 5)
    return fail(Reason::BadRequest, "expected exactly 5 fields, found {}: [{}]", fields.size(),
                fmt::join(fields, " "));
  out.minutes_ = TRY(parse_field(fields[0], kMinuteBounds)).bits;
  out.hours_ = TRY(parse_field(fields[1], kHourBounds)).bits;
  const Field days = TRY(parse_field(fields[2], kDayBounds));
  out.months_ = TRY(parse_field(fields[3], kMonthBounds)).bits;
  const Field weekdays = TRY(parse_field(fields[4], kWeekdayBounds));
  out.days_ = days.bits;
  out.days_restricted_ = days.restricted;
  out.weekdays_ = weekdays.bits;
  out.weekdays_restricted_ = weekdays.restricted;
  return out;
}

}  // namespace muster::api
