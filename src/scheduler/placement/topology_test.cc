#include "scheduler/placement/topology.h"

#include <gtest/gtest.h>

#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

class TopologyTest : public ::testing::Test {
 protected:
  void node(const std::string& name, std::map<std::string, std::string> labels) {
    cluster_.set_node(NodeSample{.name = name, .labels = std::move(labels)}.make());
  }
  std::vector<std::string> names(const Topology& topology, const Domain& domain) const {
    std::vector<std::string> names;
    for (const CellId cell : domain.cells)
      for (const NodeId id : topology.nodes(cell)) names.push_back(cluster_.node_name(id));
    return names;
  }

  using Names = std::vector<std::string>;
  Cluster cluster_;
};

TEST_F(TopologyTest, WithoutKeysAllNodesAreOneCell) {
  node("b", {});
  node("a", {{"rack", "r1"}});
  const Topology topology(cluster_, {});
  EXPECT_EQ(topology.cell_count(), 1u);
  EXPECT_EQ(names(topology, topology.everywhere()), (Names{"a", "b"}));
  EXPECT_EQ(topology.everywhere().name, "");
}

TEST_F(TopologyTest, DomainsComeByNameWhateverTheOrderOfNodes) {
  node("n3", {{"rack", "r1"}});
  node("n1", {{"rack", "r2"}});
  node("n2", {{"rack", "r1"}});
  const Topology topology(cluster_, {"rack"});
  const auto racks = topology.split(topology.everywhere(), 0);
  ASSERT_EQ(racks.size(), 2u);
  EXPECT_EQ(racks[0].name, "r1");
  EXPECT_EQ(names(topology, racks[0]), (Names{"n2", "n3"}));
  EXPECT_EQ(topology.node_count(racks[0]), 2u);
  EXPECT_EQ(racks[1].name, "r2");
}

TEST_F(TopologyTest, DomainsComeByNameWhateverValueWasSeenFirst) {
  node("n1", {{"rack", "r3"}});
  node("n2", {{"rack", "r1"}});
  node("n3", {{"rack", "r2"}});
  const Topology topology(cluster_, {"rack"});
  Names racks;
  for (const Domain& rack : topology.split(topology.everywhere(), 0)) racks.emplace_back(rack.name);
  EXPECT_EQ(racks, (Names{"r1", "r2", "r3"}));
}

TEST_F(TopologyTest, NodesWithoutTheLabelAreInNoDomain) {
  node("n1", {{"rack", "r1"}});
  node("n2", {});
  const Topology topology(cluster_, {"rack"});
  const auto racks = topology.split(topology.everywhere(), 0);
  ASSERT_EQ(racks.size(), 1u);
  EXPECT_EQ(names(topology, racks[0]), (Names{"n1"}));
  EXPECT_EQ(topology.node_count(topology.everywhere()), 2u);
}

TEST_F(TopologyTest, EqualRackNamesInTwoBlocksStayApartInsideABlock) {
  node("x1", {{"block", "x"}, {"rack", "r1"}});
  node("x2", {{"block", "x"}, {"rack", "r2"}});
  node("y1", {{"block", "y"}, {"rack", "r1"}});
  const Topology topology(cluster_, {"block", "rack"});
  const auto blocks = topology.split(topology.everywhere(), 0);
  ASSERT_EQ(blocks.size(), 2u);
  const auto in_x = topology.split(blocks[0], 1);
  ASSERT_EQ(in_x.size(), 2u);
  EXPECT_EQ(names(topology, in_x[0]), (Names{"x1"}));
  const auto in_y = topology.split(blocks[1], 1);
  ASSERT_EQ(in_y.size(), 1u);
  EXPECT_EQ(names(topology, in_y[0]), (Names{"y1"}));
  // A group that keeps to a rack anywhere sees the name, as upstream does.
  EXPECT_EQ(names(topology, topology.split(topology.everywhere(), 1)[0]), (Names{"x1", "y1"}));
}

TEST_F(TopologyTest, IsKeptUntilNodesOrLabelsChange) {
  node("n1", {{"rack", "r1"}});
  const Topology* first = &Topology::of(cluster_, {"rack"});
  EXPECT_EQ(&Topology::of(cluster_, {"rack"}), first);
  cluster_.set_pod(PodSample{.name = "p", .cpu = "1", .node_name = "n1"}.make());
  EXPECT_EQ(&Topology::of(cluster_, {"rack"}), first) << "a pod changes no topology";
  node("n1", {{"rack", "r2"}});
  const Topology& second = Topology::of(cluster_, {"rack"});
  EXPECT_EQ(second.split(second.everywhere(), 0)[0].name, "r2");
  node("n2", {{"rack", "r3"}});
  const Topology& third = Topology::of(cluster_, {"rack"});
  EXPECT_EQ(third.split(third.everywhere(), 0).size(), 2u);
  cluster_.remove_node("n1");
  const Topology& fourth = Topology::of(cluster_, {"rack"});
  EXPECT_EQ(fourth.split(fourth.everywhere(), 0).size(), 1u);
}

// Groups may name any label: the columns of those that nobody uses lately are not kept.
TEST_F(TopologyTest, LabelsGoWithTheTopologiesThatUseThem) {
  node("n1", {{"rack", "r1"}});
  for (int i = 0; i < 100; ++i) {
    const Topology& topology = Topology::of(cluster_, {"rack", "key" + std::to_string(i)});
    EXPECT_EQ(topology.split(topology.everywhere(), 0).size(), 1u);
    EXPECT_EQ(topology.split(topology.everywhere(), 1).size(), 0u);
  }
  EXPECT_EQ(cluster_.label("key99").names.size(), 1u);
  EXPECT_EQ(cluster_.label("rack").names.size(), 2u);
  EXPECT_DEATH(cluster_.label("key3"), "not watched");
}

}  // namespace
}  // namespace muster::scheduler
