#include "client/kit/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

using Keys = std::vector<std::string>;

class WorkQueueTest : public ::testing::Test {
 protected:
  void add(std::initializer_list<const char*> keys) {
    for (const char* key : keys) work.add(key, now);
  }
  // What comes out, at most `limit`, at this moment.
  Keys popped(std::size_t limit = 100) {
    Keys out;
    while (out.size() < limit) {
      const auto key = work.pop(now);
      if (!key) break;
      out.push_back(*key);
    }
    return out;
  }

  Time now{seconds{100}};
  Metrics metrics;
  WorkQueue work{"test", &metrics};
};

TEST_F(WorkQueueTest, HandsOutEachKeyOnceFirstComeFirstServed) {
  EXPECT_EQ(work.next_deadline(), std::nullopt);
  add({"b", "a", "b", "c"});
  EXPECT_EQ(work.next_deadline(), Time{});
  EXPECT_EQ(popped(2), (Keys{"b", "a"}));
  add({"a"});
  EXPECT_EQ(popped(), (Keys{"c", "a"})) << "one that comes again goes to the end";
  EXPECT_EQ(work.next_deadline(), std::nullopt);
  EXPECT_EQ(work.size(), 0U);
}

TEST_F(WorkQueueTest, KeepsWhatIsForLater) {
  work.add_at(now + seconds{5}, "late");
  EXPECT_EQ(work.next_deadline(), now + seconds{5});
  now += seconds{4};
  EXPECT_EQ(popped(), Keys{});
  now += seconds{1};
  EXPECT_EQ(popped(), Keys{"late"});
}

TEST_F(WorkQueueTest, WaitsForTheEarliestOfSeveralTimes) {
  for (const int s : {7, 5, 9}) work.add_at(now + seconds{s}, "key");
  EXPECT_EQ(work.next_deadline(), now + seconds{5});
  now += seconds{20};
  EXPECT_EQ(popped(), Keys{"key"}) << "once";
  EXPECT_EQ(work.size(), 0U);
}

TEST_F(WorkQueueTest, PausesLongerAfterEveryFailureOfAKey) {
  for (const Duration pause : {milliseconds{50}, milliseconds{100}, milliseconds{200}}) {
    work.retry("x", now);
    EXPECT_EQ(work.next_deadline(), now + pause);
    now += pause;
    EXPECT_EQ(popped(), Keys{"x"});
  }
  work.retry("other", now);
  EXPECT_EQ(work.next_deadline(), now + milliseconds{50}) << "each key has its own pause";
}

TEST_F(WorkQueueTest, APauseIsBounded) {
  for (int i = 0; i < 20; ++i) {
    work.retry("x", now);
    now += seconds{30};
    EXPECT_EQ(popped(), Keys{"x"});
  }
}

TEST_F(WorkQueueTest, AfterASuccessThePauseIsShortAgain) {
  for (int i = 0; i < 5; ++i) {
    work.retry("x", now);
    now += seconds{30};
    popped();
  }
  EXPECT_EQ(work.size(), 1U) << "its failures are remembered";
  work.forget_failures("x");
  EXPECT_EQ(work.size(), 0U);
  work.retry("x", now);
  EXPECT_EQ(work.next_deadline(), now + milliseconds{50});
}

TEST_F(WorkQueueTest, AHeldKeyComesAfterItsRelease) {
  work.hold("x");
  add({"x", "y"});
  EXPECT_EQ(popped(), Keys{"y"});
  work.release("x", now);
  EXPECT_EQ(popped(), Keys{"x"});
  work.hold("x");
  work.release("x", now);
  EXPECT_EQ(popped(), Keys{}) << "nothing happened meanwhile";
  EXPECT_EQ(work.size(), 0U);
}

TEST_F(WorkQueueTest, AKeyThatIsHeldAfterItBecameDueWaitsToo) {
  add({"x"});
  work.hold("x");
  work.hold("x");
  EXPECT_EQ(popped(), Keys{});
  work.release("x", now);
  EXPECT_EQ(popped(), Keys{}) << "held twice";
  work.release("x", now);
  EXPECT_EQ(popped(), Keys{"x"});
}

TEST_F(WorkQueueTest, CountsUnderUpstreamsNames) {
  add({"a", "b", "a"});
  now += seconds{5};
  popped(1);
  work.retry("a", now);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{name=\"test\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_depth{name=\"test\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_retries_total{name=\"test\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_queue_duration_seconds_sum{name=\"test\"} 5\n"));
}

}  // namespace
}  // namespace muster::client
