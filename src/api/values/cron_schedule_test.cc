#include "api/values/cron_schedule.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(CronSchedule, FieldsAreSetsOfValues) {
  const auto schedule = CronSchedule::parse("*/15 9-17/4 1,15 JAN-mar 1");
  ASSERT_TRUE(schedule.has_value());
  EXPECT_EQ(schedule->minutes(), (1ULL << 0) | (1ULL << 15) | (1ULL << 30) | (1ULL << 45));
  EXPECT_EQ(schedule->hours(), (1ULL << 9) | (1ULL << 13) | (1ULL << 17));
  EXPECT_EQ(schedule->days(), (1ULL << 1) | (1ULL << 15));
  EXPECT_EQ(schedule->months(), (1ULL << 1) | (1ULL << 2) | (1ULL << 3));
  EXPECT_EQ(schedule->weekdays(), 1ULL << 1);
  EXPECT_TRUE(schedule->either_day());
}

TEST(CronSchedule, AnyWhiteSpaceIsBetweenFields) {
  const auto schedule = CronSchedule::parse(" 30\t9  * *\n1 ");
  ASSERT_TRUE(schedule.has_value()) << schedule.error().message;
  EXPECT_EQ(schedule->minutes(), 1ULL << 30);
  EXPECT_EQ(schedule->hours(), 1ULL << 9);
  EXPECT_EQ(schedule->weekdays(), 1ULL << 1);
}

TEST(CronSchedule, OneStarMeansThatBothDaysMustMatch) {
  EXPECT_FALSE(CronSchedule::parse("0 0 * * 1")->either_day());
  EXPECT_FALSE(CronSchedule::parse("0 0 1 * ?")->either_day());
  EXPECT_TRUE(CronSchedule::parse("0 0 */2 * 1")->either_day());
}

TEST(CronSchedule, AStarInAListLeavesTheDayFree) {
  EXPECT_FALSE(CronSchedule::parse("0 0 1,* * 1")->either_day());
  EXPECT_FALSE(CronSchedule::parse("0 0 */1 * 1")->either_day());
  EXPECT_FALSE(CronSchedule::parse("0 0 1 * */1")->either_day());
  EXPECT_TRUE(CronSchedule::parse("0 0 1-31 * 0-6")->either_day()) << "all, but written out";
}

TEST(CronSchedule, EachFieldEndsWhereClocksAndCalendarsDo) {
  const auto all = CronSchedule::parse("* * * * *");
  const auto bits = [](unsigned least, unsigned most) {
    return ((1ULL << (most + 1)) - 1) & ~((1ULL << least) - 1);
  };
  EXPECT_EQ(all->minutes(), bits(0, 59));
  EXPECT_EQ(all->hours(), bits(0, 23));
  EXPECT_EQ(all->days(), bits(1, 31));
  EXPECT_EQ(all->months(), bits(1, 12));
  EXPECT_EQ(all->weekdays(), bits(0, 6));
  EXPECT_EQ(CronSchedule::parse("0-59 0-23 1-31 1-12 0-6")->minutes(), all->minutes());
  EXPECT_EQ(CronSchedule::parse("1,,2, * * * *")->minutes(), (1ULL << 1) | (1ULL << 2));
}

TEST(CronSchedule, MonthsAndWeekdaysHaveNames) {
  const auto months =
      CronSchedule::parse("0 0 1 jan,FEB,mar,apr,may,jun,jul,aug,sep,oct,nov,dec *");
  ASSERT_TRUE(months.has_value());
  EXPECT_EQ(months->months(), CronSchedule::parse("* * * * *")->months());
  EXPECT_EQ(CronSchedule::parse("0 0 * dec *")->months(), 1ULL << 12);
  EXPECT_EQ(CronSchedule::parse("0 0 * * sun")->weekdays(), 1ULL << 0);
  EXPECT_EQ(CronSchedule::parse("0 0 * * MON-Fri")->weekdays(), 0b0111110ULL);
  EXPECT_EQ(CronSchedule::parse("0 0 * * sat")->weekdays(), 1ULL << 6);
  EXPECT_EQ(CronSchedule::parse("0 0 * * tue,wed,thu")->weekdays(), 0b0011100ULL);
}

TEST(CronSchedule, ANumberWithAStepRunsToTheEnd) {
  EXPECT_EQ(CronSchedule::parse("50/5 * * * *")->minutes(), (1ULL << 50) | (1ULL << 55));
}

TEST(CronSchedule, ALongStepTakesTheFirstValueOnly) {
  EXPECT_EQ(CronSchedule::parse("5/9223372036854775807 * * * *")->minutes(), 1ULL << 5);
  EXPECT_EQ(CronSchedule::parse("* * 1/31 * *")->days(), 1ULL << 1);
}

TEST(CronSchedule, DescriptorsStandForFields) {
  struct Case {
    std::string_view descriptor;
    std::string_view fields;
  };
  const Case cases[] = {
      {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
      {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
      {"@hourly", "0 * * * *"},
  };
  for (const Case& c : cases) {
    const auto got = CronSchedule::parse(c.descriptor);
    const auto want = CronSchedule::parse(c.fields);
    ASSERT_TRUE(got.has_value()) << c.descriptor;
    EXPECT_EQ(got->minutes(), want->minutes()) << c.descriptor;
    EXPECT_EQ(got->hours(), want->hours()) << c.descriptor;
    EXPECT_EQ(got->days(), want->days()) << c.descriptor;
    EXPECT_EQ(got->months(), want->months()) << c.descriptor;
    EXPECT_EQ(got->weekdays(), want->weekdays()) << c.descriptor;
  }
  EXPECT_EQ(CronSchedule::parse("@every 1h30m")->every(), std::chrono::minutes(90));
  EXPECT_EQ(CronSchedule::parse("@every 10ms")->every(), std::chrono::seconds(1));
  EXPECT_EQ(CronSchedule::parse("@every 3000000us")->every(), std::chrono::seconds(3));
  EXPECT_EQ(CronSchedule::parse("@every 100ns")->every(), std::chrono::seconds(1));
  EXPECT_EQ(CronSchedule::parse("@every 90s")->every(), std::chrono::seconds(90));
  EXPECT_EQ(CronSchedule::parse("@every 1.5h")->every(), std::chrono::minutes(90));
  EXPECT_EQ(CronSchedule::parse("@every 2500ms")->every(), std::chrono::seconds(2));
  EXPECT_EQ(CronSchedule::parse("@every 2562047h")->every(), std::chrono::hours(2562047));
}

TEST(CronSchedule, BadOnesAreRefusedInUpstreamsWords) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  const Case cases[] = {
      {"* * *", "expected exactly 5 fields, found 3: [* * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * * * 7", "end of range (7) above maximum (6): 7"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"5-2 * * * *", "beginning of range (5) beyond end of range (2): 5-2"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"a * * * *", "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"1/2/3 * * * *", "too many slashes: 1/2/3"},
      {"*/-5 * * * *", "negative number (-5) not allowed: -5"},
      {"1-x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"},
      {"1x * * * *", "failed to parse int from 1x: strconv.Atoi: parsing \"1x\": invalid syntax"},
      {"*/x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"},
      {"jan * * * *",
       "failed to parse int from jan: strconv.Atoi: parsing \"jan\": invalid syntax"},
      {"* 24 * * *", "end of range (24) above maximum (23): 24"},
      {"* * 32 * *", "end of range (32) above maximum (31): 32"},
      {"* * * 0 *", "beginning of range (0) below minimum (1): 0"},
      {"* * * 13 *", "end of range (13) above maximum (12): 13"},
      {"* * * * 1 2020", "expected exactly 5 fields, found 6: [* * * * 1 2020]"},
      {"@every ", "failed to parse duration @every : time: invalid duration \"\""},
      {"@every 5", "failed to parse duration @every 5: time: invalid duration \"5\""},
      {"@every 1h5", "failed to parse duration @every 1h5: time: invalid duration \"1h5\""},
      {"@every 5d", "failed to parse duration @every 5d: time: invalid duration \"5d\""},
      {"@every 1h-5m", "failed to parse duration @every 1h-5m: time: invalid duration \"1h-5m\""},
      {"@never", "unrecognized descriptor: @never"},
      {"@every soon", "failed to parse duration @every soon: time: invalid duration \"soon\""},
      {"@every infh", "failed to parse duration @every infh: time: invalid duration \"infh\""},
      {"@every 1e3s", "failed to parse duration @every 1e3s: time: invalid duration \"1e3s\""},
      {"@every 2562048h",
       "failed to parse duration @every 2562048h: time: invalid duration \"2562048h\""},
  };
  for (const Case& c : cases) {
    const auto parsed = CronSchedule::parse(c.text);
    ASSERT_FALSE(parsed.has_value()) << c.text;
    EXPECT_EQ(parsed.error().message, c.want);
  }
}

}  // namespace
}  // namespace muster::api
