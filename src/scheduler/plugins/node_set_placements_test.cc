#include "scheduler/plugins/node_set_placements.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

using Labels = PlacementLabels::Labels;

// The labels that put a node with these into the set of nodes that the selector chooses.
std::optional<Labels> labels_to_join(const std::string& selector,
                                     const std::map<std::string, std::string>& has) {
  NodeSetPlacementsArgs args;
  args.sets.push_back({"set", api::LabelSelector::parse(selector).value()});
  const NodeSetPlacements plugin(args);
  return plugin.labels_to_join("set", *NodeSample{.name = "n", .labels = has}.make());
}

TEST(NodeSetPlacements, NamesTheLabelsThatANodeLacksForASet) {
  EXPECT_EQ(labels_to_join("a=1,b=1", {{"b", "1"}}), (Labels{{"a", "1"}}));
  EXPECT_EQ(labels_to_join("a=1,b=1", {{"a", "2"}}), (Labels{{"a", "1"}, {"b", "1"}}));
  EXPECT_EQ(labels_to_join("a in (1,2)", {}), (Labels{{"a", "1"}}));
  EXPECT_EQ(labels_to_join("a", {}), (Labels{{"a", "true"}}));
  EXPECT_EQ(labels_to_join("a=1", {{"a", "1"}}), Labels{}) << "it is in the set";
  EXPECT_EQ(labels_to_join("!b,a=1", {{"b", "1"}}), std::nullopt);
  EXPECT_EQ(labels_to_join("a=1,a!=1", {}), std::nullopt)
      << "one requirement asks for what the other forbids";
}

TEST(NodeSetPlacements, NamesNoLabelsWhereThatWouldBeAGuess) {
  EXPECT_EQ(labels_to_join("a>1", {{"a", "1"}}), std::nullopt);
  EXPECT_EQ(labels_to_join("a>1", {{"a", "2"}}), Labels{});
  EXPECT_EQ(labels_to_join("a!=1", {{"a", "1"}}), std::nullopt);
  EXPECT_EQ(labels_to_join("a!=1", {{"a", "2"}}), Labels{});
  EXPECT_EQ(labels_to_join("a notin (1,2)", {{"a", "2"}}), std::nullopt);
  EXPECT_EQ(labels_to_join("a==1", {}), (Labels{{"a", "1"}}));
  const NodeSetPlacements plugin({{{"set", api::LabelSelector::parse("a=1").value()}}});
  EXPECT_EQ(plugin.labels_to_join("other", *NodeSample{.name = "n"}.make()), std::nullopt)
      << "there is no such set";
}

TEST(NodeSetPlacements, ANodeIsInEachSetThatChoosesIt) {
  const NodeSetPlacements plugin({{{"fast", api::LabelSelector::parse("disk=ssd").value()},
                                   {"large", api::LabelSelector::parse("size").value()},
                                   {"empty", api::LabelSelector::parse("disk=tape").value()}}});
  Cluster cluster;
  struct Case {
    const char* name;
    std::map<std::string, std::string> labels;
    PlacementColumn::List want;
  };
  const Case cases[] = {{"d", {{"disk", "ssd"}, {"size", "l"}}, {0, 1}},
                        {"c", {{"size", "m"}}, {1}},
                        {"b", {{"disk", "ssd"}}, {0}},
                        {"a", {{"disk", "hdd"}}, {}}};
  for (const Case& c : cases)
    cluster.set_node(NodeSample{.name = c.name, .labels = c.labels}.make());
  const PlacementColumn column = plugin.generate("", cluster);
  EXPECT_EQ(column.names(), (std::vector<std::string>{"fast", "large", "empty"}));
  for (const Case& c : cases) {
    NodeId node{};
    ASSERT_TRUE(cluster.find_node(c.name, node));
    EXPECT_EQ(column.at(node), c.want) << c.name;
  }
}

TEST(NodeSetPlacements, TakesRootsAndLeavesTheirChildrenToThem) {
  const NodeSetPlacements plugin({{{"set", api::LabelSelector::parse("a=1").value()}}});
  GroupSpec group;
  EXPECT_FALSE(plugin.placements_of(group).empty());
  group.parent = "root";
  EXPECT_EQ(plugin.placements_of(group), "");
  EXPECT_EQ(NodeSetPlacements({}).placements_of(GroupSpec{}), "") << "there are no sets";
}

}  // namespace
}  // namespace muster::scheduler
