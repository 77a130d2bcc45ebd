#include "scheduler/groups/nominations.h"

#include <gtest/gtest.h>

#include <limits>

#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

class NominationsTest : public testing::Test {
 protected:
  NominationsTest() { cluster_.set_node(NodeSample{.name = "n"}.make()); }

  static api::ObjectPtr pod(const std::string& name, std::int64_t priority) {
    return PodSample{.name = name, .cpu = "1", .priority = priority}.make();
  }
  std::int64_t counted_on(std::string_view node) {
    NodeId row{};
    return cluster_.find_node(node, row) ? cluster_.pods_on()[row] : -1;
  }
  std::int64_t counted_for(std::int32_t priority, const std::vector<std::string>& tried = {}) {
    nominations_.count_for(priority, tried);
    return counted_on("n");
  }

  Cluster cluster_;
  Nominations nominations_{cluster_};
};

TEST_F(NominationsTest, CountForOwnAndLowerPrioritiesOnly) {
  nominations_.observed(pod("a", 5), "n");
  nominations_.observed(pod("b", 10), "n");
  EXPECT_EQ(counted_for(0), 2);
  EXPECT_EQ(counted_for(5), 2);
  EXPECT_EQ(counted_for(6), 1);
  EXPECT_EQ(counted_for(10), 1);
  EXPECT_EQ(counted_for(11), 0);
  EXPECT_EQ(counted_for(-1), 2);
  nominations_.count_nobody();
  EXPECT_EQ(counted_on("n"), 0);
  EXPECT_EQ(counted_for(0), 2);
}

TEST_F(NominationsTest, ThoseThatAreTriedDoNotCountForThemselves) {
  nominations_.observed(pod("a", 5), "n");
  nominations_.observed(pod("b", 5), "n");
  EXPECT_EQ(counted_for(5, {"default-a"}), 1);
  EXPECT_EQ(counted_for(5, {"default-b"}), 1);
  EXPECT_EQ(counted_for(5), 2);
  EXPECT_EQ(counted_for(5, {"default-a", "default-b"}), 0);
  EXPECT_EQ(counted_for(6), 0);
  EXPECT_EQ(counted_for(5), 2);
}

TEST_F(NominationsTest, APodThatChangesCountsAsItIsNow) {
  const auto of_size = [](const std::string& cpu) {
    return PodSample{.name = "a", .cpu = cpu, .priority = 5}.make();
  };
  NodeId row{};
  ASSERT_TRUE(cluster_.find_node("n", row));
  const auto used = [&] {
    nominations_.count_for(0, {});
    return cluster_.resource(ResourceId::Cpu).requested[row];
  };
  nominations_.observed(of_size("1"), "n");
  EXPECT_EQ(used(), 1'000);
  nominations_.observed(of_size("3"), "n");
  EXPECT_EQ(used(), 3'000);
  nominations_.nominate(of_size("2"), "n");
  EXPECT_EQ(used(), 2'000);
  nominations_.forget("default-a");
  EXPECT_EQ(used(), 0);
}

TEST_F(NominationsTest, OurWordHoldsUntilTheApiAgreesOrItIsGivenUp) {
  const api::ObjectPtr a = pod("a", 5);
  nominations_.nominate(a, "n");
  nominations_.observed(a, "");
  EXPECT_EQ(nominations_.node_of("default-a"), "n");
  nominations_.observed(a, "n");
  nominations_.observed(a, "");
  EXPECT_EQ(nominations_.node_of("default-a"), "") << "somebody took it back";
  nominations_.nominate(a, "n");
  nominations_.give_up("default-a");
  EXPECT_EQ(nominations_.node_of("default-a"), "");
  EXPECT_TRUE(nominations_.empty());
}

TEST_F(NominationsTest, WhatWasClearedStaysSoWhileTheApiStillNamesTheNode) {
  const api::ObjectPtr a = pod("a", 5);
  nominations_.observed(a, "n");
  EXPECT_EQ(counted_for(0), 1);
  nominations_.clear(a);
  EXPECT_EQ(counted_on("n"), 0);
  nominations_.observed(a, "n");
  EXPECT_EQ(nominations_.node_of("default-a"), "");
  nominations_.observed(a, "");
  nominations_.observed(a, "n");
  EXPECT_EQ(nominations_.node_of("default-a"), "n");
}

TEST_F(NominationsTest, WhatIsGivenUpLeavesTheNodeThatTheApiNames) {
  const api::ObjectPtr a = pod("a", 5);
  nominations_.observed(a, "n");
  nominations_.nominate(a, "m");
  EXPECT_EQ(counted_for(0), 0);
  nominations_.give_up("default-a");
  EXPECT_EQ(nominations_.node_of("default-a"), "n");
  EXPECT_EQ(counted_for(0), 1);
}

TEST_F(NominationsTest, ThoseOfTheHighestPriorityCountAgainAfterNobodyDid) {
  constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max();
  nominations_.observed(pod("a", kHighest), "n");
  EXPECT_EQ(counted_for(kHighest), 1);
  nominations_.count_nobody();
  EXPECT_EQ(counted_on("n"), 0);
  EXPECT_EQ(counted_for(kHighest), 1);
}

TEST_F(NominationsTest, NamesTheLowerOnesOnANode) {
  nominations_.observed(pod("a", 5), "n");
  nominations_.observed(pod("b", 10), "n");
  nominations_.observed(pod("c", 1), "elsewhere");
  ASSERT_EQ(nominations_.lower_on("n", 10).size(), 1U);
  EXPECT_EQ(nominations_.lower_on("n", 10)[0]->meta().name, "a");
  EXPECT_EQ(counted_for(0), 2) << "the one elsewhere has no row that lives";
  nominations_.forget("default-a");
  nominations_.forget("default-c");
  EXPECT_EQ(counted_on("n"), 1);
}

TEST_F(NominationsTest, APodThatIsNominatedElsewhereCountsThere) {
  cluster_.set_node(NodeSample{.name = "m"}.make());
  const api::ObjectPtr a = pod("a", 5);
  nominations_.nominate(a, "n");
  EXPECT_EQ(counted_for(0), 1);
  nominations_.nominate(a, "m");
  nominations_.count_for(0, {});
  EXPECT_EQ(counted_on("n"), 0);
  EXPECT_EQ(counted_on("m"), 1);
  EXPECT_TRUE(nominations_.lower_on("n", 10).empty());
  EXPECT_EQ(nominations_.lower_on("m", 10).size(), 1U);
  nominations_.give_up("default-a");
  EXPECT_EQ(counted_on("m"), 0);
  EXPECT_TRUE(nominations_.empty());
}

TEST_F(NominationsTest, APodOfAnotherPriorityCountsByIt) {
  nominations_.observed(pod("a", 5), "n");
  EXPECT_EQ(counted_for(5), 1);
  nominations_.observed(pod("a", 3), "n");
  EXPECT_EQ(counted_for(5), 0);
  EXPECT_EQ(counted_for(3), 1);
  EXPECT_TRUE(nominations_.lower_on("n", 3).empty());
  EXPECT_EQ(nominations_.lower_on("n", 4).size(), 1U);
}

TEST_F(NominationsTest, OneThatIsTriedAboveItsPriorityChangesNothing) {
  nominations_.observed(pod("a", 5), "n");
  nominations_.observed(pod("b", 7), "n");
  EXPECT_EQ(counted_for(6, {"default-a", "default-unknown"}), 1);
  EXPECT_EQ(counted_for(5, {"default-b"}), 1);
  EXPECT_EQ(counted_for(5), 2);
}

TEST_F(NominationsTest, ACopyKeepsItsOwnBooks) {
  const api::ObjectPtr a = pod("a", 5);
  nominations_.observed(a, "n");
  nominations_.observed(pod("b", 9), "n");
  nominations_.nominate(pod("c", 1), "n");
  EXPECT_EQ(counted_for(5), 2);
  Cluster cluster = cluster_.fork();
  Nominations copy(nominations_, cluster);
  const auto in_copy = [&](std::int32_t priority) {
    copy.count_for(priority, {});
    NodeId row{};
    EXPECT_TRUE(cluster.find_node("n", row));
    return cluster.pods_on()[row];
  };
  EXPECT_EQ(in_copy(9), 1);
  EXPECT_EQ(in_copy(1), 3);
  EXPECT_EQ(counted_on("n"), 2) << "as before";
  EXPECT_EQ(copy.lower_on("n", 9).size(), 2U);
  copy.forget("default-a");
  copy.give_up("default-c");
  EXPECT_EQ(in_copy(1), 1);
  EXPECT_EQ(nominations_.node_of("default-a"), "n");
  EXPECT_EQ(nominations_.node_of("default-c"), "n");
}

}  // namespace
}  // namespace muster::scheduler
