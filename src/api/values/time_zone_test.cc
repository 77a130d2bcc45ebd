#include "api/values/time_zone.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

Time at(std::string_view text) { return parse_time(text).value(); }

std::string shown(const char* zone, std::string_view moment) {
  const Result<TimeZone> found = read_system_time_zone(zone);
  return found ? format_local_time(at(moment), *found) : found.error().message;
}

TEST(TimeZone, ShowsWhatClocksShow) {
  struct Case {
    const char* zone;
    const char* moment;
    const char* want;
  };
  const Case cases[] = {
      {"UTC", "2026-07-01T12:00:00Z", "2026-07-01T12:00:00Z"},
      {"Europe/Berlin", "2026-01-15T12:00:00Z", "2026-01-15T13:00:00+01:00"},
      {"Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:59:59+01:00"},
      {"Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00"},
      {"Europe/Berlin", "2026-10-25T00:59:59Z", "2026-10-25T02:59:59+02:00"},
      {"Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00+01:00"},
      {"America/New_York", "2026-07-01T12:00:00Z", "2026-07-01T08:00:00-04:00"},
      {"Asia/Kolkata", "2026-07-01T12:00:00Z", "2026-07-01T17:30:00+05:30"},
      {"America/St_Johns", "2026-01-15T12:00:00Z", "2026-01-15T08:30:00-03:30"},
      {"Australia/Sydney", "2026-01-01T00:00:00Z", "2026-01-01T11:00:00+11:00"},
      {"America/Sao_Paulo", "2026-01-01T12:00:00Z", "2026-01-01T09:00:00-03:00"},
      // Long after the last change that is written down: by the rule.
      {"Europe/Berlin", "2061-07-01T12:00:00Z", "2061-07-01T14:00:00+02:00"},
      {"Europe/Berlin", "2061-12-31T23:30:00Z", "2062-01-01T00:30:00+01:00"},
      {"Europe/Dublin", "2061-07-01T12:00:00Z", "2061-07-01T13:00:00+01:00"},
      {"Australia/Sydney", "2061-01-01T00:00:00Z", "2061-01-01T11:00:00+11:00"},
      {"Etc/GMT+3", "2061-01-01T12:00:00Z", "2061-01-01T09:00:00-03:00"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(shown(each.zone, each.moment), each.want) << each.zone << " " << each.moment;
}

TEST(TimeZone, KnowsHowLongItsOffsetHolds) {
  const TimeZone berlin = *read_system_time_zone("Europe/Berlin");
  EXPECT_EQ(berlin.at(at("2026-01-01T00:00:00Z")).until, at("2026-03-29T01:00:00Z"));
  EXPECT_EQ(berlin.at(at("2026-03-29T01:00:00Z")).until, at("2026-10-25T01:00:00Z"));
  EXPECT_EQ(berlin.at(at("2060-06-01T00:00:00Z")).until, at("2060-10-31T01:00:00Z"));
  EXPECT_EQ(TimeZone().at(at("2026-01-01T00:00:00Z")).until, Time::max());
}

TEST(TimeZone, IsReadFromFilesOfTheDatabaseOnly) {
  EXPECT_EQ(shown("../../etc/passwd", "2026-01-01T00:00:00Z"),
            "unknown time zone ../../etc/passwd");
  for (const std::string& bytes :
       {std::string(), std::string("TZif"), std::string("TZif2") + std::string(39, '\xff'),
        std::string("TZif2") + std::string(39, '\0')})
    EXPECT_FALSE(TimeZone::parse(bytes)) << bytes.size();
}

}  // namespace
}  // namespace muster::api
