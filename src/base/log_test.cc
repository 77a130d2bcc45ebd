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

TEST(Log, TheEdgesOfWhatControlsATerminal) {
  EXPECT_EQ(printable("\x1f \x7e\x7f"), "\\x1f \x7e\\x7f");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9f\xc2\xa0"), "\\u0080\\u009f\xc2\xa0");
  EXPECT_EQ(printable("\xc3\x80"), "\xc3\x80");
}

TEST(Log, NoMoreThanOneCharacterIsLeftOutWhereALineIsCut) {
  // Of four bytes, the first of which fits; and bytes that are no characters at all.
  const std::string almost(kLogLineMax - 3, 'x');
  EXPECT_EQ(printable(almost + "\xf0\x9f\x98\x80"), almost + " … (4 more bytes)");
  const std::string rubbish(kLogLineMax + 10, '\xbf');
  EXPECT_EQ(printable(rubbish), rubbish.substr(0, kLogLineMax - 4) + " … (14 more bytes)");
}

TEST(Log, WritesTheLevelAndDropsWhatIsBelowTheOneThatIsSet) {
  testing::internal::CaptureStderr();
  set_log_level(LogLevel::Warning);
  EXPECT_FALSE(log_enabled(LogLevel::Debug));
  EXPECT_FALSE(log_enabled(LogLevel::Info));
  EXPECT_TRUE(log_enabled(LogLevel::Warning));
  EXPECT_TRUE(log_enabled(LogLevel::Error));
  log(LogLevel::Info, "one");
  log(LogLevel::Warning, "two");
  log_line(LogLevel::Error, "a\xc2\x85z");
  set_log_level(LogLevel::Debug);
  log(LogLevel::Debug, "four");
  set_log_level(LogLevel::Info);
  EXPECT_FALSE(log_enabled(LogLevel::Debug));
  EXPECT_TRUE(log_enabled(LogLevel::Info));
  log(LogLevel::Info, "five");
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(written.find("one"), std::string::npos);
  for (const std::string_view line :
       {"Z warning two\n", "Z error a\\u0085z\n", "Z debug four\n", "Z info five\n"})
    EXPECT_NE(written.find(line), std::string::npos) << written;
}

}  // namespace
}  // namespace muster
