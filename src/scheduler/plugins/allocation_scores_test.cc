#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/plugins/node_resources_balanced_allocation.h"
#include "scheduler/plugins/node_resources_fit.h"

// What nodes are worth by what they have left, and what they have room for.
namespace muster::scheduler {
namespace {

class AllocationScores : public ::testing::Test {
 protected:
  NodeId add(const NodeSample& sample) {
    cluster_.set_node(sample.make());
    NodeId id{};
    EXPECT_TRUE(cluster_.find_node(sample.name, id));
    return id;
  }
  void run(const PodSample& pod) { cluster_.set_pod(pod.make()); }
  // One row and the whole column must agree.
  std::int64_t score(const Score& plugin, const PodSample& pod, NodeId node) {
    const auto pass = plugin.prepare_score(cluster_.class_of(pod.make()), cluster_);
    EXPECT_NE(pass, nullptr);
    if (pass == nullptr) return -1;
    Column<std::int32_t> totals;
    totals.resize(cluster_.rows());
    pass->add_local(3, totals);
    EXPECT_EQ(totals[node], 3 * pass->local(node));
    return pass->local(node);
  }

  Cluster cluster_;
};

TEST_F(AllocationScores, PodsWithoutRequestsCountASmallAmountForFit) {
  const NodeId node = add({.name = "n", .cpu = "1", .memory = "1000Mi"});
  const NodeResourcesFit cpu({.resources = {{"cpu", 1}}});
  const NodeResourcesFit memory({.resources = {{"memory", 1}}});
  EXPECT_EQ(score(cpu, {.name = "p"}, node), 90) << "100m";
  EXPECT_EQ(score(memory, {.name = "p"}, node), 80) << "200Mi";
  EXPECT_EQ(score(cpu, {.name = "p", .cpu = "500m"}, node), 50);
  run({.name = "q", .node_name = "n"});
  EXPECT_EQ(score(cpu, {.name = "p", .cpu = "500m"}, node), 40);
  EXPECT_EQ(score(memory, {.name = "p", .memory = "100Mi"}, node), 70);
}

TEST_F(AllocationScores, ResourcesCountByTheirWeights) {
  const NodeId node = add({.name = "n", .cpu = "10", .memory = "10Gi"});
  const PodSample pod{.name = "p", .cpu = "2", .memory = "6Gi"};
  EXPECT_EQ(score(NodeResourcesFit({.resources = {{"cpu", 3}, {"memory", 1}}}), pod, node), 70);
  EXPECT_EQ(score(NodeResourcesFit({.resources = {{"cpu", 1}, {"memory", 3}}}), pod, node), 50);
  EXPECT_EQ(score(NodeResourcesFit({.resources = {{"cpu", 0}, {"memory", 1}}}), pod, node), 60)
      << "a weight of 0 is 1";
  EXPECT_EQ(
      score(NodeResourcesFit({.resources = {{"cpu", 1}, {"example.com/none", 9}}}), pod, node), 80)
      << "nobody has that";
  EXPECT_EQ(score(NodeResourcesFit(), pod, node), 60);
}

TEST_F(AllocationScores, EachStrategyJudgesTheSameUseItsOwnWay) {
  const NodeId node = add({.name = "n", .cpu = "10"});
  run({.name = "q", .cpu = "5", .node_name = "n"});
  const auto by = [&](AllocationStrategy strategy, const char* cpu) {
    const NodeResourcesFit plugin(
        {.strategy = strategy, .resources = {{"cpu", 1}}, .shape = {{0, 2}, {60, 8}, {100, 10}}});
    return score(plugin, {.name = "p", .cpu = cpu}, node);
  };
  EXPECT_EQ(by(AllocationStrategy::LeastAllocated, "1"), 40);
  EXPECT_EQ(by(AllocationStrategy::MostAllocated, "1"), 60);
  EXPECT_EQ(by(AllocationStrategy::RequestedToCapacityRatio, "1"), 80);
  EXPECT_EQ(by(AllocationStrategy::LeastAllocated, "5"), 0);
  EXPECT_EQ(by(AllocationStrategy::MostAllocated, "5"), 100);
  EXPECT_EQ(by(AllocationStrategy::RequestedToCapacityRatio, "5"), 100);
}

TEST_F(AllocationScores, AShapeIsLinearBetweenItsPointsAndLevelOutside) {
  const ShapeTable rising = tabulate(std::vector<ShapePoint>{{20, 1}, {60, 10}});
  const ShapeTable falling = tabulate(std::vector<ShapePoint>{{0, 10}, {30, 3}, {100, 0}});
  struct Case {
    std::size_t utilization;
    std::int32_t rising, falling;
  };
  const Case cases[] = {{0, 10, 100}, {19, 10, 56}, {20, 10, 54},  {21, 12, 51},  {30, 32, 30},
                        {40, 55, 26}, {59, 97, 18}, {60, 100, 18}, {61, 100, 17}, {100, 100, 0}};
  for (const Case& c : cases) {
    EXPECT_EQ(rising[c.utilization], c.rising) << c.utilization;
    EXPECT_EQ(falling[c.utilization], c.falling) << c.utilization;
  }
  EXPECT_EQ(tabulate({})[50], 0);
}

TEST_F(AllocationScores, BalanceIsOfWhatIsRequestedAlone) {
  const NodeResourcesBalancedAllocation plugin;
  const NodeId node = add({.name = "n", .cpu = "4", .memory = "8Gi"});
  const PodSample pod{.name = "p", .cpu = "2"};
  EXPECT_EQ(score(plugin, pod, node), 62) << "it tilts an even node";
  run({.name = "q", .node_name = "n"});
  EXPECT_EQ(score(plugin, pod, node), 62) << "a pod without requests takes nothing";
  run({.name = "r", .memory = "4Gi", .node_name = "n"});
  EXPECT_EQ(score(plugin, pod, node), 87) << "it evens the node out";
  EXPECT_EQ(score(plugin, {.name = "p", .memory = "2Gi"}, node), 68)
      << "one that asks for memory alone";
}

TEST_F(AllocationScores, ANodeTakesAPodThatFillsItToTheBrim) {
  const NodeResourcesFit plugin;
  const NodeId node = add({.name = "n", .cpu = "4", .pods = 5});
  run({.name = "q", .cpu = "1", .node_name = "n"});
  struct Case {
    const char* cpu;
    std::int32_t cap;
    Remedy remedy;
  };
  const Case cases[] = {{"1", 3, Remedy::None},     {"1500m", 2, Remedy::None},
                        {"3", 1, Remedy::None},     {"3001m", 0, Remedy::Eviction},
                        {"4", 0, Remedy::Eviction}, {"4001m", 0, Remedy::None},
                        {"100m", 4, Remedy::None}};
  for (const Case& c : cases) {
    const PodClass& pods = cluster_.class_of(PodSample{.name = "p", .cpu = c.cpu}.make());
    const auto pass = plugin.prepare_filter(pods, cluster_);
    EXPECT_EQ(pass->admits(node), c.cap > 0) << c.cpu;
    EXPECT_EQ(pass->cap_at(node), c.cap) << c.cpu;
    CapColumn caps;
    caps.resize(cluster_.rows());
    caps.fill(kNoCap);
    EXPECT_EQ(pass->cap(caps), Exactness::PerNode);
    EXPECT_EQ(caps[node], c.cap) << c.cpu;
    NodeSet set = cluster_.nodes();
    pass->narrow(set);
    EXPECT_EQ(set.contains(node), c.cap > 0) << c.cpu;
    if (c.cap == 0) {
      EXPECT_EQ(pass->ask(node).remedy(), c.remedy) << c.cpu;
    }
  }
}

}  // namespace
}  // namespace muster::scheduler
