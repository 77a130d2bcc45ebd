#include "api/values/go_duration.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(GoDuration, ReadsWhatGoReads) {
  EXPECT_EQ(parse_go_duration("0"), Duration::zero());
  EXPECT_EQ(parse_go_duration("0s"), Duration::zero());
  EXPECT_EQ(parse_go_duration("10m"), minutes{10});
  EXPECT_EQ(parse_go_duration("1h30m"), hours{1} + minutes{30});
  EXPECT_EQ(parse_go_duration("1.5h"), minutes{90});
  EXPECT_EQ(parse_go_duration(".5s"), milliseconds{500});
  EXPECT_EQ(parse_go_duration("300ms"), milliseconds{300});
  EXPECT_EQ(parse_go_duration("7us"), microseconds{7});
  EXPECT_EQ(parse_go_duration("7\u00b5s"), microseconds{7});
  EXPECT_EQ(parse_go_duration("1m1m"), minutes{2});
  EXPECT_EQ(parse_go_duration("7\u03bcs"), microseconds{7}) << "the Greek letter, too";
  EXPECT_EQ(parse_go_duration("7000ns"), microseconds{7});
  EXPECT_EQ(parse_go_duration("999ns"), Duration::zero());
  EXPECT_EQ(parse_go_duration("2s"), seconds{2});
  EXPECT_EQ(parse_go_duration("9s"), seconds{9});
  EXPECT_EQ(parse_go_duration("2555555h"), hours{2555555});
}

TEST(GoDuration, PrintsAsGoDoes) {
  EXPECT_EQ(print_go_duration(Duration::zero()), "0s");
  EXPECT_EQ(print_go_duration(seconds{10}), "10s");
  EXPECT_EQ(print_go_duration(seconds{90}), "1m30s");
  EXPECT_EQ(print_go_duration(minutes{15}), "15m0s");
  EXPECT_EQ(print_go_duration(hours{2}), "2h0m0s");
  EXPECT_EQ(print_go_duration(hours{1} + milliseconds{20}), "1h0m0.02s");
  EXPECT_EQ(print_go_duration(milliseconds{1500}), "1.5s");
  EXPECT_EQ(print_go_duration(milliseconds{300}), "300ms");
  EXPECT_EQ(print_go_duration(microseconds{1050}), "1.05ms");
  EXPECT_EQ(print_go_duration(microseconds{999}), "999\u00b5s");
  EXPECT_EQ(print_go_duration(microseconds{1000}), "1ms");
  EXPECT_EQ(print_go_duration(microseconds{999'999}), "999.999ms");
  EXPECT_EQ(print_go_duration(seconds{1}), "1s");
  EXPECT_EQ(print_go_duration(seconds{59}), "59s");
  EXPECT_EQ(print_go_duration(minutes{1}), "1m0s");
  EXPECT_EQ(print_go_duration(minutes{59} + seconds{59}), "59m59s");
  EXPECT_EQ(print_go_duration(hours{1}), "1h0m0s");
  EXPECT_EQ(print_go_duration(hours{25} + minutes{61}), "26h1m0s");
  EXPECT_EQ(print_go_duration(seconds{1} + microseconds{1}), "1.000001s");
  EXPECT_EQ(print_go_duration(microseconds{7}), "7\u00b5s");
}

TEST(GoDuration, RefusesTheRest) {
  for (const char* text :
       {"", "10", "m", "10x", "-1s", "1h-1m", "1e3s", "inf", "nan", ".", ".s", " 1s", "1s ", "1 s",
        "400000h400000h400000h400000h400000h400000h400000h"})
    EXPECT_EQ(parse_go_duration(text), std::nullopt) << text;
  EXPECT_NE(parse_go_duration("2000000h"), std::nullopt);
  EXPECT_EQ(parse_go_duration("99999999999h"), std::nullopt);
  EXPECT_EQ(parse_go_duration("1e999h"), std::nullopt);
  EXPECT_EQ(parse_go_duration("3000000h"), std::nullopt) << "more than Go holds";
}

}  // namespace
}  // namespace muster::api
