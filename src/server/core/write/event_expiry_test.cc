#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Events are created at 10:00.
class EventExpiryTest : public CoreTest {
 protected:
  void create_event(std::string_view name, std::string_view members = "") {
    const auto made =
        create(api::kinds::event(), "default",
               fmt::format(R"({{"metadata":{{"name":"{}"}},"involvedObject":{{"kind":"Pod",)"
                           R"("namespace":"default","name":"web"}}{}}})",
                           name, members));
    ASSERT_TRUE(made) << message(made);
  }
  std::string left_after(Duration passed) {
    registry_.expire(now_ + passed);
    registry_.flush();
    return names(list(api::kinds::event(), "default"));
  }
};

TEST_F(EventExpiryTest, AnEventLivesForAnHour) {
  create_event("e");
  EXPECT_EQ(left_after(hours{1} - seconds{1}), "e");
  EXPECT_EQ(left_after(hours{1}), "");
}

// Whichever of the three its writer uses.
TEST_F(EventExpiryTest, WhatHappensAgainStartsTheHourAgain) {
  create_event("once");
  create_event("last", R"(,"lastTimestamp":"2026-05-01T10:30:00Z")");
  create_event("micro", R"(,"eventTime":"2026-05-01T10:20:00.500000Z","action":"a","reason":"r",)"
                        R"("reportingComponent":"c.d/e","reportingInstance":"i")");
  create_event("series",
               R"(,"series":{"count":2,"lastObservedTime":"2026-05-01T10:40:00.000000Z"})");
  EXPECT_EQ(left_after(minutes{61}), "last micro series");
  EXPECT_EQ(left_after(minutes{80} + seconds{1}), "last series");
  EXPECT_EQ(left_after(minutes{90}), "series");
  EXPECT_EQ(left_after(minutes{100} - seconds{1}), "series");
  EXPECT_EQ(left_after(minutes{100}), "");
}

TEST_F(EventExpiryTest, OnlyEventsExpire) {
  ASSERT_TRUE(create_pod("web"));
  create_event("e");
  EXPECT_EQ(left_after(hours{100}), "");
  EXPECT_EQ(names(list(pods(), "default")), "web");
}

}  // namespace
}  // namespace muster::server
