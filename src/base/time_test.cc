#include "base/time.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Time, PrintsAsKubernetesDoes) {
  const Time time = parse_time("2026-02-28T23:59:58.123456Z").value();
  EXPECT_EQ(format_time(time), "2026-02-28T23:59:58Z");
  EXPECT_EQ(format_micro_time(time), "2026-02-28T23:59:58.123456Z");
}

TEST(Time, ReadsFractionsAndOffsets) {
  EXPECT_EQ(parse_time("2026-01-01T01:30:00+01:30"), parse_time("2026-01-01T00:00:00Z"));
  EXPECT_EQ(format_micro_time(parse_time("2026-01-01T00:00:00.5Z").value()),
            "2026-01-01T00:00:00.500000Z");
  EXPECT_EQ(format_micro_time(parse_time("1969-12-31T23:59:59.999999999Z").value()),
            "1969-12-31T23:59:59.999999Z");
}

TEST(Time, RefusesWhatIsNoRfc3339Text) {
  for (const char* text : {"", "now", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
                           "2026-01-01 00:00:00Z", "2026-01-01T00:00:00", "2026-01-01T24:00:00Z",
                           "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "-026-01-01T00:00:00Z",
                           "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01"})
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
}

TEST(Time, IsReadUpToTheEdgesOfEveryField) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& test : {Case{"2026-01-01t09:08:07z", "2026-01-01T09:08:07.000000Z"},
                           {"2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000000Z"},
                           {"2026-12-31T00:00:00Z", "2026-12-31T00:00:00.000000Z"},
                           {"2026-01-02T00:00:00+23:59", "2026-01-01T00:01:00.000000Z"},
                           {"2026-01-01T00:00:00-01:30", "2026-01-01T01:30:00.000000Z"},
                           {"2026-01-01T00:00:00.090000Z", "2026-01-01T00:00:00.090000Z"},
                           {"2026-01-01T00:00:00.1234569+00:00", "2026-01-01T00:00:00.123456Z"},
                           {"0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000000Z"},
                           {"9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z"}}) {
    const std::optional<Time> read = parse_time(test.text);
    ASSERT_TRUE(read) << test.text;
    EXPECT_EQ(format_micro_time(*read), test.want) << test.text;
  }
}

TEST(Time, IsRefusedBeyondTheEdgesOfEveryField) {
  for (const char* text : {"2026-00-01T00:00:00Z",
                           "2026-01-00T00:00:00Z",
                           "2025-02-29T00:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:60Z",
                           "2026-01-01T00:00:00+24:00",
                           "2026-01-01T00:00:00+00:60",
                           "2026-01-01T00:00:00+0100",
                           "2026-01-01T00:00:00+1:00",
                           "2026-01-01T00:00:00*01:00",
                           "2026-01-01T00:00:00+01:0",
                           "2026/01-01T00:00:00Z",
                           "2026-01/01T00:00:00Z",
                           "2026-01-01T00.00:00Z",
                           "2026-01-01T00:00.00Z",
                           "2026-01-01T00:00:00,5Z",
                           "2026-01-01T00:00:0:Z",
                           "2026-01-01T0/:00:00Z",
                           "2026-01-01",
                           "2026-01-01T00:00:00+01:00 ",
                           "-01-01T00:00:00Z",
                           "2026--01T00:00:00Z",
                           "202601-01T00:00:00Z",
                           "2026-0101T00:00:00Z",
                           "2026-01-0100:00:00Z",
                           "2026-01-01T:00:00Z",
                           "2026-01-01T00::00Z",
                           "2026-01-01T00:00:Z",
                           "2026-01-01T0000:00Z",
                           "2026-01-01T00:0000Z",
                           "2026-01-01T00:00:00+:00",
                           "2026-01-01T00:00:00+01:",
                           "2026-01-01T00:00:00.5"})
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
}

TEST(Time, OfYearsThatHaveMoreThanFourDigitsIsWrittenAllTheSame) {
  const Time last = parse_time("9999-12-31T23:59:59Z").value();
  EXPECT_EQ(format_time(last + std::chrono::seconds{1}), "10000-01-01T00:00:00Z");
  const Time first = parse_time("0000-01-01T00:00:00Z").value();
  EXPECT_EQ(format_time(first - std::chrono::seconds{1}), "-001-12-31T23:59:59Z");
}

}  // namespace
}  // namespace muster
