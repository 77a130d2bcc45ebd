#include "scheduler/plugins/node_set_placements.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

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

}  // namespace
}  // namespace muster::scheduler
