// What pods say to autoscalers: docs/guide/autoscaling.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::World;

constexpr const char* kWaits = "scheduling.muster.dev/WaitsFor";

std::string reason(const std::string& what) { return R"("reason":")" + what + "\""; }

class PodsThatWait : public ::testing::Test {
 protected:
  PodsThatWait() { world_.synced(); }

  std::vector<std::string> patches(const std::string& pod) {
    return world_.requests("pods/ns/" + pod + "/status");
  }
  // The pods of gang g, which needs as many.
  void gang_of(const std::vector<std::string>& pods, const std::string& waits_for = {}) {
    world_.gang("g", static_cast<int>(pods.size()));
    for (const std::string& pod : pods)
      world_.pod(pod, {.cpu = "4", .group = "g", .waits_for = waits_for});
  }

  World world_;
};

TEST_F(PodsThatWait, ALonePodWaitsForANodeAndSaysSoInOneRequest) {
  world_.node("n1");
  world_.pod("p", {.cpu = "5"});
  world_.settle();
  ASSERT_THAT(patches("p"), SizeIs(1));
  EXPECT_THAT(patches("p")[0], HasSubstr("PodScheduled"));
  EXPECT_THAT(patches("p")[0], HasSubstr(kWaits));
  EXPECT_THAT(patches("p")[0], HasSubstr(reason("Node")));
}

TEST_F(PodsThatWait, AsManyWaitForANodeAsHaveNoRoom) {
  for (const char* node : {"n1", "n2"}) world_.node(node);
  gang_of({"a", "b", "c", "d"});
  world_.settle();
  for (const char* pod : {"a", "b"}) EXPECT_THAT(patches(pod)[0], HasSubstr(reason("Siblings")));
  for (const char* pod : {"c", "d"}) EXPECT_THAT(patches(pod)[0], HasSubstr(reason("Node")));
}

TEST_F(PodsThatWait, NoNodeHelpsThoseThatWaitForEvictions) {
  world_.node("n1");
  world_.pod("low", {.cpu = "4", .node = "n1", .phase = "Running"});
  world_.pod("high", {.cpu = "4", .priority = 10});
  world_.settle();
  ASSERT_FALSE(patches("high").empty());
  EXPECT_EQ(world_.requests(reason("Evictions")).size(), 1U);
}

// What was found out for an equal pod of lower priority does not hold for it.
TEST_F(PodsThatWait, OneOfHigherPriorityLooksForItsOwnEvictions) {
  world_.node("n1");
  world_.pod("runs", {.cpu = "4", .priority = 5, .node = "n1", .phase = "Running"});
  world_.pod("equal", {.cpu = "4", .priority = 5});
  world_.settle();
  EXPECT_THAT(patches("equal"), SizeIs(1));
  EXPECT_THAT(world_.requests(reason("Evictions")), SizeIs(0));
  world_.pod("high", {.cpu = "4", .priority = 10});
  world_.settle();
  EXPECT_THAT(world_.requests(reason("Evictions")), SizeIs(1));
}

TEST_F(PodsThatWait, ATreeThatLosesAPodWaitsForSiblings) {
  world_.node("n1", {.cpu = "1"});
  gang_of({"a", "b", "c"}, "Node");
  world_.settle();
  world_.log.clear();
  world_.delete_pod("c");
  world_.settle();
  for (const char* pod : {"a", "b"}) {
    ASSERT_THAT(patches(pod), SizeIs(1));
    EXPECT_THAT(patches(pod)[0], HasSubstr(reason("Siblings")));
  }
}

// Its minimum goes up and down, as often as somebody likes.
TEST_F(PodsThatWait, ATreeThatIsHeldAgainAndAgainIsToldOnce) {
  world_.gang("g", 1'000);
  for (int i = 0; i < 600; ++i)
    world_.pod("p" + std::to_string(i), {.cpu = "4", .group = "g", .waits_for = "Node"});
  const auto later = [&] {
    for (int i = 0; i < 100; ++i) {
      world_.now += std::chrono::milliseconds{10};
      world_.settle();
    }
  };
  later();
  EXPECT_THAT(world_.requests(reason("Siblings")), SizeIs(600));
  world_.log.clear();
  for (const int minimum : {100, 1'000, 100, 1'000}) world_.gang("g", minimum);
  later();
  EXPECT_THAT(world_.requests(reason("Siblings")), SizeIs(0));
}

// What an attempt said may reach the watch when the tree is not tried any more.
TEST_F(PodsThatWait, AWordThatComesLateIsTakenBack) {
  world_.node("n1", {.cpu = "1"});
  gang_of({"a", "b", "c"});
  world_.settle();
  world_.delete_pod("c");
  world_.settle();
  world_.log.clear();
  world_.pod("a", {.cpu = "4", .group = "g", .waits_for = "Node"});
  world_.settle();
  ASSERT_THAT(patches("a"), SizeIs(1));
  EXPECT_THAT(patches("a")[0], HasSubstr(reason("Siblings")));
}

TEST_F(PodsThatWait, WithANodeTheWordGoes) {
  world_.node("n1");
  world_.pod("p", {.waits_for = "Node"});
  world_.settle();
  EXPECT_EQ(world_.node_of("p"), "n1");
  ASSERT_THAT(patches("p"), SizeIs(1)) << "this server leaves that to us";
  EXPECT_THAT(patches("p")[0],
              HasSubstr(R"({"$patch":"delete","type":"scheduling.muster.dev/WaitsFor"})"));
  world_.log.clear();
  world_.pod("p", {.node = "n1", .phase = "Running"});
  world_.pod("foreign", {.scheduler = "other", .node = "n1", .waits_for = "Node"});
  world_.settle();
  EXPECT_TRUE(world_.log.empty());
}

TEST_F(PodsThatWait, AnErrorIsNeither) {
  world_.node("n1");
  world_.pod("p", {.waits_for = "Node"});
  world_.answers = [this](const World::Call& call) {
    if (call.request.subresource != "binding") return false;
    world_.refuse(call.ticket, Reason::Forbidden);
    return true;
  };
  world_.run();
  world_.answer();
  ASSERT_THAT(patches("p"), SizeIs(1));
  EXPECT_THAT(patches("p")[0], HasSubstr("SchedulerError"));
  EXPECT_THAT(patches("p")[0],
              HasSubstr(R"({"$patch":"delete","type":"scheduling.muster.dev/WaitsFor"})"));
}

}  // namespace
}  // namespace muster::scheduler
