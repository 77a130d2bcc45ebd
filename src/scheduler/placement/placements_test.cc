#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "scheduler/framework/profiles.h"
#include "scheduler/placement/group_testing.h"
#include "scheduler/placement/placements_testing.h"
#include "scheduler/placement/placer.h"
#include "scheduler/plugins/default_profile.h"

// Domains that come from plugins.
namespace muster::scheduler {
namespace {

GeneratedKey first_key(const std::vector<Placements>& generated) {
  GeneratedKey key;
  for (const Placements& placements : generated)
    key.parts.push_back(
        {std::make_shared<const GivenPlacements>(placements), std::string(GivenPlacements::kRoot)});
  return key;
}

Placements domains_of(const Topology& topology, const Domain& within, std::size_t key,
                      const Cluster& cluster) {
  Placements domains;
  std::string last;
  for (const Domain& domain : topology.split(within, key)) {
    RC_ASSERT(last < domain.name);
    last = domain.name;
    for (const CellId cell : domain.cells)
      for (const NodeId node : topology.nodes(cell))
        RC_ASSERT(domains[std::string(domain.name)].insert(cluster.node_name(node)).second);
  }
  return domains;
}

// What a reader of the rules would do: every choice of one placement of each plugin, and the nodes
// that are in all of them.
Placements naive(const std::vector<Placements>& generated, const Names& within) {
  Placements joined{{"", within}};
  for (std::size_t i = 0; i < generated.size(); ++i) {
    Placements next;
    for (const auto& [name, nodes] : joined)
      for (const auto& [other, also] : generated[i])
        for (const std::string& node : nodes)
          if (also.contains(node))
            next[i == 0 ? other : fmt::format("{}/{}", name, other)].insert(node);
    joined = std::move(next);
  }
  return joined;
}

RC_GTEST_PROP(Placements, AreWhatANaiveReaderExpects, ()) {
  Cluster cluster;
  const int nodes = *rc::gen::inRange(1, 9);
  std::map<std::string, Names> racks;
  Names everywhere;
  for (int i = 0; i < nodes; ++i) {
    const std::string name = fmt::format("n{}", i);
    const std::string rack = fmt::format("r{}", *rc::gen::inRange(0, 3));
    cluster.set_node(NodeSample{.name = name, .labels = {{"rack", rack}}}.make());
    racks[rack].insert(name);
    everywhere.insert(name);
  }
  std::vector<Placements> generated(static_cast<std::size_t>(*rc::gen::inRange(1, 4)));
  for (Placements& placements : generated)
    for (int p = *rc::gen::inRange(1, 4); p > 0; --p)
      for (const std::string& node : everywhere)
        if (*rc::gen::arbitrary<bool>()) placements[fmt::format("p{}", p)].insert(node);

  const std::vector<GeneratedKey> keys{first_key(generated)};
  const Topology topology(cluster, {"all", "rack"}, keys);
  RC_ASSERT(domains_of(topology, topology.everywhere(), 0, cluster) ==
            naive(generated, everywhere));
  for (const Domain& rack : topology.split(topology.everywhere(), 1))
    RC_ASSERT(domains_of(topology, rack, 0, cluster) ==
              naive(generated, racks.at(std::string(rack.name))));
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    Names expected;
    for (const auto& [name, here] : naive(generated, everywhere))
      if (here.contains(cluster.node_name(cluster.node_at(rank)))) expected.insert(name);
    const auto names = topology.placements_of(cluster.node_at(rank), 0);
    RC_ASSERT(Names(names.begin(), names.end()) == expected);
  }
}

TEST(Placements, NamesThatWouldBeEqualAreToldApart) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n"}.make());
  const std::vector<Placements> generated{{{"a", {"n"}}, {"a/b", {"n"}}},
                                          {{"b/c", {"n"}}, {"c", {"n"}}}};
  const std::vector<GeneratedKey> keys{first_key(generated)};
  const Topology topology(cluster, {"all"}, keys);
  Names names;
  for (const Domain& domain : topology.split(topology.everywhere(), 0))
    names.insert(std::string(domain.name));
  EXPECT_EQ(names, (Names{"a/b/c", "a/b/c~2", "a/b/b/c", "a/c"}));
}

class PlacementsTest : public ::testing::Test {
 protected:
  void node(const std::string& name, const std::string& rack, int cpu) {
    cluster_.set_node(
        NodeSample{.name = name, .cpu = std::to_string(cpu), .labels = {{"rack", rack}}}.make());
  }
  // Where the pods of the tree go; nothing if it has no place.
  Names place(Group root) {
    say_placements(profile_, root);
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Placer placer(tree, workspace, {});
    Names nodes;
    if (placer.run() != SearchResult::Feasible) return nodes;
    domain_ = placer.domain(0).name;
    for (const Draft::Move& move : workspace.draft().moves())
      nodes.insert(cluster_.node_name(move.node));
    return nodes;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
  std::string domain_;
};

TEST_F(PlacementsTest, AGangGoesIntoOnePlacementAlthoughTheyOverlap) {
  for (const char* name : {"a", "b", "c", "d"}) node(name, "r", 1);
  profile_.add<GivenPlacements>(1, Placements{{"left", {"a", "b"}}, {"right", {"b", "c", "d"}}});
  EXPECT_EQ(place(sample_leaf("g", 3, sample_pods("g", 3, "1"))), (Names{"b", "c", "d"}));
  EXPECT_EQ(domain_, "right");
  EXPECT_EQ(place(sample_leaf("g", 4, sample_pods("g", 4, "1"))), Names{});
}

TEST_F(PlacementsTest, PlacementsAndRacksAreIntersected) {
  for (const char* name : {"a", "b"}) node(name, "r1", 1);
  for (const char* name : {"c", "d"}) node(name, "r2", 1);
  profile_.add<GivenPlacements>(1, Placements{{"odd", {"a", "c", "d"}}});
  EXPECT_EQ(place(sample_leaf("g", 2, sample_pods("g", 2, "1"), "rack")), (Names{"c", "d"}));
  EXPECT_EQ(domain_, "r2/odd");
}

TEST_F(PlacementsTest, MembersThatRunHoldTheGroupToThePlacementsTheyShare) {
  for (const char* name : {"a", "b", "c"}) node(name, "r", 2);
  node("d", "r", 4);
  profile_.add<GivenPlacements>(
      1, Placements{{"x", {"a", "b", "c"}}, {"y", {"b", "d"}}, {"z", {"a", "c", "d"}}});
  const auto run = [this](const std::string& name, const std::string& node) {
    cluster_.set_pod(PodSample{.name = name, .cpu = "1", .node_name = node, .group = "g"}.make());
  };
  run("g8", "a");
  run("g9", "b");
  // Only x holds both a and b, so d is out of reach.
  EXPECT_EQ(place(sample_leaf("g", 4, sample_pods("g", 4, "1"))), (Names{"a", "b", "c"}));
  run("g7", "d");
  EXPECT_EQ(place(sample_leaf("g", 4, sample_pods("g", 1, "1"))), Names{});
}

// Two siblings with racks inside a placement that cuts through them: symmetry between racks must
// not hide the one that works.
TEST_F(PlacementsTest, ChildrenStayInsideThePlacementOfTheirRoot) {
  for (const char* name : {"a1", "a2", "a3"}) node(name, "a", 1);
  for (const char* name : {"b1", "b2", "b3"}) node(name, "b", 1);
  profile_.add<GivenPlacements>(
      1, Placements{{"p", {"a1", "b1", "b2"}}, {"q", {"a1", "a2", "b2", "b3"}}});
  std::vector<Group> children{sample_leaf("g1", 2, sample_pods("x", 2, "1"), "rack"),
                              sample_leaf("g2", 2, sample_pods("y", 2, "1"), "rack")};
  for (Group& child : children) child.parent = "tree";
  EXPECT_EQ(place(sample_composite("tree", 2, std::move(children))),
            (Names{"a1", "a2", "b2", "b3"}));
}

}  // namespace
}  // namespace muster::scheduler
