#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace muster {
namespace {

TEST(Log, AnOrdinaryLineStaysAsItIs) {
  for (const std::string line : {"", "serving on [::1]:6443", "größer als “nötig” \\n"})
    EXPECT_EQ(printable(line), line);
}

// A user who names an object must not be able to write lines of our log, nor commands for the
// terminal it is read in.
TEST(Log, WhatIsQuotedCannotEndTheLine) {
  EXPECT_EQ(printable("pod a\n2026-01-01T00:00:00Z info all is well\r\n"),
            "pod a\\n2026-01-01T00:00:00Z info all is well\\x0d\\n");
  EXPECT_EQ(printable("\x1b[2J\t\x7f"), "\\x1b[2J\\x09\\x7f");
  EXPECT_EQ(printable("a\xc2\x85z\xc2\x9b"), "a\\u0085z\\u009b");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2"), "\xc2");
}

TEST(Log, ALineHasABoundAndSaysWhatIsCut) {
  const std::string full(kLogLineMax, 'x');
  EXPECT_EQ(printable(full), full);
  EXPECT_EQ(printable(full + "yz"), full + " … (2 more bytes)");
  EXPECT_EQ(printable(std::string(200'000, '\n')).size(), 2 * kLogLineMax + 24);
  // A character of three bytes that would be cut is left out.
  const std::string almost(kLogLineMax - 1, 'x');
  EXPECT_EQ(printable(almost + "…"), almost + " … (3 more bytes)");
}

TEST(Log, ALineIsWrittenAsItIsPrintable) {
  testing::internal::CaptureStderr();
  log(LogLevel::Error, "pod {}", "a\nb");
  log_line(LogLevel::Error, std::string(200'000, 'x'));
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(written, '\n'), 2);
  EXPECT_NE(written.find("pod a\\nb\n"), std::string::npos);
  EXPECT_LT(written.size(), 2 * kLogLineMax);
}

}  // namespace
}  // namespace muster
