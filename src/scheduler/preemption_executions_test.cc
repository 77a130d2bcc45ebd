#include "scheduler/preemption_executions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace muster::scheduler {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSum = "scheduler_preemption_execution_duration_seconds_sum";

class PreemptionExecutionsTest : public ::testing::Test {
 protected:
  Time now_{seconds{1'700'000'000}};
  Metrics metrics_;
  PreemptionExecutions executions_{&metrics_};
};

TEST_F(PreemptionExecutionsTest, LastUntilTheLastVictimIsEvicted) {
  executions_.started("podgroup", {"a", "b"}, now_);
  executions_.evicted("a", now_ + seconds{1});
  executions_.evicted("a", now_ + seconds{1});
  EXPECT_THAT(metrics_.text(), Not(HasSubstr(kSum)));
  executions_.evicted("b", now_ + seconds{4});
  EXPECT_THAT(metrics_.text(),
              HasSubstr(std::string(kSum) + R"({preemptor="podgroup",result="success"} 4)"));
  EXPECT_THAT(metrics_.text(),
              HasSubstr(R"(scheduler_preemption_goroutines_execution_total{result="success"} 1)"));
  EXPECT_EQ(executions_.open(), 0U);
}

TEST_F(PreemptionExecutionsTest, FailWithAnyOfTheirVictims) {
  executions_.started("pod", {"a", "b"}, now_);
  executions_.failed("a", now_ + seconds{1});
  executions_.evicted("b", now_ + seconds{2});
  EXPECT_THAT(metrics_.text(),
              HasSubstr(std::string(kSum) + R"({preemptor="pod",result="error"} 2)"));
}

TEST_F(PreemptionExecutionsTest, MayShareVictims) {
  executions_.started("pod", {"a"}, now_);
  executions_.started("podgroup", {"a", "b"}, now_ + seconds{1});
  executions_.evicted("a", now_ + seconds{3});
  EXPECT_EQ(executions_.open(), 1U);
  executions_.evicted("b", now_ + seconds{6});
  EXPECT_THAT(metrics_.text(),
              HasSubstr(std::string(kSum) + R"({preemptor="pod",result="success"} 3)"));
  EXPECT_THAT(metrics_.text(),
              HasSubstr(std::string(kSum) + R"({preemptor="podgroup",result="success"} 5)"));
}

TEST_F(PreemptionExecutionsTest, OfNobodyAreNone) {
  executions_.started("pod", {}, now_);
  executions_.evicted("unknown", now_);
  EXPECT_EQ(executions_.open(), 0U);
  PreemptionExecutions unseen(nullptr);
  unseen.started("pod", {"a"}, now_);
  unseen.evicted("a", now_);
  EXPECT_EQ(unseen.open(), 0U);
}

}  // namespace
}  // namespace muster::scheduler
