#include <gtest/gtest.h>

#include <tuple>

#include "scheduler/queue/queue_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::seconds;

// Pods, lone pods, trees.
using Row = std::tuple<std::size_t, std::size_t, std::size_t>;

class CensusOfAQueue : public QueueTest {
 protected:
  static Row row(const QueueCensus::Row& row) { return {row.pods, row.lone, row.groups}; }
  void put_gang(const std::string& name, int minimum = 2) {
    put_group(name, minimum);
    for (const char* pod : {"a", "b"}) put(name + pod, {.group = name, .class_hash = 1});
  }
};

TEST_F(CensusOfAQueue, CountsPodsAndWhatTheyAreQueuedAs) {
  put("resting");
  put("late");
  put_gang("rests");
  for (const char* next : {"resting", "late", "rests:restsa,restsb"}) ASSERT_EQ(pop(), next);
  refuse("resting");
  refuse("late");
  refuse_group("rests", {"restsa", "restsb"});
  put("failed");
  put_gang("fails");
  ASSERT_EQ(pop(), "failed");
  ASSERT_EQ(pop(), "fails:failsa,failsb");
  finish("failed", {.refused = {"failed"}, .outcome = Outcome::Error});
  finish("fails",
         {.refused = {"failsa", "failsb"}, .outcome = Outcome::Error, .root = Outcome::Error});
  put("flying");
  put_gang("flies");
  ASSERT_EQ(pop(), "flying");
  ASSERT_EQ(pop(), "flies:fliesa,fliesb");
  put("gated", {.gated = true});
  put_gang("small", 3);
  put("active");
  put_gang("ready");
  put_group("web", 0);
  put("webbed", {.group = "web"});
  put("astray", {.group = "nowhere"});

  const QueueCensus census = queue_.census();
  EXPECT_EQ(row(census.active), Row(4, 2, 1));
  EXPECT_EQ(row(census.backoff), Row(3, 1, 1));
  EXPECT_EQ(row(census.unschedulable), Row(4, 2, 1));
  EXPECT_EQ(row(census.gated), Row(3, 1, 1));
  EXPECT_EQ(census.in_flight, 2U) << "members";
  EXPECT_EQ(census.incomplete, 1U);

  const SchedulingQueue::Counts counts = queue_.counts();
  EXPECT_EQ(counts.active, 3U);
  EXPECT_EQ(counts.backoff, 2U);
  EXPECT_EQ(counts.resting, 3U);
  EXPECT_EQ(counts.gated, 2U);
  EXPECT_EQ(counts.incomplete, 1U);
}

TEST_F(CensusOfAQueue, SaysWhoRefusedThoseThatRest) {
  put("a");
  put("b", {.class_hash = 1});
  put("c", {.class_hash = 1});
  for (const char* pod : {"a", "b", "c"}) ASSERT_EQ(pop(), pod);
  refuse("a", {"Fit", "Taint"});
  refuse("b", {"Taint"});
  refuse("c", {"Taint"});
  for (const char* group : {"g", "h"}) {
    put_gang(group);
    ASSERT_NE(pop(), "");
    refuse_group(group, {std::string(group) + "a", std::string(group) + "b"});
  }
  using Refused = std::map<std::pair<std::string, std::string>, std::size_t>;
  EXPECT_EQ(queue_.census().refused,
            (Refused{{{"Fit", "default-scheduler"}, 3}, {{"Taint", "default-scheduler"}, 3}}));
}

TEST_F(CensusOfAQueue, CountsTheEventsThatAreKept) {
  node_added();
  put("a");
  ASSERT_EQ(pop(), "a");
  node_added();
  pod_deleted();
  pod_deleted();
  using Events = std::map<std::pair<Resource, Action>, std::size_t>;
  EXPECT_EQ(queue_.census().events, (Events{{{Resource::Node, Action::Add}, 1},
                                            {{Resource::AssignedPod, Action::Delete}, 2}}));
}

TEST_F(CensusOfAQueue, SaysWhatItLookedAt) {
  EXPECT_EQ(queue_.census().looked_at, 0U);
  put_gang("g");
  put_gang("h");
  EXPECT_EQ(queue_.census().looked_at, 2U) << "leaves";
  put("a");
  for (const char* next : {"g:ga,gb", "h:ha,hb", "a"}) ASSERT_EQ(pop(), next);
  refuse("a");
  EXPECT_EQ(queue_.census().looked_at, 3U) << "and a wait class";
}

}  // namespace
}  // namespace muster::scheduler
