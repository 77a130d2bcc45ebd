#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/plugins/gang_scheduling.h"
#include "scheduler/plugins/node_resources_fit.h"
#include "scheduler/plugins/pod_group_pods_count.h"
#include "scheduler/plugins/topology_placement_generator.h"

// What plugins say about groups and their placements.
namespace muster::scheduler {
namespace {

// --- GangScheduling ---

TEST(GangScheduling, SaysWhatAGroupStillNeedsInUpstreamsWords) {
  struct Case {
    PlacementProgress progress;
    PlacementStatus status;
    std::string want;
  };
  using S = PlacementStatus;
  const Case cases[] = {
      {{.scheduled = 3}, S::Success, ""},
      {{.scheduled = 4, .unresolvable = 2}, S::Success, ""},
      {{.scheduled = 1, .remaining = 2},
       S::Wait,
       "minCount (3) is not yet satisfied: 1 scheduled, 2 remaining"},
      {{.scheduled = 1, .remaining = 1, .unschedulable = 1},
       S::Unschedulable,
       "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"},
      {{.scheduled = 1, .remaining = 1, .unresolvable = 1},
       S::UnschedulableAndUnresolvable,
       "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"},
      {{.scheduled = 2},
       S::UnschedulableAndUnresolvable,
       "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"},
  };
  GroupSpec gang;
  gang.minimum = 3;
  const GangScheduling plugin;
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    EXPECT_EQ(plugin.status(gang, cases[i].progress), cases[i].status) << "case " << i;
    EXPECT_EQ(plugin.reason(gang, cases[i].progress), cases[i].want) << "case " << i;
  }
}

// --- PodGroupPodsCount ---

TEST(PodGroupPodsCount, GivesEachPlacementAShareOfTheMostPods) {
  using Scores = std::vector<std::int64_t>;
  struct Case {
    Scores pods;
    Scores want;
  };
  const Case cases[] = {
      {{1, 2, 4}, {25, 50, 100}},
      {{7, 3}, {100, 42}},
      {{2, 3, 0}, {66, 100, 0}},
      {{5}, {100}},
      {{1}, {100}},
      {{0, 0}, {0, 0}},
      {{}, {}},
  };
  for (const Case& c : cases) {
    Scores scores = c.pods;
    PodGroupPodsCount().normalize(scores);
    EXPECT_EQ(scores, c.want);
  }
}

TEST(PodGroupPodsCount, CountsThePodsOfTheGroup) {
  const Cluster cluster;
  const GroupSpec group;
  const PodGroupPodsCount plugin;
  EXPECT_EQ(
      plugin.score({.group = group, .name = "a", .cluster = cluster, .pods = 3, .amounts = {}}), 3);
  EXPECT_FALSE(plugin.looks_at_nodes());
}

// --- NodeResourcesFit ---

struct Holding {
  std::string resource;
  std::int64_t allocatable;
  std::int64_t used;
};

std::int64_t placement_score(const NodeResourcesFit& plugin, const std::vector<Holding>& holdings) {
  Cluster cluster;
  cluster.set_node(
      NodeSample{.name = "n", .extended = {{"example.com/gpu", "1"}, {"ephemeral-storage", "1Gi"}}}
          .make());
  std::vector<PlacementView::Amount> amounts;
  for (const Holding& holding : holdings) {
    ResourceId id{};
    EXPECT_TRUE(cluster.find_resource(holding.resource, id)) << holding.resource;
    amounts.push_back({id, holding.allocatable, holding.used});
  }
  const GroupSpec group;
  return plugin.score({.group = group, .name = "a", .cluster = cluster, .amounts = amounts});
}

TEST(NodeResourcesFitPlacements, FullerOnesAreBetterWhateverTheStrategyForNodesIs) {
  for (const AllocationStrategy strategy :
       {AllocationStrategy::LeastAllocated, AllocationStrategy::MostAllocated,
        AllocationStrategy::RequestedToCapacityRatio}) {
    const NodeResourcesFit plugin({.strategy = strategy, .shape = {{0, 10}, {100, 0}}});
    EXPECT_EQ(placement_score(plugin, {{"cpu", 4000, 1000}, {"memory", 100, 50}}), 37);
    EXPECT_EQ(placement_score(plugin, {{"cpu", 4000, 3000}, {"memory", 100, 50}}), 62);
  }
}

TEST(NodeResourcesFitPlacements, ResourcesCountByTheirWeights) {
  struct Case {
    const char* name;
    std::vector<ResourceWeight> resources;
    std::vector<Holding> holdings;
    std::int64_t want;
  };
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 2;
  const std::vector<ResourceWeight> by_default{{"cpu", 1}, {"memory", 1}};
  const std::vector<ResourceWeight> cpu_first{{"cpu", 3}, {"memory", 1}};
  const Case cases[] = {
      {"weights that are given", cpu_first, {{"cpu", 100, 20}, {"memory", 100, 60}}, 30},
      {"more in use than there is", by_default, {{"cpu", 100, 150}, {"memory", 100, 0}}, 50},
      {"an extended resource that nobody named counts once",
       cpu_first,
       {{"cpu", 100, 0}, {"memory", 100, 0}, {"example.com/gpu", 8, 8}},
       20},
      {"one that was named",
       {{"cpu", 1}, {"example.com/gpu", 4}},
       {{"cpu", 100, 0}, {"example.com/gpu", 8, 4}},
       40},
      {"storage that nobody named",
       by_default,
       {{"cpu", 100, 40}, {"memory", 100, 40}, {"ephemeral-storage", 100, 100}},
       40},
      {"storage that was named",
       {{"cpu", 1}, {"ephemeral-storage", 1}},
       {{"cpu", 100, 40}, {"ephemeral-storage", 100, 100}},
       70},
      {"memory that nobody named", {{"cpu", 1}}, {{"cpu", 100, 40}, {"memory", 100, 90}}, 40},
      {"nothing that counts", by_default, {{"ephemeral-storage", 100, 100}}, 0},
      {"nothing at all", by_default, {}, 0},
      {"more than a hundred times which would fit in 64 bits",
       by_default,
       {{"cpu", 100, 25}, {"memory", kHuge, kHuge / 4 + 1}},
       25},
  };
  for (const Case& c : cases)
    EXPECT_EQ(placement_score(NodeResourcesFit({.resources = c.resources}), c.holdings), c.want)
        << c.name;
}

// --- TopologyPlacementGenerator ---

TEST(TopologyPlacementGenerator, AnswersForGroupsThatNameATopologyKey) {
  const TopologyPlacementGenerator plugin;
  GroupSpec group;
  EXPECT_EQ(plugin.placements_of(group), "");
  group.topology_key = "rack";
  EXPECT_EQ(plugin.placements_of(group), "rack");
  EXPECT_TRUE(plugin.is_label());
}

TEST(TopologyPlacementGenerator, NumbersTheValuesOfTheLabelInTheOrderOfNodesByName) {
  Cluster cluster;
  const auto add = [&](const std::string& name, std::map<std::string, std::string> labels) {
    cluster.set_node(NodeSample{.name = name, .labels = std::move(labels)}.make());
  };
  add("d", {{"rack", "r1"}, {"zone", "z"}});
  add("c", {{"rack", "r2"}});
  add("b", {{"zone", "z"}});
  add("a", {{"rack", "r3"}});
  add("gone", {{"rack", "r0"}});
  add("e", {{"rack", "r3"}});
  cluster.remove_node("gone");
  const PlacementColumn column = TopologyPlacementGenerator().generate("rack", cluster);
  EXPECT_EQ(column.names(), (std::vector<std::string>{"r3", "r2", "r1"}));
  using List = PlacementColumn::List;
  const std::map<std::string, List> want{{"a", {0}}, {"b", {}}, {"c", {1}}, {"d", {2}}, {"e", {0}}};
  for (const auto& [name, list] : want) {
    NodeId node{};
    ASSERT_TRUE(cluster.find_node(name, node)) << name;
    EXPECT_EQ(column.at(node), list) << name;
  }
}

TEST(TopologyPlacementGenerator, ALabelThatNoNodeHasMakesNoPlacement) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "a"}.make());
  const PlacementColumn column = TopologyPlacementGenerator().generate("rack", cluster);
  EXPECT_TRUE(column.names().empty());
  NodeId node{};
  ASSERT_TRUE(cluster.find_node("a", node));
  EXPECT_EQ(column.at(node), PlacementColumn::List{});
}

}  // namespace
}  // namespace muster::scheduler
