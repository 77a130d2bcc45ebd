#include "scheduler/placement/workspace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "scheduler/placement/group_testing.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

class ArenaTest : public ::testing::Test {
 protected:
  ArenaTest() {
    for (const auto& [name, cpu] :
         std::map<std::string, std::string>{{"a", "2"}, {"b", "4"}, {"c", "8"}})
      cluster_.set_node(NodeSample{.name = name, .cpu = cpu, .labels = {{"zone", "z"}}}.make());
  }
  std::map<std::string, std::uint64_t> keys(const Standing& standing) const {
    std::map<std::string, std::uint64_t> keys;
    cluster_.nodes().for_each(
        [&](NodeId node) { keys[cluster_.node_name(node)] = standing.key_kept(node); });
    return keys;
  }
  // Places pods of the first class until no node takes one more; where they went, in order.
  std::string fill(Workspace& workspace, Arena& arena) const {
    std::string nodes;
    while (const auto node = arena.pick(0)) {
      workspace.place(0, *node, 0);
      nodes += cluster_.node_name(*node);
    }
    return nodes;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

TEST_F(ArenaTest, GivesContestsOfTheWholeClusterBackAsTheyWere) {
  const GroupTree tree(sample_leaf("g", 1, {{.name = "p", .cpu = "1"}}), cluster_,
                       Standings::of(cluster_, profile_));
  const Standing& standing = *tree.standings[0];
  const auto before = keys(standing);
  Workspace workspace(cluster_, *tree.topology, tree.standings);
  {
    Arena arena(workspace, tree.topology->everywhere());
    ASSERT_TRUE(arena.pick(0));
    workspace.place(0, *arena.pick(0), 0);
    EXPECT_NE(keys(standing), before);
  }
  EXPECT_EQ(keys(standing), before) << "the move is still on the draft";
  {
    Arena arena(workspace, tree.topology->everywhere());
    EXPECT_EQ(fill(workspace, arena).size(), 13U) << "one of 14 has its place already";
  }
  EXPECT_EQ(keys(standing), before);
}

TEST_F(ArenaTest, SumsOfCellsFollowARowThatChangesAgainAndAgain) {
  const Group gang = sample_leaf("g", 1, {{.name = "p", .cpu = "1"}});
  const auto slots = [&] {
    const GroupTree tree(gang, cluster_, Standings::of(cluster_, profile_));
    const Workspace workspace(cluster_, *tree.topology, tree.standings);
    return workspace.totals(tree.topology->everywhere()).slots;
  };
  const std::int64_t before = slots();
  for (int i = 1; i <= 3; ++i) {
    cluster_.set_pod(PodSample{.name = fmt::format("r{}", i), .node_name = "c"}.make());
    EXPECT_EQ(slots(), before - i);
  }
}

TEST_F(ArenaTest, PicksTheSameInTheWholeClusterAsInADomainOfAllNodes) {
  const Group gang = sample_leaf("g", 1, {{.name = "p", .cpu = "1"}}, "zone");
  cluster_.set_node(
      NodeSample{.name = "d", .cpu = "1"}.make());  // in no zone, so a cell of its own
  const GroupTree tree(gang, cluster_, Standings::of(cluster_, profile_));
  const Domain everywhere = tree.topology->everywhere();
  std::string in_zone;
  std::string anywhere;
  {
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Arena arena(workspace, tree.topology->split(everywhere, 0)[0]);
    in_zone = fill(workspace, arena);
  }
  {
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Arena arena(workspace, everywhere);
    anywhere = fill(workspace, arena);
  }
  EXPECT_EQ(anywhere.size(), in_zone.size() + 1);
  std::erase(anywhere, 'd');
  EXPECT_EQ(anywhere, in_zone);
}

}  // namespace
}  // namespace muster::scheduler
