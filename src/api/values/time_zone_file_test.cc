#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "api/values/time_zone.h"

// Files of the time zone database, made for the purpose.
namespace muster::api {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::string big_endian(std::int64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i)
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xffU));
  return out;
}

struct File {
  std::vector<std::int64_t> offsets = {0};                 // of each type
  std::vector<std::pair<std::int64_t, int>> changes = {};  // when, to which type
  std::string rule = {};
  // Of what readers skip, in the new block; the old one has more of all.
  std::int64_t letters = 4, leaps = 2, standard_flags = 1, utc_flags = 1;

  std::string header(std::int64_t more, char version = '2') const {
    std::string out = std::string("TZif") + version + std::string(15, '\0');
    for (const std::int64_t count :
         {utc_flags, standard_flags, leaps, static_cast<std::int64_t>(changes.size()),
          static_cast<std::int64_t>(offsets.size()), letters})
      out += big_endian(count + more, 4);
    return out;
  }
  std::string block(int time_bytes, std::int64_t more) const {
    std::string out;
    for (const auto& [when, type] : changes) out += big_endian(when, time_bytes);
    out += std::string(static_cast<std::size_t>(more * time_bytes), 'x');
    for (const auto& [when, type] : changes) out += big_endian(type, 1);
    out += std::string(static_cast<std::size_t>(more), 'x');
    for (const std::int64_t offset : offsets) out += big_endian(offset, 4) + "ab";
    out += std::string(static_cast<std::size_t>(more * 6), 'x');
    return out +
           std::string(static_cast<std::size_t>(letters + more + (leaps + more) * (time_bytes + 4) +
                                                standard_flags + more + utc_flags + more),
                       'y');
  }
  std::string without_rule() const { return header(3) + block(4, 3) + header(0) + block(8, 0); }
  std::string bytes() const { return without_rule() + "\n" + rule + "\n"; }
};

Time at(std::string_view text) { return parse_time(text).value(); }

TimeZone zone_of(const File& file) {
  Result<TimeZone> zone = TimeZone::parse(file.bytes());
  EXPECT_TRUE(zone);
  return zone ? *zone : TimeZone();
}

TEST(TimeZoneFile, HoldsTheChangesOfTheClock) {
  const TimeZone zone =
      zone_of({.offsets = {60, 3600, -1800}, .changes = {{1000, 1}, {2000, 2}, {3000, 1}}});
  const auto moment = [](std::int64_t second) { return Time{seconds{second}}; };
  EXPECT_EQ(zone.at(moment(-5)).offset, seconds{60}) << "before the first change, the first type";
  EXPECT_EQ(zone.at(moment(999)).until, moment(1000));
  EXPECT_EQ(zone.at(moment(1000)).offset, seconds{3600});
  EXPECT_EQ(zone.at(moment(1000)).until, moment(2000));
  EXPECT_EQ(zone.at(moment(2500)).offset, seconds{-1800});
  EXPECT_EQ(zone.at(moment(9999)).offset, seconds{3600}) << "without a rule, the last holds";
  EXPECT_EQ(zone.at(moment(9999)).until, Time::max());
}

TEST(TimeZoneFile, AChangeBeforeAllTimesHoldsFromTheBeginning) {
  const TimeZone zone =
      zone_of({.offsets = {0, 3600}, .changes = {{std::numeric_limits<std::int64_t>::min(), 1}}});
  EXPECT_EQ(zone.at(at("0001-01-01T00:00:00Z")).offset, hours{1});
}

TEST(TimeZoneFile, ARuleHoldsAfterTheLastChange) {
  struct Case {
    std::string rule;
    std::string_view moment;
    seconds want;
  };
  constexpr std::string_view kWinter = "2026-01-15T00:00:00Z";
  constexpr std::string_view kSummer = "2026-07-15T00:00:00Z";
  const Case cases[] = {
      {"CET-1CEST,M3.5.0,M10.5.0/3", kWinter, hours{1}},
      {"CET-1CEST,M3.5.0,M10.5.0/3", kSummer, hours{2}},
      {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", hours{1}},
      {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", hours{2}},
      {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", hours{2}},
      {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", hours{1}},
      {"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", hours{-5}},
      {"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", hours{-4}},
      {"EST5EDT,M3.2.0,M11.1.0", "2026-11-01T05:59:59Z", hours{-4}},
      {"EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", hours{-5}},
      {"AEST-10AEDT,M10.1.0,M4.1.0/3", kWinter, hours{11}},
      {"AEST-10AEDT,M10.1.0,M4.1.0/3", kSummer, hours{10}},
      {"CET-1CEST-3,M3.5.0,M10.5.0", kSummer, hours{3}},
      {"IST-1GMT0,M10.5.0,M3.5.0/1", kWinter, hours{0}},
      {"IST-1GMT0,M10.5.0,M3.5.0/1", kSummer, hours{1}},
      {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", hours{-2}},
      {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", hours{-1}},
      {"<+0330>-3:30", kWinter, hours{3} + minutes{30}},
      {"<-03>+3", kWinter, hours{-3}},
      {"AbZ-1:30:15", kWinter, hours{1} + minutes{30} + seconds{15}},
      {"EST5EDT,M1.1.6/0,M12.4.6/0", "2026-01-03T04:59:59Z", hours{-5}},
      {"EST5EDT,M1.1.6/0,M12.4.6/0", "2026-01-03T05:00:00Z", hours{-4}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(zone_of({.offsets = {77}, .rule = c.rule}).at(at(c.moment)).offset, c.want)
        << c.rule << " " << c.moment;
}

TEST(TimeZoneFile, AnUnreadableRuleLeavesTheZoneWithoutSummer) {
  for (const std::string rest :
       {"", "CEST", "CEST,J60,J300", "CEST,M3.5.0", "CEST,M13.5.0,M10.5.0", "CEST,M0.5.0,M10.5.0",
        "CEST,M3.6.0,M10.5.0", "CEST,M3.0.0,M10.5.0", "CEST,M3.5.7,M10.5.0", "CEST,M3.5,M10.5.0",
        "CEST,M3,M10.5.0", "CEST,M,M10.5.0", "CEST,M3.5.0;M10.5.0", "CEST+,M3.5.0,M10.5.0",
        "<+02,M3.5.0,M10.5.0", ",M3.5.0,M10.5.0"}) {
    const TimeZone zone = zone_of({.offsets = {77}, .rule = "CET-1" + rest});
    EXPECT_EQ(zone.at(at("2026-07-15T00:00:00Z")).offset, hours{1}) << rest;
    EXPECT_EQ(zone.at(at("2026-07-15T00:00:00Z")).until, Time::max()) << rest;
  }
  for (const char* rule : {"", "-1", "CET", "<CET-1", "CET:1"})
    EXPECT_EQ(zone_of({.offsets = {77}, .rule = rule}).at(Time{}).offset, seconds{77}) << rule;
}

TEST(TimeZoneFile, IsRefusedIfItIsNotWhole) {
  const File file{.offsets = {0, 3600}, .changes = {{1000, 1}}};
  const std::string whole = file.without_rule();
  EXPECT_TRUE(TimeZone::parse(whole)) << "the rule may be missing";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(TimeZone::parse(whole.substr(0, size))) << size;
  EXPECT_FALSE(TimeZone::parse(File{.offsets = {0}, .changes = {{1000, 1}}}.bytes()))
      << "there is no second type";
  std::string old = whole;
  old[4] = '1';
  EXPECT_FALSE(TimeZone::parse(old));
  old[4] = '3';
  EXPECT_TRUE(TimeZone::parse(old));
  const auto with_types = [](std::size_t types) {
    return TimeZone::parse(File{.offsets = std::vector<std::int64_t>(types, 0)}.header(0) +
                           File{.offsets = std::vector<std::int64_t>(types, 0)}.block(4, 0) +
                           File{.offsets = std::vector<std::int64_t>(types, 0)}.header(0) +
                           File{.offsets = std::vector<std::int64_t>(types, 0)}.block(8, 0));
  };
  EXPECT_FALSE(with_types(0));
  EXPECT_TRUE(with_types(256));
  EXPECT_FALSE(with_types(257));
  const auto with_changes = [](std::size_t changes) {
    const File many{.offsets = {0}, .changes = {changes, {1000, 0}}};
    return TimeZone::parse(many.header(0) + many.block(4, 0) + many.header(0) + many.block(8, 0));
  };
  EXPECT_TRUE(with_changes(10'000));
  EXPECT_FALSE(with_changes(10'001));
}

}  // namespace
}  // namespace muster::api
