#include "api/values/cron_times.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace muster::api {
namespace {

Time at(std::string_view text) { return parse_time(text).value(); }
CronSchedule schedule(std::string_view text) { return CronSchedule::parse(text).value(); }

std::vector<std::string> runs(std::string_view text, const char* zone_name, std::string_view from,
                              int count) {
  const TimeZone zone = *read_system_time_zone(zone_name);
  std::vector<std::string> out;
  std::optional<Time> run = at(from);
  while (count-- > 0 && (run = next_run(schedule(text), zone, *run)))
    out.push_back(format_local_time(*run, zone));
  return out;
}
using Runs = std::vector<std::string>;

TEST(CronTimes, FollowTheFields) {
  EXPECT_EQ(runs("*/20 * * * *", "UTC", "2026-01-01T00:00:30Z", 3),
            (Runs{"2026-01-01T00:20:00Z", "2026-01-01T00:40:00Z", "2026-01-01T01:00:00Z"}));
  EXPECT_EQ(runs("0 9 * * 1-5", "UTC", "2026-01-02T10:00:00Z", 2),
            (Runs{"2026-01-05T09:00:00Z", "2026-01-06T09:00:00Z"}));
  EXPECT_EQ(runs("30 2 29 2 *", "UTC", "2026-01-01T00:00:00Z", 1), (Runs{"2028-02-29T02:30:00Z"}));
  EXPECT_EQ(runs("0 0 13 * 5", "UTC", "2026-01-01T00:00:00Z", 3),
            (Runs{"2026-01-02T00:00:00Z", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"}))
      << "either day will do";
  EXPECT_EQ(runs("@monthly", "UTC", "2026-12-01T00:00:00Z", 2),
            (Runs{"2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"}));
  EXPECT_EQ(runs("@every 1h30m", "UTC", "2026-01-01T00:00:00Z", 2),
            (Runs{"2026-01-01T01:30:00Z", "2026-01-01T03:00:00Z"}));
  EXPECT_EQ(runs("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", 1), Runs{}) << "never";
}

TEST(CronTimes, FollowTheClocksOfTheZone) {
  EXPECT_EQ(runs("0 9 * * *", "America/New_York", "2026-03-07T15:00:00Z", 2),
            (Runs{"2026-03-08T09:00:00-04:00", "2026-03-09T09:00:00-04:00"}));
  EXPECT_EQ(runs("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
            (Runs{"2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00"}))
      << "half past two does not come on the day clocks go forward";
  EXPECT_EQ(
      runs("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 3),
      (Runs{"2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"}))
      << "and comes twice when they go back";
  EXPECT_EQ(runs("0 0 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
            (Runs{"2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"}));
  EXPECT_EQ(runs("0 0 1 4 *", "Europe/Berlin", "2026-03-01T00:00:00Z", 1),
            (Runs{"2026-04-01T00:00:00+02:00"}))
      << "a long way that leads over a change of the clock";
  EXPECT_EQ(runs("0 0 1 11 *", "Europe/Berlin", "2026-10-01T00:00:00Z", 1),
            (Runs{"2026-11-01T00:00:00+01:00"}));
}

// Looks at every minute.
std::vector<Time> naive_runs(const CronSchedule& schedule, const TimeZone& zone, Time after,
                             Time until) {
  std::vector<Time> out;
  for (Time time = std::chrono::floor<std::chrono::minutes>(after) + std::chrono::minutes{1};
       time <= until; time += std::chrono::minutes{1}) {
    const Time local = time + zone.at(time).offset;
    const auto day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::minutes>(local - day)};
    const auto has = [](std::uint64_t values, auto value) {
      return (values >> static_cast<unsigned>(value) & 1U) != 0;
    };
    const bool by_date = has(schedule.days(), static_cast<unsigned>(date.day()));
    const bool by_weekday = has(schedule.weekdays(), std::chrono::weekday{day}.c_encoding());
    if (has(schedule.minutes(), clock.minutes().count()) &&
        has(schedule.hours(), clock.hours().count()) &&
        has(schedule.months(), static_cast<unsigned>(date.month())) &&
        (schedule.either_day() ? by_date || by_weekday : by_date && by_weekday))
      out.push_back(time);
  }
  return out;
}

TEST(CronTimes, AreThoseOfALookAtEveryMinute) {
  std::mt19937 random(7);
  const auto draw = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  const char* const minutes[] = {"*", "*/7", "0", "30,45", "59"};
  const char* const hours[] = {"*", "2", "*/5", "0-3", "23"};
  const char* const dates[] = {"*", "1", "29,31", "*/10"};
  const char* const months[] = {"*", "3", "10,11"};
  const char* const weekdays[] = {"*", "0", "1-5"};
  const char* const zones[] = {"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/New_York"};
  for (int round = 0; round < 40; ++round) {
    const std::string text = std::string(minutes[draw(4)]) + " " + hours[draw(4)] + " " +
                             dates[draw(3)] + " " + months[draw(2)] + " " + weekdays[draw(2)];
    const TimeZone zone = *read_system_time_zone(zones[draw(3)]);
    const Time from = at("2026-01-01T00:00:00Z") + std::chrono::minutes{draw(500'000)};
    const Time until = from + std::chrono::days{20};
    const std::vector<Time> want = naive_runs(schedule(text), zone, from, until);
    std::vector<Time> got;
    for (auto run = next_run(schedule(text), zone, from); run && *run <= until;
         run = next_run(schedule(text), zone, *run))
      got.push_back(*run);
    ASSERT_EQ(got, want) << text;
    EXPECT_EQ(latest_run(schedule(text), zone, from, until),
              want.empty() ? std::nullopt : std::optional(want.back()))
        << text;
    EXPECT_EQ(count_runs(schedule(text), zone, from, until, 5),
              std::min<std::size_t>(5, want.size()));
  }
}

TEST(CronTimes, LookFiveYearsAhead) {
  EXPECT_EQ(runs("0 0 29 2 *", "UTC", "2096-02-29T00:00:00Z", 1), Runs{}) << "2100 has none";
  EXPECT_EQ(runs("0 0 29 2 *", "UTC", "2100-01-01T00:00:00Z", 1), (Runs{"2104-02-29T00:00:00Z"}));
  EXPECT_EQ(runs("0 0 29 2 *", "UTC", "2099-03-03T00:00:00Z", 1), (Runs{"2104-02-29T00:00:00Z"}));
  EXPECT_EQ(runs("0 0 29 2 *", "UTC", "2099-02-26T00:00:00Z", 1), Runs{});
}

TEST(CronTimes, RunAfterTheMomentItself) {
  EXPECT_EQ(runs("0 9 * * *", "UTC", "2026-01-01T09:00:00Z", 1), (Runs{"2026-01-02T09:00:00Z"}));
  EXPECT_EQ(runs("0 9 * * *", "UTC", "2026-01-01T08:59:59Z", 1), (Runs{"2026-01-01T09:00:00Z"}));
  const Time odd = at("2026-01-01T00:00:00Z") + std::chrono::milliseconds{700};
  EXPECT_EQ(next_run(schedule("@every 10s"), TimeZone(), odd), at("2026-01-01T00:00:10Z"))
      << "fractions of a second do not count";
}

TEST(CronTimes, AreCountedUpToTheEndOfTheirTime) {
  const TimeZone utc;
  const auto count = [&](std::string_view until, std::size_t most) {
    return count_runs(schedule("0 * * * *"), utc, at("2026-01-01T00:00:00Z"), at(until), most);
  };
  EXPECT_EQ(count("2026-01-01T00:59:59Z", 10), 0U);
  EXPECT_EQ(count("2026-01-01T01:00:00Z", 10), 1U) << "the last moment counts";
  EXPECT_EQ(count("2026-01-01T05:30:00Z", 10), 5U);
  EXPECT_EQ(count("2026-01-01T05:30:00Z", 3), 3U);
  EXPECT_EQ(count("2026-01-01T05:30:00Z", 0), 0U);
}

TEST(CronTimes, FindTheLatestOfManyAtOnce) {
  const TimeZone utc;
  EXPECT_EQ(latest_run(schedule("* * * * *"), utc, at("1970-01-01T00:00:00Z"),
                       at("2026-01-01T00:00:30Z")),
            at("2026-01-01T00:00:00Z"));
  EXPECT_EQ(latest_run(schedule("@every 7s"), utc, at("1970-01-01T00:00:00Z"),
                       at("1970-01-01T01:00:00Z")),
            at("1970-01-01T00:59:58Z"));
  EXPECT_EQ(latest_run(schedule("0 0 1 1 *"), utc, at("2025-01-01T00:00:00Z"),
                       at("2025-12-31T23:59:59Z")),
            std::nullopt);
  EXPECT_EQ(latest_run(schedule("0 0 1 1 *"), utc, at("2025-01-01T00:00:00Z"),
                       at("2026-01-01T00:00:00Z")),
            at("2026-01-01T00:00:00Z"));
  EXPECT_EQ(latest_run(schedule("@every 7s"), utc, at("1970-01-01T00:00:00Z"),
                       at("1970-01-01T00:00:06Z")),
            std::nullopt);
}

}  // namespace
}  // namespace muster::api
