// Preemption as the API sees it: who is evicted, what is said about it, who keeps the room.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::PodText;
using ::testing::SizeIs;
using testing::World;

class Preempting : public ::testing::Test {
 protected:
  Preempting() {
    world_.synced();
    world_.answers = [this](const World::Call& call) { return begin_to_end(call); };
  }
  // A pod that is deleted ends when the test says so.
  bool begin_to_end(const World::Call& call) {
    if (call.request.verb != api::Verb::Delete) return false;
    world_.scheduler.apply(client::Called{call.ticket, testing::accepted()}, world_.now);
    PodText ending = world_.pods.at(call.request.name);
    ending.terminating = true;
    world_.pod(call.request.name, ending);
    return true;
  }

  void running(const std::string& name, const std::string& node, int priority = 0,
               const std::string& cpu = "4") {
    world_.pod(name, {.cpu = cpu, .priority = priority, .node = node, .phase = "Running"});
  }
  std::vector<std::string> deletions(const std::string& pod) {
    std::vector<std::string> found;
    for (const std::string& request : world_.requests("pods/ns/" + pod + "/ "))
      if (request.find("events") == std::string::npos) found.push_back(request);
    return found;
  }
  std::vector<std::string> nominations(const std::string& pod, const std::string& node) {
    std::vector<std::string> found;
    for (const std::string& request : world_.requests("pods/ns/" + pod + "/status"))
      if (request.find(R"("nominatedNodeName":")" + node + "\"") != std::string::npos)
        found.push_back(request);
    return found;
  }
  std::uint64_t attempts() const { return world_.scheduler.numbers().attempts; }

  Metrics metrics_;
  World world_{{.metrics = &metrics_}};
};

TEST_F(Preempting, TheVictimIsToldAndDeletedAndThePreemptorWaitsForIt) {
  world_.node("n1");
  running("low", "n1");
  world_.pod("high", {.cpu = "4", .priority = 10});
  world_.settle();
  EXPECT_THAT(deletions("low"), SizeIs(1));
  EXPECT_THAT(world_.requests("Preempted by pod uid-high on node n1\""), SizeIs(1))
      << "no budget is exceeded";
  EXPECT_THAT(world_.requests("default-scheduler: preempting to accommodate a higher priority pod"),
              SizeIs(1));
  EXPECT_THAT(nominations("high", "n1"), SizeIs(1));
  EXPECT_THAT(metrics_.text(), HasSubstr("scheduler_preemption_attempts_total 1\n"));
  const std::uint64_t before = attempts();
  world_.node("n1", {.label = "changed"});
  world_.pod("other", {.cpu = "4"});
  world_.settle();
  EXPECT_EQ(attempts(), before + 1) << "the preemptor is not tried, the other one is";
  EXPECT_EQ(world_.node_of("other"), "");
  world_.delete_pod("low");
  world_.settle();
  EXPECT_EQ(world_.node_of("high"), "n1");
  EXPECT_EQ(world_.node_of("other"), "");
  EXPECT_THAT(deletions("low"), SizeIs(1)) << "once";
  EXPECT_THAT(metrics_.text(), HasSubstr("scheduler_preemption_victims_sum 1"));
}

TEST_F(Preempting, WhatIsKeptIsNotGivenToEqualsThatComeLater) {
  world_.node("n1");
  running("low", "n1");
  world_.pod("high", {.cpu = "4", .priority = 10});
  world_.settle();
  world_.pod("equal", {.cpu = "4", .priority = 10});
  world_.delete_pod("low");
  world_.settle();
  EXPECT_EQ(world_.node_of("high"), "n1");
  EXPECT_EQ(world_.node_of("equal"), "");
}

TEST_F(Preempting, AHigherOneTakesOverWhatIsKeptAndTheOtherLooksAgain) {
  world_.node("n1");
  world_.node("n2");
  running("low", "n1");
  running("equal", "n2", 10);
  world_.pod("high", {.cpu = "4", .priority = 10});
  world_.settle();
  ASSERT_THAT(nominations("high", "n1"), SizeIs(1));
  world_.pod("highest", {.cpu = "4", .priority = 20});
  world_.settle();
  EXPECT_THAT(nominations("highest", "n1"), SizeIs(1));
  EXPECT_THAT(deletions("low"), SizeIs(1));
  EXPECT_THAT(deletions("equal"), SizeIs(0));
  world_.delete_pod("low");
  world_.now += minutes{1};
  world_.settle();
  EXPECT_EQ(world_.node_of("highest"), "n1");
  EXPECT_EQ(world_.node_of("high"), "");
}

TEST_F(Preempting, WithoutItsPreemptorTheRoomIsFree) {
  world_.node("n1");
  running("low", "n1");
  world_.pod("high", {.cpu = "4", .priority = 10});
  world_.settle();
  world_.pod("other", {.cpu = "4"});
  world_.settle();
  world_.delete_pod("low");
  world_.delete_pod("high");
  world_.now += minutes{1};
  world_.settle();
  EXPECT_EQ(world_.node_of("other"), "n1");
}

TEST_F(Preempting, OnePreemptorWaitsForAllItsVictims) {
  world_.node("n1");
  running("a", "n1", 0, "2");
  running("b", "n1", 0, "2");
  world_.pod("high", {.cpu = "4", .priority = 10});
  world_.settle();
  EXPECT_THAT(deletions("a"), SizeIs(1));
  EXPECT_THAT(deletions("b"), SizeIs(1));
  const std::uint64_t before = attempts();
  world_.delete_pod("a");
  world_.settle();
  EXPECT_EQ(attempts(), before);
  world_.delete_pod("b");
  world_.settle();
  EXPECT_EQ(world_.node_of("high"), "n1");
}

TEST_F(Preempting, AServerThatRefusesIsToldOfOnceForEachAnswer) {
  int refused = 0;
  world_.answers = [&](const World::Call& call) {
    if (call.request.name != "low" || call.request.verb != api::Verb::Delete) return false;
    if (++refused > 4) return begin_to_end(call);
    const Error why = make_error(Reason::Forbidden, "{}", refused < 3 ? "not now" : "never");
    world_.scheduler.apply(client::Called{call.ticket, tl::unexpected(why)}, world_.now);
    return true;
  };
  world_.node("n1");
  running("low", "n1");
  world_.pod("high", {.cpu = "4", .priority = 10});
  for (int i = 0; i < 6; ++i) {
    world_.settle();
    EXPECT_THAT(deletions("low"), SizeIs(std::min(i + 1, 5)))
        << "it is tried again until it is done, after a pause";
    world_.now += seconds{20};
  }
  EXPECT_THAT(world_.requests(R"("reason":"EvictionRefused")"), SizeIs(2));
  EXPECT_THAT(world_.requests("the server refuses to delete it, to make room: not now"), SizeIs(1));
  EXPECT_THAT(world_.requests("the server refuses to delete it, to make room: never"), SizeIs(1));
  EXPECT_THAT(metrics_.text(),
              HasSubstr(R"(scheduler_preemption_goroutines_execution_total{result="error"} 4)"));
  world_.delete_pod("low");
  world_.settle();
  EXPECT_EQ(world_.node_of("high"), "n1");
}

TEST_F(Preempting, WhereNobodyIsLowerNothingHappens) {
  world_.node("n1");
  running("equal", "n1", 10);
  world_.pod("high", {.cpu = "4", .priority = 10});
  world_.pod("never", {.cpu = "4", .priority = 20, .spec = R"(,"preemptionPolicy":"Never")"});
  world_.settle();
  EXPECT_THAT(deletions("equal"), SizeIs(0));
  EXPECT_THAT(world_.requests("nominatedNodeName"), SizeIs(0));
  EXPECT_THAT(world_.requests("Preempted"), SizeIs(0));
}

TEST_F(Preempting, EqualPodsThatFindNobodyCostOneSearch) {
  world_.node("n1");
  running("equal", "n1", 10);
  for (int i = 0; i < 5; ++i) world_.pod(fmt::format("p{}", i), {.cpu = "4", .priority = 10});
  world_.settle();
  EXPECT_EQ(world_.requests("No preemption victims found").size(), 10U)
      << "each is told, in a condition and an event";
  // A lower pod that comes is found by the next that looks.
  running("late", "n1", 0, "1");
  world_.node("n2", {.cpu = "1"});
  world_.pod("small", {.cpu = "1", .priority = 10});
  world_.settle();
  EXPECT_EQ(world_.node_of("small"), "n2");
}

TEST_F(Preempting, AGroupIsNamedAsTheOneItIsFor) {
  world_.node("n1");
  world_.node("n2");
  running("a", "n1");
  running("b", "n2");
  world_.gang("g", 2, 10);
  for (const char* name : {"x", "y"}) world_.pod(name, {.cpu = "4", .priority = 10, .group = "g"});
  world_.settle();
  for (const char* victim : {"a", "b"}) EXPECT_THAT(deletions(victim), SizeIs(1)) << victim;
  EXPECT_THAT(world_.requests("Preempted by podgroup uid-g on node cluster\""), SizeIs(2));
  EXPECT_THAT(
      world_.requests("default-scheduler: preempting to accommodate a higher priority podgroup"),
      SizeIs(2));
  const std::uint64_t before = attempts();
  world_.delete_pod("a");
  world_.settle();
  EXPECT_EQ(attempts(), before);
  world_.delete_pod("b");
  world_.settle();
  EXPECT_NE(world_.node_of("x"), "");
  EXPECT_NE(world_.node_of("y"), "");
  EXPECT_THAT(metrics_.text(),
              HasSubstr(R"(scheduler_workload_preemption_attempts_total{result="Success"} 1)"));
  EXPECT_THAT(metrics_.text(), HasSubstr("scheduler_workload_preemption_victims_sum 2"));
  EXPECT_THAT(
      metrics_.text(),
      HasSubstr(
          R"(scheduler_preemption_execution_duration_seconds_count{preemptor="podgroup",result="success"} 1)"));
}

}  // namespace
}  // namespace muster::scheduler
