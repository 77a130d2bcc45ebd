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
