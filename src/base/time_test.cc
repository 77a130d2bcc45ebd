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

}  // namespace
}  // namespace muster
