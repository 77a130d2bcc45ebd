#include "scheduler/refusal_words.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "scheduler/scheduler_testing.h"

// What follows for the pods of a large tree is done in slices.
namespace muster::scheduler {
namespace {

using testing::pod_object;
using testing::World;

std::string name_of(int i) { return fmt::format("p{:05}", i); }

// --- The words alone.

class RefusalWordsTest : public ::testing::Test {
 protected:
  static GroupKey root(const std::string& name = "g") { return {GroupKind::PodGroup, "ns", name}; }
  static std::vector<Refusal> refusals(int from, int to, const std::string& message) {
    std::vector<Refusal> out;
    for (int i = from; i < to; ++i)
      out.push_back({.pod = pod_object(name_of(i), {}), .message = message, .plugins = {}});
    return out;
  }
  // Says everything; the messages by pod, in the order of the pods.
  std::vector<std::string> say_all() {
    std::vector<std::string> said;
    while (!words_.empty()) {
      const auto slice = words_.next();
      EXPECT_LE(slice.size(), RefusalWords::kSlice);
      for (const auto& word : slice) said.push_back(word.pod->meta().name + " " + *word.message);
    }
    return said;
  }

  RefusalWords words_;
};

TEST_F(RefusalWordsTest, AreSaidInSlicesAndInOrder) {
  words_.add(root(), refusals(0, 600, "first"), true);
  words_.add(root("h"), refusals(600, 700, "second"), true);
  EXPECT_EQ(words_.next().size(), RefusalWords::kSlice);
  const auto said = say_all();
  ASSERT_EQ(said.size(), 700 - RefusalWords::kSlice);
  EXPECT_EQ(said.front(), "p00256 first");
  EXPECT_EQ(said.back(), "p00699 second");
}

TEST_F(RefusalWordsTest, OfAnEarlierAttemptAreDropped) {
  words_.add(root(), refusals(0, 600, "old"), true);
  words_.next();
  words_.overtaken("uid-p00001");
  words_.add(root(), refusals(0, 2, "new"), true);
  EXPECT_EQ(say_all(), (std::vector<std::string>{"p00000 new", "p00001 new"}));
}

TEST_F(RefusalWordsTest, AreNotSaidOnceTheyAreOvertaken) {
  words_.overtaken("uid-p00000");  // before there was anything to say
  words_.add(root(), refusals(0, 3, "why"), true);
  words_.overtaken("uid-p00001");
  EXPECT_EQ(say_all(), (std::vector<std::string>{"p00000 why", "p00002 why"}));
}

TEST_F(RefusalWordsTest, OnlySoManyHaveEvents) {
  words_.add(root(), refusals(0, 1'200, "why"), true);
  std::size_t events = 0;
  while (!words_.empty())
    for (const auto& word : words_.next()) events += word.has_event ? 1 : 0;
  EXPECT_EQ(events, RefusalWords::kEventsMax);
}

// --- The scheduler between them.

class LargeGangs : public ::testing::Test {
 protected:
  // Room for `room` pods of one CPU.
  void start(int room, int pods) {
    for (int i = 0; i * 100 < room; ++i)
      world_.node(fmt::format("n{}", i),
                  {.cpu = std::to_string(std::min(100, room - i * 100)), .zone = "z"});
    world_.gang("g", pods);
    for (int i = 0; i < pods; ++i) world_.pod(name_of(i), {.group = "g"});
    world_.synced();
  }
  std::set<std::string> told() {
    std::set<std::string> names;
    for (const std::string& request : world_.requests("PodScheduled")) {
      const std::size_t at = request.find("pods/ns/p");
      if (at != std::string::npos) names.insert(request.substr(at + 8, 6));
    }
    return names;
  }
  // Answers, and takes no steps.
  void answer() { world_.answer(); }

  World world_{{.group_bindings = true}};
};

TEST_F(LargeGangs, ANeighboursPodIsTriedBeforeAllPodsOfARefusedGangAreTold) {
  start(10, 5'000);
  EXPECT_EQ(world_.scheduler.run_once(world_.now, 1), 1U);
  answer();
  EXPECT_LE(told().size(), RefusalWords::kSlice);
  EXPECT_EQ(world_.scheduler.numbers().unschedulable, 5'000U) << "counted at once";
  EXPECT_EQ(world_.scheduler.next_deadline(), world_.now);

  world_.pod("lone");
  EXPECT_EQ(world_.scheduler.run_once(world_.now, 1), 1U);
  EXPECT_EQ(world_.requests("pods/ns/lone/binding").size(), 1U);
  EXPECT_LE(told().size(), 2 * RefusalWords::kSlice);

  world_.settle();
  EXPECT_EQ(told().size(), 5'000U);
  EXPECT_TRUE(world_.requests("PodScheduled").back().find("waits for") != std::string::npos);
}

TEST_F(LargeGangs, PodsThatAreGoneOrHaveANodeAreNotToldWhyTheyHaveNone) {
  start(10, 2'000);
  world_.scheduler.run_once(world_.now, 1);
  world_.delete_pod(name_of(1'998));
  auto bound = world_.pods.at(name_of(1'999));
  bound.node = "n0";
  world_.pod(name_of(1'999), bound);
  world_.settle();
  EXPECT_EQ(told().size(), 1'998U);
  EXPECT_FALSE(told().contains(name_of(1'998)));
  EXPECT_FALSE(told().contains(name_of(1'999)));
}

TEST_F(LargeGangs, ANeighboursPodIsTriedBeforeAnAcceptedGangIsDoneWith) {
  start(6'000, 5'000);
  EXPECT_EQ(world_.scheduler.run_once(world_.now, 1), 1U);
  ASSERT_EQ(world_.requests("groupbindings").size(), 1U);
  answer();
  const auto events = [this] { return world_.requests("Successfully assigned ns/p").size(); };
  EXPECT_EQ(world_.scheduler.numbers().scheduled, 5'000U);
  EXPECT_EQ(events(), 0U);
  EXPECT_EQ(world_.scheduler.next_deadline(), world_.now);

  world_.pod("lone");
  EXPECT_EQ(world_.scheduler.run_once(world_.now, 1), 1U);
  EXPECT_EQ(world_.requests("pods/ns/lone/binding").size(), 1U);
  EXPECT_LE(events(), 256U);
  while (world_.scheduler.next_deadline() == world_.now) {
    world_.scheduler.run_once(world_.now, 1);
    answer();
  }
  EXPECT_EQ(events(), 1'000U) << "so many are told";
  EXPECT_EQ(world_.scheduler.next_deadline(), std::nullopt);
}

TEST_F(LargeGangs, AGangThatTheServerRefusesIsToldInSlices) {
  start(6'000, 5'000);
  world_.answers = [this](const World::Call& call) {
    if (call.request.kind != &api::kinds::group_binding()) return false;
    world_.refuse(call.ticket, Reason::Forbidden);
    return true;
  };
  EXPECT_EQ(world_.scheduler.run_once(world_.now, 1), 1U);
  answer();
  EXPECT_EQ(told().size(), 0U);
  EXPECT_EQ(world_.scheduler.numbers().errors, 5'000U);
  world_.pod("lone");
  world_.scheduler.run_once(world_.now, 1);
  EXPECT_EQ(world_.requests("pods/ns/lone/binding").size(), 1U);
  EXPECT_LE(told().size(), RefusalWords::kSlice);
}

}  // namespace
}  // namespace muster::scheduler
