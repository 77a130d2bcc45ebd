#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::seconds;

class Holds : public QueueTest {
 protected:
  // Refused, and somebody is evicted for it.
  void preempt(const std::string& name, const Names& pods) {
    Plan plan;
    for (const std::string& pod : pods)
      plan.refusals.push_back({make_pod(pod), Outcome::Unschedulable, "", {"Fit"}});
    const SchedulingQueue::Popped& entity = popped_.at(name);
    if (std::holds_alternative<Group>(entity))
      plan.groups.push_back({leaf(name), nullptr, Outcome::Unschedulable, "", ""});
    plan.preemption.emplace().answer = PreemptionPlan::Answer::Preempts;
    queue_.finish(entity, plan, now_);
  }
};

TEST_F(Holds, APodIsNotTriedWhileItsVictimsGo) {
  put("a");
  EXPECT_EQ(pop(), "a");
  preempt("a", {"a"});
  EXPECT_TRUE(queue_.is_held("a"));
  pod_deleted();
  node_added();
  put("a");  // as after its status was written
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().gated, 1U);
  queue_.release("a", now_);
  EXPECT_EQ(pop(), "a") << "at once: no backoff";
}

TEST_F(Holds, AGangIsNotTriedWhileItsVictimsGo) {
  put_group("g", 2);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  EXPECT_EQ(pop(), "g:a,b");
  preempt("g", {"a", "b"});
  put("c", {.group = "g"});
  node_added();
  EXPECT_EQ(pop(), "");
  queue_.release(leaf("g"), now_);
  EXPECT_EQ(pop(), "g:a,b,c");
}

// There may be victims for both.
TEST_F(Holds, AnEqualGangIsTriedMeanwhile) {
  for (const char* name : {"g", "h"}) {
    put_group(name, 2);
    for (const char* pod : {"a", "b"})
      put(std::string(name) + pod, {.group = name, .class_hash = 1});
  }
  ASSERT_EQ(pop(), "g:ga,gb");
  refuse_group("g", {"ga", "gb"});
  ASSERT_EQ(pop(), "h:ha,hb");
  refuse_group("h", {"ha", "hb"});
  now_ += seconds{2};
  pod_deleted();
  ASSERT_EQ(pop(), "g:ga,gb");
  ASSERT_EQ(pop(), "");
  preempt("g", {"ga", "gb"});
  EXPECT_EQ(pop(), "h:ha,hb");
}

TEST_F(Holds, EndByThemselvesAfterAWhile) {
  put("a");
  EXPECT_EQ(pop(), "a");
  preempt("a", {"a"});
  now_ += seconds{124};
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.next_deadline(), now_ + seconds{1});
  now_ += seconds{1};
  EXPECT_EQ(pop(), "a");
}

TEST_F(Holds, WhereAnEvictionFailedTheBackoffCounts) {
  put("a");
  EXPECT_EQ(pop(), "a");
  preempt("a", {"a"});
  queue_.release_later("a", now_);
  EXPECT_EQ(queue_.counts().backoff, 1U);
  EXPECT_EQ(pop(), "") << "although nothing else is to be done";
  now_ += seconds{2};
  EXPECT_EQ(pop(), "a");
}

TEST_F(Holds, WhereAnEvictionFailedTheBackoffOfAGangCounts) {
  put_group("g", 2);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  EXPECT_EQ(pop(), "g:a,b");
  preempt("g", {"a", "b"});
  queue_.release_later(leaf("g"), now_);
  EXPECT_EQ(pop(), "");
  now_ += seconds{2};
  EXPECT_EQ(pop(), "g:a,b");
}

TEST_F(Holds, ThoseThatGoAreForgotten) {
  put("a");
  EXPECT_EQ(pop(), "a");
  preempt("a", {"a"});
  remove("a");
  EXPECT_FALSE(queue_.is_held("a"));
  EXPECT_EQ(queue_.next_deadline(), std::nullopt);
}

}  // namespace
}  // namespace muster::scheduler
