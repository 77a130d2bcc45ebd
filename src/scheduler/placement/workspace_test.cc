#include "scheduler/placement/workspace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

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

// --- what it says of domains, while pods move ---

class WorkspaceTest : public ::testing::Test {
 protected:
  using Totals = Workspace::Totals;

  // Two racks; the second node of each holds more than it has.
  WorkspaceTest() {
    for (const std::string name : {"a0", "a1", "b0", "b1"})
      cluster_.set_node(NodeSample{.name = name,
                                   .cpu = "6",
                                   .pods = 5,
                                   .labels = {{"rack", name.substr(0, 1)}},
                                   .extended = {{"example.com/gpu", "4"}}}
                            .make());
    for (const std::string name : {"a", "b"}) {
      run(name + "-few", name + "0", "1", "1");
      run(name + "-many", name + "1", "5", "3");
      run(name + "-more", name + "1", "2", "2");
    }
  }
  void run(const std::string& name, const std::string& node, const std::string& cpu,
           const std::string& gpu) {
    running_.push_back(
        {PodSample{
             .name = name, .cpu = cpu, .extended = {{"example.com/gpu", gpu}}, .node_name = node}
             .make(),
         node});
    cluster_.set_pod(running_.back().pod);
  }
  NodeId node(const std::string& name) const {
    NodeId node{};
    EXPECT_TRUE(cluster_.find_node(name, node));
    return node;
  }
  // As the columns are now, with all moves.
  Totals counted(const Workspace& workspace, const Domain& domain) const {
    const auto above = [](std::int64_t amount) { return std::max<std::int64_t>(0, amount); };
    Totals totals;
    totals.amounts.resize(workspace.tracked().size());
    for (const CellId cell : domain.cells)
      for (const NodeId node : workspace.topology().nodes(cell)) {
        totals.slots += above(cluster_.pod_slots()[node] - cluster_.pods_on()[node]);
        for (std::size_t t = 0; t < totals.amounts.size(); ++t) {
          const ResourceColumns& columns = cluster_.resource(workspace.tracked()[t]);
          totals.amounts[t].free += above(columns.allocatable[node] - columns.requested[node]);
          totals.amounts[t].allocatable += columns.allocatable[node];
          totals.amounts[t].used += t == 0   ? cluster_.nonzero_cpu()[node]
                                    : t == 1 ? cluster_.nonzero_memory()[node]
                                             : columns.requested[node];
        }
      }
    return totals;
  }
  // That totals and caps of every domain are what the columns and the filters say now.
  void expect_true(Workspace& workspace, const char* when) {
    std::vector<Domain> domains{workspace.topology().everywhere()};
    for (const Domain& rack : workspace.topology().split(domains[0], 0)) domains.push_back(rack);
    for (const Domain& domain : domains) {
      const Totals want = counted(workspace, domain);
      const Totals totals = workspace.totals(domain);
      EXPECT_EQ(totals.slots, want.slots) << when << " in " << domain.name;
      EXPECT_EQ(totals.amounts, want.amounts) << when << " in " << domain.name;
      for (std::size_t c = 0; c < workspace.class_count(); ++c) {
        std::int64_t sum = 0;
        for (const CellId cell : domain.cells)
          for (const NodeId node : workspace.topology().nodes(cell)) {
            const std::int32_t cap = workspace.standing(c).cap_now(node);
            EXPECT_EQ(workspace.cap(c, node), cap) << when;
            sum += cap;
          }
        EXPECT_EQ(workspace.cap_sum(c, domain), sum) << when << " in " << domain.name;
      }
    }
  }
  static Group any_group() {
    return sample_leaf("g", 1,
                       {{.name = "x", .cpu = "1", .extended = {{"example.com/gpu", "1"}}},
                        {.name = "y", .memory = "1Gi"},
                        {.name = "z", .cpu = "2", .memory = "2Gi"}},
                       "rack");
  }

  struct Running {
    api::ObjectPtr pod;
    std::string node;
  };
  Cluster cluster_;
  Profile profile_ = default_profile();
  std::vector<Running> running_;
};

TEST_F(WorkspaceTest, KnowsWhatEachClassWantsOfWhatIsTracked) {
  const GroupTree tree(any_group(), cluster_, Standings::of(cluster_, profile_));
  const Workspace workspace(cluster_, *tree.topology, tree.standings);
  ASSERT_EQ(workspace.tracked().size(), 3U) << "CPU, memory, and what somebody asks for";
  EXPECT_EQ(workspace.tracked()[0], ResourceId::Cpu);
  EXPECT_EQ(workspace.tracked()[1], ResourceId::Memory);
  EXPECT_EQ(cluster_.resource(workspace.tracked()[2]).name, "example.com/gpu");
  constexpr std::int64_t kMi = std::int64_t{1} << 20;
  const std::int64_t wanted[3][3] = {{1000, 0, 1}, {0, 1024 * kMi, 0}, {2000, 2048 * kMi, 0}};
  const std::int64_t scored[3][3] = {
      {1000, 200 * kMi, 1}, {100, 1024 * kMi, 0}, {2000, 2048 * kMi, 0}};
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t t = 0; t < 3; ++t) {
      EXPECT_EQ(workspace.wanted(c, t), wanted[c][t]) << c << " " << t;
      EXPECT_EQ(workspace.scored(c, t), scored[c][t]) << c << " " << t;
    }
}

TEST_F(WorkspaceTest, AllItSaysIsTrueAfterEveryMoveAndEveryUndoing) {
  const GroupTree tree(any_group(), cluster_, Standings::of(cluster_, profile_));
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const bool removes = seed % 2 == 0;
    std::mt19937 random(seed);
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    expect_true(workspace, "at first");
    std::vector<Running> left = running_;
    std::vector<std::unique_ptr<Draft::Checkpoint>> undo;
    std::vector<std::vector<Running>> left_before;
    for (int step = 0; step < 40; ++step) {
      undo.push_back(std::make_unique<Draft::Checkpoint>(workspace.draft()));
      left_before.push_back(left);
      if (removes && !left.empty() && random() % 3 == 0) {
        const std::size_t which = random() % left.size();
        workspace.draft().remove(cluster_.class_of(left[which].pod), node(left[which].node), 9);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(which));
      } else if (const auto at = cluster_.node_at(random() % 4);
                 workspace.cap(random() % 3, at) > 0) {
        for (std::size_t c = 0; c < 3; ++c)
          if (workspace.cap(c, at) > 0) workspace.place(c, at, 0);
      }
      if (random() % 2 == 0) expect_true(workspace, "after moves");
      for (std::size_t back = random() % 3; back > 0 && !undo.empty(); --back) {
        undo.pop_back();
        left = left_before.back();
        left_before.pop_back();
      }
      expect_true(workspace, "after some were undone");
    }
    while (!undo.empty()) undo.pop_back();
    expect_true(workspace, "in the end");
  }
}

TEST_F(ArenaTest, SpreadPodsGoTheSameWayInTheWholeClusterAndInADomain) {
  for (const auto& [name, rack] :
       std::map<std::string, std::string>{{"a", "1"}, {"b", "1"}, {"c", "2"}})
    cluster_.set_node(
        NodeSample{.name = name, .cpu = "4", .labels = {{"zone", "z"}, {"rack", rack}}}.make());
  const Group gang =
      sample_leaf("g", 1,
                  {{.name = "p",
                    .cpu = "1",
                    .spec = R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"rack",
                "whenUnsatisfiable":"DoNotSchedule",
                "labelSelector":{"matchLabels":{"app":"x"}}}])",
                    .labels = {{"app", "x"}}}},
                  "zone");
  // Full for anybody, in no zone, and so a cell of its own.
  cluster_.set_node(NodeSample{.name = "d", .cpu = "0", .labels = {{"rack", "1"}}}.make());
  const GroupTree tree(gang, cluster_, Standings::of(cluster_, profile_));
  ASSERT_TRUE(tree.standings[0]->follows_moves());
  const Domain everywhere = tree.topology->everywhere();
  const auto filled = [&](const Domain& domain) {
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Arena arena(workspace, domain);
    return fill(workspace, arena);
  };
  const std::string anywhere = filled(everywhere);
  EXPECT_EQ(filled(tree.topology->split(everywhere, 0)[0]), anywhere);
  EXPECT_EQ(anywhere.size(), 9U) << "four in the rack of c, one more in the other";
  EXPECT_EQ(filled(everywhere), anywhere) << "nothing is left of it";
}

TEST_F(ArenaTest, KnowsItsNodesAndWhoFitsThere) {
  cluster_.set_node(NodeSample{.name = "d", .cpu = "1"}.make());
  const GroupTree tree(sample_leaf("g", 1, {{.name = "p", .cpu = "2"}}, "zone"), cluster_,
                       Standings::of(cluster_, profile_));
  const Domain everywhere = tree.topology->everywhere();
  const auto node = [&](const char* name) {
    NodeId id{};
    EXPECT_TRUE(cluster_.find_node(name, id));
    return id;
  };
  for (const bool is_whole : {true, false}) {
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Arena arena(workspace, is_whole ? everywhere : tree.topology->split(everywhere, 0)[0]);
    EXPECT_EQ(arena.contains(node("d")), is_whole);
    EXPECT_TRUE(arena.contains(node("a")));
    EXPECT_FALSE(arena.is_feasible(0, node("d")));
    EXPECT_TRUE(arena.is_feasible(0, node("a")));
    workspace.place(0, node("a"), 0);
    EXPECT_FALSE(arena.is_feasible(0, node("a"))) << "it is full by now";
    EXPECT_TRUE(arena.is_feasible(0, node("b")));
    EXPECT_EQ(arena.nodes().size(), is_whole ? 4U : 3U);
    EXPECT_TRUE(workspace.is_touched(node("a")));
    EXPECT_FALSE(workspace.is_touched(node("b")));
  }
}

}  // namespace
}  // namespace muster::scheduler
