#include "api/values/cron_times.h"

#include <algorithm>
#include <chrono>

namespace muster::api {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::chrono::years kHorizon{5};

bool names(std::uint64_t values, unsigned value) { return (values >> value & 1U) != 0; }

bool names_day(const CronSchedule& schedule, std::chrono::sys_days day,
               const std::chrono::year_month_day& date) {
  const bool by_date = names(schedule.days(), static_cast<unsigned>(date.day()));
  const bool by_weekday = names(schedule.weekdays(), std::chrono::weekday{day}.c_encoding());
  return schedule.either_day() ? by_date || by_weekday : by_date && by_weekday;
}

// The next local time that could be named, after one that is not; the same time if it is.
Time next_candidate(const CronSchedule& schedule, Time local) {
  const auto day = std::chrono::floor<days>(local);
  const std::chrono::year_month_day date{day};
  if (!names(schedule.months(), static_cast<unsigned>(date.month())))
    return std::chrono::sys_days{(date.year() / date.month() + std::chrono::months{1}) /
                                 std::chrono::day{1}};
  if (!names_day(schedule, day, date)) return day + days{1};
  const auto hour = std::chrono::floor<hours>(local - day);
  if (!names(schedule.hours(), static_cast<unsigned>(hour.count()))) return day + hour + hours{1};
  const auto minute = std::chrono::floor<minutes>(local - day - hour);
  if (!names(schedule.minutes(), static_cast<unsigned>(minute.count())))
    return day + hour + minute + minutes{1};
  return local;
}

}  // namespace

std::optional<Time> next_run(const CronSchedule& schedule, const TimeZone& zone, Time after) {
  if (schedule.every() > Duration{}) return std::chrono::floor<seconds>(after) + schedule.every();
  Time time = std::chrono::floor<minutes>(after) + minutes{1};
  const Time horizon = after + std::chrono::duration_cast<Duration>(kHorizon);
  // Each step goes to the next month, day, hour or minute, or to where the offset changes.
  while (time <= horizon) {
    const TimeZone::Span span = zone.at(time);
    const Time local = time + span.offset;
    const Time candidate = next_candidate(schedule, local);
    if (candidate == local) return time;
    time = candidate - span.offset;
    if (time > span.until) time = std::chrono::ceil<minutes>(span.until);
  }
  return std::nullopt;
}

std::optional<Time> latest_run(const CronSchedule& schedule, const TimeZone& zone, Time after,
                               Time until) {
  const std::optional<Time> first = next_run(schedule, zone, after);
  if (!first || *first > until) return std::nullopt;
  if (const Duration every = schedule.every(); every > Duration{})
    return *first + (until - *first) / every * every;
  // The next run after `low` is in time, the next after `high` is not. In the end they are a minute
  // apart, and a minute holds one run.
  Time low = after;
  Time high = until;
  while (high - low > minutes{1}) {
    const Time middle = low + (high - low) / 2;
    const std::optional<Time> next = next_run(schedule, zone, middle);
    (next && *next <= until ? low : high) = middle;
  }
  return next_run(schedule, zone, low);
}

std::size_t count_runs(const CronSchedule& schedule, const TimeZone& zone, Time after, Time until,
                       std::size_t most) {
  std::size_t count = 0;
  for (std::optional<Time> run = next_run(schedule, zone, after);
       count < most && run && *run <= until; run = next_run(schedule, zone, *run))
    ++count;
  return count;
}

}  // namespace muster::api
