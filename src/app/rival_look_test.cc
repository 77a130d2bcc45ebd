#include "app/rival_look.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace muster::app {
namespace {

using std::chrono::seconds;

// Waits for the answer, however long that takes.
std::string found_by(const RivalLook& look) {
  while (!look.found()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  return *look.found();
}

TEST(RivalLook, SaysWhoIsThere) {
  const RivalLook look([](const Sleep&) { return Result<std::string>("somebody is at work"); });
  EXPECT_EQ(found_by(look), "somebody is at work");
}

TEST(RivalLook, AsksAgainUntilItIsKnown) {
  std::atomic<int> asked = 0;
  const RivalLook look(
      [&](const Sleep&) -> Result<std::string> {
        if (++asked < 3) return fail(Reason::ServiceUnavailable, "away");
        return "";
      },
      seconds{0});
  EXPECT_EQ(found_by(look), "");
  EXPECT_EQ(asked, 3);
}

TEST(RivalLook, ALookThatIsNotNeededAnyMoreEndsInTheMiddleOfItsSleep) {
  std::atomic<bool> sleeps = false;
  std::atomic<bool> may_go_on = true;
  {
    const RivalLook look([&](const Sleep& sleep) -> Result<std::string> {
      sleeps = true;
      may_go_on = sleep(std::chrono::hours{1});
      return fail(Reason::Timeout, "stopped");
    });
    while (!sleeps) std::this_thread::yield();
    EXPECT_EQ(look.found(), std::nullopt);
  }
  EXPECT_FALSE(may_go_on);
}

}  // namespace
}  // namespace muster::app
