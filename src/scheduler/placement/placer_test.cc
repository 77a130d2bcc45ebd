#include "scheduler/placement/placer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

using Names = std::set<std::string>;

class PlacerTest : public ::testing::Test {
 protected:
  void rack(const std::string& name, int count, int slots, int used = 0,
            const std::string& zone = "z") {
    add_sample_rack(cluster_, name, count, slots, used, zone);
  }
  void run(const std::string& name, const std::string& node, const std::string& cpu,
           const std::string& group, const std::string& status = "") {
    cluster_.set_pod(
        PodSample{.name = name, .cpu = cpu, .node_name = node, .group = group, .status = status}
            .make());
  }
  SearchResult place(const Group& root, PlacementOptions options = {}) {
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Placer placer(tree, workspace, options);
    const SearchResult answer = placer.run();
    steps_ = placer.steps();
    nodes_.clear();
    ready_.clear();
    unresolved_.clear();
    for (const Draft::Move& move : workspace.draft().moves())
      nodes_[tree.members[move.tag].pending->pod->meta().name] = cluster_.node_name(move.node);
    for (std::uint32_t id = 0; id < tree.items.size(); ++id) {
      if (placer.is_placed(id)) ready_.insert(tree.items[id].group->key.name);
      if (placer.is_unresolved(id)) unresolved_.insert(tree.items[id].group->key.name);
    }
    return answer;
  }
  Names racks_of(const std::string& prefix) const {
    Names racks;
    for (const auto& [pod, node] : nodes_)
      if (pod.starts_with(prefix)) racks.insert(node.substr(0, node.find('-')));
    return racks;
  }
  std::size_t count_of(const std::string& prefix) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        nodes_, [&](const auto& pod) { return pod.first.starts_with(prefix); }));
  }

  static constexpr PlacementOptions kUpstream{.mode = PlacementOptions::Mode::UpstreamOrder};
  Cluster cluster_;
  Profile profile_ = default_profile();
  std::map<std::string, std::string> nodes_;  // of the pods that were placed
  Names ready_;
  Names unresolved_;
  std::uint64_t steps_ = 0;
};

TEST_F(PlacerTest, AShareOfThePlacementsIsScored) {
  rack("a", 1, 2);
  rack("b", 1, 3);
  rack("c", 1, 4);
  const Group gang = sample_leaf("g", 2, sample_pods("p", 5, "1"), "rack");
  const auto rack_with = [&](std::optional<std::int32_t> percentage) {
    EXPECT_EQ(place(gang, {.placements_percentage = percentage}), SearchResult::Feasible);
    return *racks_of("p").begin();
  };
  EXPECT_EQ(rack_with(std::nullopt), "c") << "100 for full and 100 for the most pods";
  EXPECT_EQ(rack_with(100), "c");
  EXPECT_EQ(rack_with(70), "b") << "two of three";
  EXPECT_EQ(rack_with(1), "a") << "one at least";
  EXPECT_EQ(rack_with(0), "c") << "upstream's share: of three nodes all";
}

// The limitations L1-L6 and L36 of docs/kubernetes-behaviour.md: what upstream's order does, and
// what we do.

TEST_F(PlacerTest, L1PodOrderDoesNotDecide) {
  cluster_.set_node(NodeSample{.name = "n1", .cpu = "4"}.make());
  cluster_.set_node(NodeSample{.name = "n2", .cpu = "2"}.make());
  const Group gang = sample_leaf(
      "g", 3, {{.name = "s1", .cpu = "1"}, {.name = "s2", .cpu = "1"}, {.name = "b", .cpu = "4"}});
  EXPECT_EQ(place(gang, kUpstream), SearchResult::Unresolved);
  EXPECT_TRUE(nodes_.empty());
  ASSERT_EQ(place(gang), SearchResult::Feasible);
  EXPECT_EQ(nodes_, (std::map<std::string, std::string>{{"b", "n1"}, {"s1", "n2"}, {"s2", "n2"}}));
}

TEST_F(PlacerTest, L2SiblingsMakeRoomForEachOther) {
  rack("r1", 5, 10, 45);
  rack("r2", 1, 10, 6);
  const Group root = sample_composite("c", 2,
                                      {sample_leaf("g1", 3, sample_pods("x", 3, "1"), "rack"),
                                       sample_leaf("g2", 5, sample_pods("y", 5, "1"), "rack")});
  EXPECT_EQ(place(root, kUpstream), SearchResult::Unresolved);
  ASSERT_EQ(place(root), SearchResult::Feasible);
  EXPECT_EQ(racks_of("x"), Names{"r2"});
  EXPECT_EQ(racks_of("y"), Names{"r1"});
}

TEST_F(PlacerTest, L3MinimumsComeBeforeExtras) {
  rack("a", 1, 8);
  const Group root = sample_composite("c", 2,
                                      {sample_leaf("g1", 2, sample_pods("x", 6, "1")),
                                       sample_leaf("g2", 4, sample_pods("y", 4, "1"))});
  EXPECT_EQ(place(root, kUpstream), SearchResult::Unresolved);
  ASSERT_EQ(place(root), SearchResult::Feasible);
  EXPECT_EQ(count_of("x"), 4u);
  EXPECT_EQ(count_of("y"), 4u);
}

TEST_F(PlacerTest, L3HoldsAcrossNestedComposites) {
  rack("a", 1, 9);
  // The first leaf's extras would take what a cousin needs.
  const Group root = sample_composite(
      "root", 2,
      {sample_composite("left", 1, {sample_leaf("g1", 2, sample_pods("x", 9, "1"))}),
       sample_composite("right", 2,
                        {sample_leaf("g2", 3, sample_pods("y", 3, "1")),
                         sample_leaf("g3", 3, sample_pods("z", 4, "1"))})});
  EXPECT_EQ(place(root, kUpstream), SearchResult::Unresolved);
  ASSERT_EQ(place(root), SearchResult::Feasible);
  EXPECT_EQ(count_of("y"), 3u);
  EXPECT_GE(count_of("z"), 3u);
  EXPECT_GE(count_of("x"), 2u);
  EXPECT_EQ(nodes_.size(), 9u) << "and extras fill the rest";
}

TEST_F(PlacerTest, GroupsNobodyNeedsComeBeforeExtrasToo) {
  rack("a", 1, 8);
  // Two of three would do; the third fits beside their minimums, not beside their extras.
  const Group root = sample_composite("c", 2,
                                      {sample_leaf("g1", 1, sample_pods("x", 4, "1")),
                                       sample_leaf("g2", 5, sample_pods("y", 5, "1")),
                                       sample_leaf("g3", 2, sample_pods("z", 2, "1"))});
  ASSERT_EQ(place(root), SearchResult::Feasible);
  // Upstream's order meets the root's minimum by g1 and g3: that is the plan, and g2 is proven out.
  EXPECT_EQ(ready_, (Names{"c", "g1", "g3"}));
  EXPECT_TRUE(unresolved_.empty());
  const Group all = sample_composite("c", 3, root.children);
  ASSERT_EQ(place(all), SearchResult::Feasible);
  EXPECT_EQ(ready_, (Names{"c", "g1", "g2", "g3"}));
}

TEST_F(PlacerTest, L4DoomedSubtreesCostNothing) {
  rack("a", 10, 20);
  const Group root = sample_composite(
      "root", 1,
      {sample_composite(
           "c1", 2,
           {sample_leaf("p11", 100, sample_pods("x", 100, "1")), sample_leaf("p12", 10, {})}),
       sample_leaf("c2", 1, sample_pods("y", 1, "1"))});
  ASSERT_EQ(place(root), SearchResult::Feasible);
  EXPECT_EQ(nodes_.size(), 1u);
  EXPECT_LT(steps_, 5u);
}

TEST_F(PlacerTest, L5TheRackThatHoldsAllBeatsAFullerOne) {
  rack("a", 1, 100, 30);
  rack("b", 1, 20, 14);
  ASSERT_EQ(place(sample_leaf("g", 6, sample_pods("p", 10, "1"), "rack")), SearchResult::Feasible);
  EXPECT_EQ(racks_of("p"), Names{"a"});
  EXPECT_EQ(nodes_.size(), 10u);
}

TEST_F(PlacerTest, L36TheFirstRackThatHoldsAllEndsTheSearch) {
  for (int i = 0; i < 50; ++i) rack("r" + std::to_string(i), 2, 4, i % 3);
  ASSERT_EQ(place(sample_leaf("g", 4, sample_pods("p", 4, "1"), "rack")), SearchResult::Feasible);
  EXPECT_EQ(steps_, 4u) << "one step for each pod";
}

// The three answers.

TEST_F(PlacerTest, ANoByCountingTakesNoStep) {
  rack("a", 2, 4);
  rack("b", 2, 4);
  EXPECT_EQ(place(sample_leaf("g", 9, sample_pods("p", 9, "1"), "rack")), SearchResult::Infeasible);
  EXPECT_EQ(steps_, 0u);
}

TEST_F(PlacerTest, ANoBySearchHasLookedEverywhere) {
  // 12 of 13 CPUs are asked for, but only in pieces of 3, and a node of 5 leaves 2 over.
  for (const char* name : {"n1", "n2"})
    cluster_.set_node(NodeSample{.name = name, .cpu = "5"}.make());
  cluster_.set_node(NodeSample{.name = "n3", .cpu = "3"}.make());
  std::vector<PodSample> pods = sample_pods("b", 3, "3");
  pods.push_back({.name = "c", .cpu = "2"});
  EXPECT_EQ(place(sample_leaf("g", 4, pods)), SearchResult::Feasible);
  pods.push_back({.name = "d", .cpu = "2", .memory = "1Gi"});
  EXPECT_EQ(place(sample_leaf("g", 5, pods)), SearchResult::Feasible);
  pods[3].cpu = "1";
  pods[4].cpu = "3";
  EXPECT_EQ(place(sample_leaf("g", 5, pods)), SearchResult::Infeasible);
}

TEST_F(PlacerTest, AStopAtTheBudgetIsNotANo) {
  for (int i = 0; i < 6; ++i)
    cluster_.set_node(NodeSample{.name = "n" + std::to_string(i), .cpu = "10"}.make());
  // Small pods come first; spread by score, they leave no node to a big one.
  std::vector<PodSample> pods = sample_pods("s", 12, "2");
  for (const PodSample& pod : sample_pods("b", 3, "9")) pods.push_back(pod);
  const Group gang = sample_leaf("g", 15, pods);
  EXPECT_EQ(place(gang, {.steps_max = 3}), SearchResult::Unresolved);
  EXPECT_TRUE(nodes_.empty());
  EXPECT_EQ(place(gang), SearchResult::Feasible);
}

// B10: pods that are put on nodes only to compare domains are charged, and when the allowance is
// used up, the best of those that were looked at is taken.
TEST_F(PlacerTest, ComparingDomainsHasABudget) {
  for (int i = 0; i < 40; ++i) rack("r" + std::to_string(10 + i), 2, 8);
  std::vector<PodSample> pods = sample_pods("b", 8, "3");
  for (const PodSample& pod : sample_pods("s", 8, "2")) pods.push_back(pod);
  const Group basic = sample_leaf("g", 0, pods, "rack");  // a rack holds some of either
  EXPECT_EQ(place(basic), SearchResult::Feasible);
  EXPECT_GE(steps_, 40u * 16) << "all racks were compared";
  EXPECT_EQ(place(basic, {.steps_max = 0}), SearchResult::Feasible);
  EXPECT_LE(steps_, 18u * 16) << "each pod 16 times, to the end of the rack, and in the best";
  EXPECT_EQ(racks_of("").size(), 1u);
  EXPECT_FALSE(nodes_.empty());
}

TEST_F(PlacerTest, ManyAlikeAreRefutedQuickly) {
  // Ten groups of three in eleven racks with room for three, nine of them: no. Who is where does
  // not matter, so this is no matter of 11! ways.
  for (int i = 0; i < 11; ++i) rack("r" + std::to_string(10 + i), 2, 2, i < 9 ? 1 : 2);
  std::vector<Group> children;
  for (int i = 0; i < 10; ++i)
    children.push_back(sample_leaf("g" + std::to_string(i), 3,
                                   sample_pods("p" + std::to_string(i) + "-", 3, "1"), "rack"));
  EXPECT_EQ(place(sample_composite("c", 10, children)), SearchResult::Infeasible);
  EXPECT_LT(steps_, 200u);
  EXPECT_EQ(place(sample_composite("c", 9, children)), SearchResult::Feasible);
}

// Equal rooms are not equal domains if another group can tell them apart.
TEST_F(PlacerTest, RacksInDifferentZonesAreNotInterchangeable) {
  rack("a1", 1, 2, 0, "a");
  rack("a2", 1, 2, 0, "a");
  rack("b1", 1, 2, 0, "b");
  // Alone, g1 would fit into any rack; g2 needs both racks of zone a.
  const Group root = sample_composite("c", 2,
                                      {sample_leaf("g1", 2, sample_pods("x", 2, "1"), "rack"),
                                       sample_leaf("g2", 4, sample_pods("y", 4, "1"), "zone")});
  ASSERT_EQ(place(root), SearchResult::Feasible);
  EXPECT_EQ(racks_of("x"), Names{"b1"});
}

TEST_F(PlacerTest, RacksThatRunningMembersAreInAreNotInterchangeable) {
  rack("r1", 1, 2);
  rack("r2", 1, 2);
  run("m", "r1-0", "0", "g2");
  const Group root = sample_composite("c", 2,
                                      {sample_leaf("g1", 2, sample_pods("x", 2, "1"), "rack"),
                                       sample_leaf("g2", 2, sample_pods("y", 1, "2"), "rack")});
  ASSERT_EQ(place(root), SearchResult::Feasible);
  EXPECT_EQ(racks_of("x"), Names{"r2"});
  EXPECT_EQ(racks_of("y"), Names{"r1"});
}

// A tree whose minimums are met succeeds only by a new pod.

TEST_F(PlacerTest, ANewPodIsLookedForWhereverItMayBe) {
  rack("a", 1, 4, 4);
  cluster_.set_node(NodeSample{.name = "n1", .cpu = "4"}.make());
  cluster_.set_node(NodeSample{.name = "n2", .cpu = "2"}.make());
  run("m", "a-0", "0", "runs");
  // One of the two is enough and runs; upstream's order does not find the place of the other (L1).
  const Group root = sample_composite(
      "c", 1,
      {sample_leaf("runs", 1, {}),
       sample_leaf(
           "g", 3,
           {{.name = "s1", .cpu = "1"}, {.name = "s2", .cpu = "1"}, {.name = "b", .cpu = "4"}})});
  EXPECT_EQ(place(root, kUpstream), SearchResult::Unresolved);
  EXPECT_EQ(place(root), SearchResult::Feasible);
  EXPECT_EQ(nodes_.size(), 3u);
}

TEST_F(PlacerTest, NoNewPodNoSuccess) {
  rack("a", 1, 4, 4);
  run("m", "a-0", "0", "g");
  EXPECT_EQ(place(sample_leaf("g", 1, sample_pods("p", 2, "1"))), SearchResult::Infeasible);
}

TEST_F(PlacerTest, AFullRackDoesNotWinByBeingFull) {
  rack("a", 1, 4, 4);
  rack("b", 1, 4, 3);
  run("done", "a-0", "1", "g", R"("phase":"Succeeded")");
  // The minimum is met; rack a scores higher but takes no pod.
  ASSERT_EQ(place(sample_leaf("g", 1, sample_pods("p", 2, "1"), "rack")), SearchResult::Feasible);
  EXPECT_EQ(racks_of("p"), Names{"b"});
}

// Groups that upstream's order leaves out of a placed tree are searched for.
TEST_F(PlacerTest, WhoWasLeftOutMayJoin) {
  rack("a", 1, 3);
  cluster_.set_node(NodeSample{.name = "n1", .cpu = "4", .labels = {{"rack", "b"}}}.make());
  cluster_.set_node(NodeSample{.name = "n2", .cpu = "2", .labels = {{"rack", "b"}}}.make());
  const Group root = sample_composite(
      "c", 1,
      {sample_leaf("small", 3, sample_pods("x", 3, "1"), "rack"),
       sample_leaf(
           "big", 3,
           {{.name = "s1", .cpu = "1"}, {.name = "s2", .cpu = "1"}, {.name = "b", .cpu = "4"}},
           "rack")});
  ASSERT_EQ(place(root, kUpstream), SearchResult::Feasible);
  EXPECT_EQ(ready_, (Names{"c", "small"}));
  ASSERT_EQ(place(root), SearchResult::Feasible);
  EXPECT_EQ(ready_, (Names{"c", "small", "big"}));
  ASSERT_EQ(place(root, {.steps_max = 1}), SearchResult::Feasible);
  EXPECT_EQ(unresolved_, Names{"big"}) << "not found is not impossible";
  Group twin = root.children[1];
  twin.key.name = "twin";
  Group three = root;
  three.children.push_back(twin);
  ASSERT_EQ(place(three, {.steps_max = 1}), SearchResult::Feasible);
  EXPECT_EQ(unresolved_, (Names{"big", "twin"})) << "nor is what is like it";
}

// T3i: a member that was promised a node takes it if it is feasible, however good the others are.
TEST_F(PlacerTest, AMemberTakesItsNominatedNode) {
  rack("a", 3, 8);
  run("busy", "a-2", "6", "");
  const auto gang = [](const std::string& nominated) {
    return sample_leaf(
        "g", 2,
        {{.name = "p0", .cpu = "1", .nominated_node = nominated}, {.name = "p1", .cpu = "1"}});
  };
  ASSERT_EQ(place(gang("")), SearchResult::Feasible);
  EXPECT_EQ(nodes_["p0"], "a-0") << "the emptiest, then the first by name";
  ASSERT_EQ(place(gang("a-2")), SearchResult::Feasible);
  EXPECT_EQ(nodes_["p0"], "a-2");
  EXPECT_EQ(nodes_["p1"], "a-0");
  run("busier", "a-2", "2", "");
  ASSERT_EQ(place(gang("a-2")), SearchResult::Feasible);
  EXPECT_EQ(nodes_["p0"], "a-0") << "it is full";
}

// T3i: a search for a new pod that stopped at the budget has not said no.
TEST_F(PlacerTest, AStopInTheSearchForANewPodIsNotANo) {
  rack("a", 1, 4, 4);
  for (int i = 0; i < 6; ++i)
    cluster_.set_node(NodeSample{.name = "n" + std::to_string(i), .cpu = "10"}.make());
  run("m", "a-0", "0", "runs");
  std::vector<PodSample> pods = sample_pods("s", 12, "2");
  for (const PodSample& pod : sample_pods("b", 3, "9")) pods.push_back(pod);
  const Group root =
      sample_composite("c", 1, {sample_leaf("runs", 1, {}), sample_leaf("g", 15, pods)});
  EXPECT_EQ(place(root, {.steps_max = 12}), SearchResult::Unresolved);
  EXPECT_TRUE(nodes_.empty());
  EXPECT_EQ(place(root), SearchResult::Feasible);
}

}  // namespace
}  // namespace muster::scheduler
