#include "scheduler/queue/flight_log.h"

#include <gtest/gtest.h>

namespace muster::scheduler {
namespace {

const ClusterEvent kNodeAdded{Resource::Node, Action::Add, nullptr, nullptr};

bool yes(const ClusterEvent&) { return true; }

TEST(FlightLog, KeepsNothingWhileNothingIsInFlight) {
  FlightLog log;
  log.record(kNodeAdded, {}, "");
  EXPECT_EQ(log.size(), 0U);
}

TEST(FlightLog, ShowsEachEntityWhatCameAfterItsPop) {
  FlightLog log;
  const std::size_t early = log.start();
  log.record(kNodeAdded, {}, "");
  const std::size_t late = log.start();
  EXPECT_TRUE(log.any_since(early, "a", 0, yes));
  EXPECT_FALSE(log.any_since(late, "b", 0, yes));
  log.end();
  EXPECT_TRUE(log.any_since(early, "a", 0, yes)) << "one is still in flight";
  log.end();
  EXPECT_EQ(log.size(), 0U);
}

TEST(FlightLog, SparesThoseItDoesNotConcern) {
  FlightLog log;
  const std::size_t start = log.start();
  log.record(kNodeAdded, 5, "");
  EXPECT_TRUE(log.any_since(start, "a", 5, yes)) << "up to and including";
  EXPECT_FALSE(log.any_since(start, "a", 6, yes));
  log.record(kNodeAdded, {}, "b");
  EXPECT_TRUE(log.any_since(start, "b", 6, yes));
  EXPECT_FALSE(log.any_since(start, "c", 6, yes));
}

}  // namespace
}  // namespace muster::scheduler
