// How a map is drawn, from maps made up by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explain/cluster_map.h"

namespace muster::explain {
namespace {

// Tenant 0 is a tree, tenant 1 another, the last one are pods outside groups.
ClusterMap base() {
  ClusterMap map;
  map.resource = "nvidia.com/gpu";
  map.levels = {"topology.kubernetes.io/rack"};
  map.tenants = {{"podgroup default/a", 'A', 2, 9, 2},
                 {"podgroup default/b", 'B', 1, 1, 1},
                 {"", '+', 1, 0, 1}};
  return map;
}

Usage usage(std::int64_t total,
            const std::vector<std::pair<std::size_t, std::int64_t>>& by_tenant = {}) {
  Usage made;
  made.total = total;
  for (const auto& [tenant, amount] : by_tenant) made.add(tenant, amount);
  return made;
}

MapDomain domain(const std::string& name, std::vector<MapNode> nodes) {
  MapDomain made;
  made.name = name;
  made.node_count = static_cast<std::int64_t>(nodes.size());
  for (const MapNode& node : nodes) made.usage.add(node.usage);
  made.nodes = std::move(nodes);
  return made;
}

ClusterMap with(std::vector<MapDomain> domains) {
  ClusterMap map = base();
  for (const MapDomain& one : domains) {
    map.all.node_count += one.node_count;
    map.all.usage.add(one.usage);
  }
  map.all.domains = std::move(domains);
  return map;
}

// The lines between the head and the legend.
std::string body(const ClusterMap& map, const MapStyle& style = {}) {
  const std::string text = render_map(map, style);
  const std::size_t start = text.find("\n\n") + 2;
  return text.substr(start, text.rfind("\n\n") + 1 - start);
}

TEST(RenderMap, ANodeHasAMarkForEachUnit) {
  EXPECT_EQ(body(with({domain("r1", {{"n1", usage(4, {{0, 2}, {1, 1}})},
                                     {"n2", usage(2, {{0, 3}})},
                                     {"n3", usage(0)},
                                     {"n4", usage(2), true},
                                     {"n5", usage(3, {{2, 1}}), true}})})),
            "rack r1  7/11  AAB. AA - xx +xx\n");
}

TEST(RenderMap, ALargeNodeIsDrawnToScale) {
  EXPECT_EQ(body(with({domain("r1", {{"n1", usage(16, {{0, 16}})}})})),
            "rack r1  16/16  AAAAAAAAAAAAAAAA\n");
  EXPECT_EQ(body(with({domain("r1", {{"n1", usage(17, {{0, 9}, {1, 1}, {2, 0}})}})})),
            "rack r1  10/17  AAAAB...\n")
      << "whoever uses some has a mark";
  EXPECT_EQ(body(with({domain("r1", {{"n1", usage(100, {{0, 99}, {1, 1}})}})})),
            "rack r1  100/100  AAAAAAAB\n");
}

TEST(RenderMap, ANodeOfFewCoresIsAsWideAsItHas) {
  ClusterMap map = with({domain(
      "r1",
      {{"n1", usage(4000, {{0, 1500}})}, {"n2", usage(900)}, {"n3", usage(9000, {{1, 9000}})}})});
  map.resource = "cpu";
  map.unit = 1000;
  EXPECT_EQ(body(map), "rack r1  10/13  A... - BBBBBBBB\n");
}

TEST(RenderMap, ARackThatIsTooWideHasAMarkForEachNode) {
  std::vector<MapNode> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back({"n", usage(8)});
  nodes[1].usage = usage(8, {{0, 4}});
  nodes[2].usage = usage(8, {{0, 3}, {1, 3}});
  nodes[3].usage = usage(9, {{0, 3}, {1, 3}, {2, 3}});
  nodes.push_back({"closed", usage(8), true});
  nodes.push_back({"none", usage(0)});
  EXPECT_EQ(body(with({domain("r1", nodes)}), {.width = 80}), "rack r1  19/41  .A%#x-\n");
  EXPECT_EQ(body(with({domain("r1", {nodes[0], nodes[1]})}), {.width = 80}),
            "rack r1  4/16  ........ AAAA....\n");
  // 18 columns and a blank after each node are what is left of 52.
  EXPECT_EQ(body(with({domain("r1", {nodes[0], nodes[1]})}), {.width = 52}),
            "rack r1  4/16  ........ AAAA....\n");
  EXPECT_EQ(body(with({domain("r1", {nodes[0], nodes[1]})}), {.width = 51}), "rack r1  4/16  .A\n");
}

TEST(RenderMap, ARackOfVeryManyNodesIsABar) {
  std::vector<MapNode> nodes(11, {"n", usage(1)});
  nodes[0].usage = usage(1, {{0, 1}});
  EXPECT_EQ(body(with({domain("r1", nodes)}), {.width = 10}), "rack r1  1/11  A.........\n");
  nodes.pop_back();
  EXPECT_EQ(body(with({domain("r1", nodes)}), {.width = 10}), "rack r1  1/10  A.........\n")
      << "ten have a mark each";
  nodes[0].usage = usage(1);
  nodes[9].usage = usage(1, {{0, 1}});
  EXPECT_EQ(body(with({domain("r1", nodes)}), {.width = 10}), "rack r1  1/10  .........A\n");
}

TEST(RenderMap, ThreeRacksThatAreAlikeShareALine) {
  const auto rack = [](const char* name, std::vector<std::pair<std::size_t, std::int64_t>> used,
                       int nodes = 1) {
    std::vector<MapNode> all(static_cast<std::size_t>(nodes), {"n", usage(2)});
    all[0].usage = usage(2, std::move(used));
    return domain(name, all);
  };
  EXPECT_EQ(body(with({rack("r1", {}), rack("r2", {})})), "rack r1  0/2  ..\nrack r2  0/2  ..\n");
  EXPECT_EQ(body(with({rack("r1", {}), rack("r2", {}), rack("r3", {})})),
            "rack r1 … r3  0/6  3 racks, all free\n");
  EXPECT_EQ(body(with({rack("r1", {{0, 2}}), rack("r2", {{0, 2}}), rack("r3", {{0, 2}}),
                       rack("r4", {{1, 2}})})),
            "rack r1 … r3  6/6  3 racks, all A\nrack r4       2/2  BB\n");
  EXPECT_EQ(body(with({rack("r1", {{0, 1}}), rack("r2", {{0, 1}}), rack("r3", {{0, 1}})})),
            "rack r1  1/2  A.\nrack r2  1/2  A.\nrack r3  1/2  A.\n")
      << "none is wholly used";
  EXPECT_EQ(body(with({rack("r1", {{0, 1}, {1, 1}}), rack("r2", {{0, 1}, {1, 1}}),
                       rack("r3", {{0, 1}, {1, 1}})})),
            "rack r1  2/2  AB\nrack r2  2/2  AB\nrack r3  2/2  AB\n");
  EXPECT_EQ(body(with({rack("r1", {}), rack("r2", {}), rack("r3", {}, 2)})),
            "rack r1  0/2  ..\nrack r2  0/2  ..\nrack r3  0/4  .. ..\n")
      << "one has more nodes";
  EXPECT_EQ(body(with({rack("r1", {{2, 0}}), rack("r2", {{2, 0}}), rack("r3", {{2, 0}})})),
            "rack r1  0/2  ..\nrack r2  0/2  ..\nrack r3  0/2  ..\n")
      << "somebody is there";
}

TEST(RenderMap, TheHeadAndTheLegendCount) {
  ClusterMap map = with({domain("r1", {{"n1", usage(4, {{0, 2}})}, {"n2", usage(4)}})});
  map.waiting = 1;
  map.empty_nodes = 1;
  map.free_on_empty = 4;
  const std::string legend =
      "\nA podgroup default/a   2 pods, 9 gpu on 2 nodes\nB podgroup default/b   1 pod, 1 gpu on "
      "1 node\n"
      "+ pods outside groups  1 pod, 0 gpu on 1 node\n. free  x closed to new pods  - has none  % "
      "partly, # wholly used by several\n";
  EXPECT_EQ(render_map(map, {}),
            "2 nodes; nvidia.com/gpu: 2 of 8 used, 6 free, 4 of them on 1 empty node\n1 pod waits "
            "for a node: `muster explain` says why\n\n"
            "rack r1  2/8  AA.. ....\n" +
                legend);
  map.waiting = 2;
  map.empty_nodes = 0;
  EXPECT_EQ(render_map(map, {}),
            "2 nodes; nvidia.com/gpu: 2 of 8 used, 6 free\n2 pods wait for a node: `muster "
            "explain` says why\n\nrack r1  2/8  AA.. ....\n" +
                legend);
  map.waiting = 0;
  map.tenants.clear();
  map.all.usage = usage(1, {{0, 3}});
  map.all.domains.front().nodes.front().usage = usage(4);
  EXPECT_TRUE(render_map(map, {}).starts_with("2 nodes; nvidia.com/gpu: 3 of 1 used, 0 free\n\n"))
      << "more than there is";
}

TEST(RenderMap, TwentyFourTenantsAreNamed) {
  ClusterMap map = with({domain("r1", {{"n1", usage(1)}})});
  map.tenants.assign(24, {"podgroup default/x", 'A', 1, 1, 1});
  EXPECT_EQ(render_map(map, {}).find("more\n"), std::string::npos);
  map.tenants.push_back({"podgroup default/a-very-long-name", 'A', 1, 1, 1});
  EXPECT_NE(render_map(map, {}).find(
                "\nA podgroup default/x  1 pod, 1 gpu on 1 node\n  and 1 more\n. free"),
            std::string::npos)
      << render_map(map, {});
}

TEST(RenderMap, AMarkHasTheColourOfItsTenant) {
  ClusterMap map = with({domain("r1", {{"n1", usage(4, {{0, 1}, {1, 1}, {2, 1}})}})});
  EXPECT_EQ(body(map, {.colours = true}),
            "rack r1  3/4  \033[30;44mA\033[0m\033[30;42mB\033[0m\033[7m+\033[0m\033[2m.\033[0m\n");
}

// --- levels ---

MapDomain block(const std::string& name, std::vector<MapDomain> racks) {
  MapDomain made;
  made.name = name;
  for (const MapDomain& one : racks) {
    made.node_count += one.node_count;
    made.usage.add(one.usage);
  }
  made.domains = std::move(racks);
  return made;
}
// Two blocks: one with two racks, one of them in use, one with a free rack.
ClusterMap two_levels() {
  ClusterMap map =
      with({block("b1", {domain("r1", {{"n1", usage(2, {{0, 1}})}, {"n2", usage(2), true}}),
                         domain("r2", {{"n3", usage(2)}})}),
            block("b2", {domain("r3", {{"n4", usage(2)}})})});
  map.levels = {"example.com/block", "topology.kubernetes.io/rack"};
  return map;
}

TEST(RenderMap, TheLevelThatIsAskedForIsShown) {
  const std::string racks =
      "block b1    1/6\n├─ rack r1  1/4  A. xx\n└─ rack r2  0/2  ..\nblock b2    0/2\n└─ rack r3  "
      "0/2  ..\n";
  EXPECT_EQ(body(two_levels()), racks);
  EXPECT_EQ(body(two_levels(), {.depth = "rack"}), racks);
  EXPECT_EQ(body(two_levels(), {.depth = "topology.kubernetes.io/rack"}), racks);
  EXPECT_EQ(body(two_levels(), {.depth = "block"}), "block b1  1/6  %.\nblock b2  0/2  .\n");
  EXPECT_EQ(body(two_levels(), {.depth = "node"}),
            "block b1    1/6\n├─ rack r1  1/4\n│  ├─ n1    1/2  A.\n│  └─ n2    0/2  xx closed\n└─ "
            "rack r2  0/2\n   └─ n3    0/2  ..\n"
            "block b2    0/2\n└─ rack r3  0/2\n   └─ n4    0/2  ..\n");
}

// Nine lines are for the head, the legend and a prompt.
TEST(RenderMap, LevelsAreFoldedUntilTheMapFits) {
  const ClusterMap map = two_levels();
  const auto lines = [&](std::size_t height) {
    const std::string text = render_map(map, {.height = height});
    const std::size_t start = text.find("\n\n") + 2;
    return text.substr(start, text.find("\n\n", start) + 1 - start);
  };
  EXPECT_EQ(lines(14),
            "block b1    1/6\n├─ rack r1  1/4  A. xx\n└─ rack r2  0/2  ..\nblock b2    0/2\n└─ "
            "rack r3  0/2  ..\n");
  EXPECT_EQ(
      lines(13),
      "block b1    1/6\n├─ rack r1  1/4  A. xx\n└─ rack r2  0/2  ..\nblock b2    0/2  all free\n")
      << "a block that is free";
  EXPECT_EQ(lines(12), "block b1  1/6  %.\nblock b2  0/2  .\n(folded: --depth rack shows more)\n");
  EXPECT_EQ(lines(1), "block b1  1/6  %.\nblock b2  0/2  .\n(folded: --depth rack shows more)\n")
      << "no less than that";
}

TEST(RenderMap, WithoutLevelsAllNodesStandInOneLine) {
  ClusterMap map = base();
  map.levels = {};
  map.all = domain("", {{"n1", usage(1, {{1, 1}})}, {"n2", usage(2), true}});
  EXPECT_EQ(body(map), "all nodes  1/3  B xx\n");
  EXPECT_EQ(body(map, {.depth = "node"}), "all nodes  1/3  B xx\n");
}

}  // namespace
}  // namespace muster::explain
