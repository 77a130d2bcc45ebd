#include "client/kit/work_queue.h"

#include <fmt/format.h>
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
    for (const char* key : keys) work_.add(key, now_);
  }
  // What comes out, at most `limit`, at this moment.
  Keys popped(std::size_t limit = 100) {
    Keys out;
    while (out.size() < limit) {
      const auto key = work_.pop(now_);
      if (!key) break;
      out.push_back(*key);
    }
    return out;
  }

  Time now_{seconds{100}};
  Metrics metrics_;
  WorkQueue work_{"test", &metrics_};
};

TEST_F(WorkQueueTest, HandsOutEachKeyOnceFirstComeFirstServed) {
  EXPECT_EQ(work_.next_deadline(), std::nullopt);
  add({"b", "a", "b", "c"});
  EXPECT_EQ(work_.next_deadline(), Time{});
  EXPECT_EQ(popped(2), (Keys{"b", "a"}));
  add({"a"});
  EXPECT_EQ(popped(), (Keys{"c", "a"})) << "one that comes again goes to the end";
  EXPECT_EQ(work_.next_deadline(), std::nullopt);
  EXPECT_EQ(work_.size(), 0U);
}

TEST_F(WorkQueueTest, KeepsWhatIsForLater) {
  work_.add_at(now_ + seconds{5}, "late");
  EXPECT_EQ(work_.next_deadline(), now_ + seconds{5});
  now_ += seconds{4};
  EXPECT_EQ(popped(), Keys{});
  now_ += seconds{1};
  EXPECT_EQ(popped(), Keys{"late"});
}

TEST_F(WorkQueueTest, WaitsForTheEarliestOfSeveralTimes) {
  for (const int s : {7, 5, 9}) work_.add_at(now_ + seconds{s}, "key");
  EXPECT_EQ(work_.next_deadline(), now_ + seconds{5});
  now_ += seconds{20};
  EXPECT_EQ(popped(), Keys{"key"}) << "once";
  EXPECT_EQ(work_.size(), 0U);
}

TEST_F(WorkQueueTest, PausesLongerAfterEveryFailureOfAKey) {
  for (const Duration pause : {milliseconds{50}, milliseconds{100}, milliseconds{200}}) {
    work_.retry("x", now_);
    EXPECT_EQ(work_.next_deadline(), now_ + pause);
    now_ += pause;
    EXPECT_EQ(popped(), Keys{"x"});
  }
  work_.retry("other", now_);
  EXPECT_EQ(work_.next_deadline(), now_ + milliseconds{50}) << "each key has its own pause";
}

TEST_F(WorkQueueTest, APauseIsBounded) {
  for (int i = 0; i < 20; ++i) {
    work_.retry("x", now_);
    now_ += seconds{30};
    EXPECT_EQ(popped(), Keys{"x"});
  }
}

TEST_F(WorkQueueTest, AfterASuccessThePauseIsShortAgain) {
  for (int i = 0; i < 5; ++i) {
    work_.retry("x", now_);
    now_ += seconds{30};
    popped();
  }
  EXPECT_EQ(work_.size(), 1U) << "its failures are remembered";
  work_.forget_failures("x");
  EXPECT_EQ(work_.size(), 0U);
  work_.retry("x", now_);
  EXPECT_EQ(work_.next_deadline(), now_ + milliseconds{50});
}

TEST_F(WorkQueueTest, AHeldKeyComesAfterItsRelease) {
  work_.hold("x");
  add({"x", "y"});
  EXPECT_EQ(popped(), Keys{"y"});
  work_.release("x", now_);
  EXPECT_EQ(popped(), Keys{"x"});
  work_.hold("x");
  work_.release("x", now_);
  EXPECT_EQ(popped(), Keys{}) << "nothing happened meanwhile";
  EXPECT_EQ(work_.size(), 0U);
}

TEST_F(WorkQueueTest, AKeyThatIsHeldAfterItBecameDueWaitsToo) {
  add({"x"});
  work_.hold("x");
  work_.hold("x");
  EXPECT_EQ(popped(), Keys{});
  work_.release("x", now_);
  EXPECT_EQ(popped(), Keys{}) << "held twice";
  work_.release("x", now_);
  EXPECT_EQ(popped(), Keys{"x"});
}

TEST_F(WorkQueueTest, CountsUnderUpstreamsNames) {
  add({"a", "b", "a"});
  now_ += seconds{5};
  popped(1);
  work_.retry("a", now_);
  const std::string text = metrics_.text();
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{name=\"test\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_depth{name=\"test\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_retries_total{name=\"test\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_queue_duration_seconds_sum{name=\"test\"} 5\n"));
}

TEST_F(WorkQueueTest, SaysHowLongCallsHaveBeenUnderWay) {
  Metrics metrics;
  WorkQueue queue("test", &metrics);
  const Time start{std::chrono::seconds{1'700'000'000}};
  const auto gauges = [&] {
    const std::string text = metrics.text();
    const auto value = [&](std::string_view name) {
      const std::string line = fmt::format("workqueue_{}{{name=\"test\"}} ", name);
      const std::size_t at = text.find(line);
      return at == std::string::npos
                 ? std::string("missing")
                 : text.substr(at + line.size(), text.find('\n', at) - at - line.size());
    };
    return value("unfinished_work_seconds") + " " + value("longest_running_processor_seconds");
  };
  queue.add("a", start);
  queue.pop(start);
  queue.hold("a");
  EXPECT_EQ(gauges(), "0 0");
  queue.add("b", start + std::chrono::seconds{3});
  queue.pop(start + std::chrono::seconds{3});
  queue.hold("b");
  queue.pop(start + std::chrono::seconds{5});
  EXPECT_EQ(gauges(), "7 5");
  queue.release("a", start + std::chrono::seconds{6});
  EXPECT_EQ(gauges(), "3 3");
  queue.release("b", start + std::chrono::seconds{6});
  EXPECT_EQ(gauges(), "0 0");
}

}  // namespace
}  // namespace muster::client
