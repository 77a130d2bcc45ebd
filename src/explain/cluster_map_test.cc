#include "explain/cluster_map.h"

#include <gtest/gtest.h>

#include "explain/explain_testing.h"

namespace muster::explain {
namespace {

MapOptions racks() { return {.resource = "", .levels = {"block", "rack"}}; }

std::string draw(const Yard& yard, const MapStyle& style = {}) {
  return render_map(map_of(yard.objects, racks()), style);
}

TEST(ClusterMap, ShowsWhoIsWhere) {
  Yard yard;
  yard.rack("r1", 2, 4).rack("r2", 2, 4);
  yard.gang({.name = "train", .minimum = 2}, 2, "2", "r1-0");
  yard.gang({.name = "serve", .minimum = 1}, 1, "2", "r1-1");
  yard.add_pod({.name = "lone", .cpu = "1", .node_name = "r1-1"});
  yard.add_pod({.name = "waits", .cpu = "1"});
  EXPECT_EQ(draw(yard),
            "4 nodes; cpu: 7 of 16 used, 9 free, 8 of them on 2 empty nodes\n"
            "1 pod waits for a node: `muster explain` says why\n"
            "\n"
            "block b1    7/16\n"
            "├─ rack r1   7/8  AAAA BB+.\n"
            "└─ rack r2   0/8  .... ....\n"
            "\n"
            "A podgroup default/train  2 pods, 4 cpu on 1 node\n"
            "B podgroup default/serve  1 pod, 2 cpu on 1 node\n"
            "+ pods outside groups     1 pod, 1 cpu on 1 node\n"
            ". free  x closed to new pods  - has none  % partly, # wholly used by several\n");
}

TEST(ClusterMap, OptionsThatMakeNoSenseHereAreNamed) {
  const Yard yard = Yard().rack("r1", 1, 4);
  const auto wrong = [&](const MapOptions& options, std::string_view depth = "") {
    return wrong_option(yard.objects, options, depth);
  };
  EXPECT_EQ(wrong(racks(), "rack"), "");
  EXPECT_EQ(wrong(racks(), "node"), "");
  EXPECT_EQ(wrong(racks(), "racks"),
            "--depth racks: there is no such level; there are block, rack, node");
  EXPECT_EQ(wrong({.resource = "memori"}),
            "--resource memori: no node has it; did you mean memory?");
  EXPECT_EQ(wrong({.resource = "", .levels = {"rock"}}),
            "--levels rock: no node has the label; did you mean rack?");
}

TEST(ClusterMap, ATreeIsOneTenant) {
  Yard yard;
  yard.rack("r1", 1, 4);
  yard.composite({.name = "all", .minimum = 2});
  yard.gang({.name = "a", .minimum = 1, .parent = "all"}, 1, "1", "r1-0");
  yard.gang({.name = "b", .minimum = 1, .parent = "all"}, 1, "1", "r1-0");
  const ClusterMap map = map_of(yard.objects, racks());
  ASSERT_EQ(map.tenants.size(), 1u);
  EXPECT_EQ(map.tenants[0].name, "compositepodgroup default/all");
  EXPECT_EQ(map.tenants[0].pods, 2);
}

TEST(ClusterMap, ANodeThatIsNotKnownToBeReadyIsClosed) {
  for (const std::string ready : {"True", "False", "Unknown"}) {
    Yard yard;
    yard.add_node(
        {.name = "n", .status = R"("conditions":[{"type":"Ready","status":")" + ready + "\"}]"});
    const ClusterMap map = map_of(yard.objects, racks());
    ASSERT_EQ(map.all.nodes.size(), 1u);
    EXPECT_EQ(map.all.nodes[0].closed, ready != "True") << ready;
    EXPECT_EQ(map.empty_nodes, ready == "True" ? 1 : 0) << ready;
  }
}

TEST(ClusterMap, RacksThatAreAllFreeShareALine) {
  Yard yard;
  for (int i = 1; i <= 12; ++i) yard.rack(fmt::format("r{}", i), 2, 4, i == 5 ? 1 : 0);
  const std::string text = draw(yard);
  EXPECT_NE(text.find("rack r1 … r4   0/32  4 racks, all free\n"), std::string::npos) << text;
  EXPECT_NE(text.find("rack r6 … r12"), std::string::npos) << text;
}

TEST(ClusterMap, ManyRacksAreFoldedToTheHeight) {
  Yard yard;
  for (int block = 1; block <= 5; ++block)
    for (int rack = 1; rack <= 20; ++rack)
      yard.rack(fmt::format("b{}r{}", block, rack), 2, 4, rack % 2, fmt::format("b{}", block));
  const std::string text = draw(yard, {.width = 100, .height = 30});
  EXPECT_LE(std::ranges::count(text, '\n'), 30) << text;
  EXPECT_NE(text.find("block b5"), std::string::npos) << text;
  EXPECT_NE(text.find("(folded: --depth rack shows more)"), std::string::npos) << text;
  const std::string whole = draw(yard, {.width = 100, .height = 30, .depth = "rack"});
  EXPECT_NE(whole.find("rack b5r20"), std::string::npos) << whole;
}

TEST(ClusterMap, WholeBlocksThatAreFreeAreFoldedBeforeRacksAreLeftOut) {
  Yard yard;
  for (int block = 1; block <= 6; ++block)
    for (int rack = 1; rack <= 4; ++rack)
      yard.rack(fmt::format("b{}r{}", block, rack), 1, 4, block == 2 ? 1 : 0,
                fmt::format("b{}", block));
  const std::string text = draw(yard, {.width = 100, .height = 16});
  EXPECT_NE(text.find("└─ rack b2r4"), std::string::npos) << text;
  EXPECT_NE(text.find("block b1 "), std::string::npos) << text;
  EXPECT_NE(text.find("block b3 … b6  0/64  4 blocks, all free\n"), std::string::npos) << text;
}

TEST(ClusterMap, ANodePerLineOnRequest) {
  Yard yard;
  yard.rack("r1", 2, 4);
  EXPECT_NE(draw(yard, {.depth = "node"}).find("   └─ r1-1"), std::string::npos);
}

TEST(ClusterMap, WithoutTopologyLabelsThereIsOneLine) {
  Yard yard;
  yard.rack("r1", 3, 4);
  const std::string text =
      render_map(map_of(yard.objects, {.resource = "", .levels = {"no/such"}}), {});
  EXPECT_NE(text.find("all nodes  0/12  .... .... ....\n"), std::string::npos) << text;
}

TEST(ClusterMap, ColoursOnlyWhenAskedFor) {
  Yard yard;
  yard.rack("r1", 1, 4).gang({.name = "train", .minimum = 1}, 1, "4", "r1-0");
  EXPECT_EQ(draw(yard).find('\033'), std::string::npos);
  EXPECT_NE(draw(yard, {.colours = true}).find("\033[30;44mA\033[0m"), std::string::npos);
}

TEST(ClusterMap, NamesAreInTheOrderOfTheirNumbers) {
  EXPECT_TRUE(natural_less("r2", "r10"));
  EXPECT_FALSE(natural_less("r10", "r2"));
  EXPECT_TRUE(natural_less("r2-n9", "r2-n10"));
  EXPECT_TRUE(natural_less("a", "b"));
  EXPECT_FALSE(natural_less("r1", "r1"));
  EXPECT_NE(natural_less("r01", "r1"), natural_less("r1", "r01"));
}

TEST(ClusterMap, NoNodes) { EXPECT_EQ(draw(Yard{}), "There are no nodes.\n"); }

}  // namespace
}  // namespace muster::explain
