// B10: what a search walks over is charged to its budget, and what it remembers has a bound.
#include "scheduler/placement/search.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/placement/group_testing.h"
#include "scheduler/placement/placer.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

class SearchTest : public ::testing::Test {
 protected:
  void nodes(int count, const std::string& cpu) {
    for (int i = 0; i < count; ++i)
      cluster_.set_node(NodeSample{.name = "n" + cpu + "-" + std::to_string(i), .cpu = cpu}.make());
  }

  struct Searched {
    SearchResult result;
    Budget budget;
    std::size_t remembered_bytes;
    std::size_t placed;
  };
  Searched search(const Group& root, PlacementOptions options = {}) {
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Searched out{};
    out.budget.allow(options.steps_max, options.work_max);
    Bounds bounds(tree, workspace, out.budget);
    Search search(tree, workspace, bounds, out.budget, options.remembered_bytes_max);
    out.result = search.place_minimum(0, tree.topology->everywhere());
    out.remembered_bytes = search.remembered_bytes();
    out.placed = workspace.draft().moves().size();
    return out;
  }
  SearchResult place(const Group& root) {
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    return Placer(tree, workspace, {}).run();
  }
  void rack(const std::string& name, int count, int slots) {
    add_sample_rack(cluster_, name, count, slots);
  }
  void run(const std::string& name, const std::string& node, const std::string& group,
           const std::string& status = "") {
    cluster_.set_pod(
        PodSample{.name = name, .cpu = "0", .node_name = node, .group = group, .status = status}
            .make());
  }
  static Group leaf(const std::string& name, const std::vector<std::string>& cpus,
                    const std::string& key = "") {
    std::vector<PodSample> pods;
    for (const std::string& cpu : cpus)
      pods.push_back({.name = name + std::to_string(pods.size()), .cpu = cpu});
    return sample_leaf(name, static_cast<int>(cpus.size()), std::move(pods), key);
  }

  // One-pod leaves that ask for 3 CPUs and for 2, in turns; all of them are needed.
  static Group two_shapes(int leaves) {
    std::vector<Group> children;
    for (int i = 0; i < leaves; ++i) {
      const std::string name = "g" + std::to_string(i);
      children.push_back(sample_leaf(name, 1, sample_pods(name + "-", 1, i % 2 == 0 ? "3" : "2")));
    }
    return sample_composite("c", leaves, std::move(children));
  }

  // Leaves of which no two are alike, each of so many pods of `cpu`.
  static Group unlike_leaves(const std::vector<std::pair<int, std::string>>& pods) {
    std::vector<Group> children;
    for (const auto& [count, cpu] : pods) {
      const std::string name = "g" + std::to_string(children.size());
      children.push_back(sample_leaf(name, count, sample_pods(name + "-", count, cpu)));
    }
    const auto all = static_cast<std::int32_t>(children.size());
    return sample_composite("c", all, std::move(children));
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

constexpr int kLeaves = 400;

// By sums there is room: 1,120 CPUs for 1,000, and either shape fits alone. But on a node of 4 goes
// one of 3 or two of 2, and 300 nodes would be needed.
TEST_F(SearchTest, ManyOnePodLeavesThatDoNotFitEndWithTheWorkAndNotWithTheSteps) {
  nodes(280, "4");
  const Searched searched = search(two_shapes(kLeaves));
  EXPECT_EQ(searched.result, SearchResult::Unresolved) << "neither found nor proven";
  EXPECT_EQ(searched.placed, 0u);
  // Each step looks at all that is still to be placed and at all that has been.
  EXPECT_GE(searched.budget.work, searched.budget.steps * kLeaves / 16);
  EXPECT_LT(searched.budget.steps, PlacementOptions{}.steps_max / 4);
  // It stops within one look at the whole tree.
  EXPECT_LE(searched.budget.work, searched.budget.work_max + std::uint64_t{10} * kLeaves);
  EXPECT_LE(searched.remembered_bytes, PlacementOptions{}.remembered_bytes_max);
  EXPECT_EQ(place(two_shapes(kLeaves)), SearchResult::Unresolved);
}

TEST_F(SearchTest, ManyOnePodLeavesThatFitAreAllPlaced) {
  nodes(300, "4");
  const Searched searched = search(two_shapes(kLeaves));
  EXPECT_EQ(searched.result, SearchResult::Feasible);
  EXPECT_EQ(searched.placed, std::size_t{kLeaves});
  EXPECT_FALSE(searched.budget.is_spent());
}

TEST_F(SearchTest, TheLastSlotsForPodsAreUsed) {
  cluster_.set_node(NodeSample{.name = "n", .cpu = "8", .pods = 3}.make());
  const Searched three = search(sample_leaf("g", 3, sample_pods("p", 3, "1")));
  EXPECT_EQ(three.result, SearchResult::Feasible);
  EXPECT_EQ(three.placed, 3u);
  EXPECT_EQ(search(sample_leaf("g", 4, sample_pods("p", 4, "1"))).result, SearchResult::Infeasible);
}

// What is not remembered is looked at again, and fails again.
TEST_F(SearchTest, AFullMemoryChangesNoAnswer) {
  nodes(2, "7");
  nodes(2, "8");
  nodes(1, "5");
  // 34 of 35 CPUs, but a node takes two pods, and that of 5 takes one: nine in all.
  const Group ten = unlike_leaves({{1, "4"}, {3, "4"}, {2, "3"}, {4, "3"}});
  const Group nine = unlike_leaves({{1, "4"}, {2, "4"}, {2, "3"}, {4, "3"}});
  const auto with = [&](const Group& root, std::size_t bytes) {
    const Searched searched = search(
        root, {.steps_max = 5'000'000, .work_max = 50'000'000, .remembered_bytes_max = bytes});
    EXPECT_LE(searched.remembered_bytes, bytes);
    return searched;
  };
  const Searched all = with(ten, std::size_t{8} << 20U);
  ASSERT_EQ(all.result, SearchResult::Infeasible);
  ASSERT_GT(all.remembered_bytes, 1'000u);
  const Searched some = with(ten, all.remembered_bytes / 2);
  EXPECT_EQ(some.result, SearchResult::Infeasible);
  EXPECT_GT(some.remembered_bytes, 0u);
  const Searched none = with(ten, 0);
  EXPECT_EQ(none.result, SearchResult::Infeasible);
  EXPECT_GT(none.budget.steps, all.budget.steps);
  EXPECT_EQ(with(nine, all.remembered_bytes / 2).result, SearchResult::Feasible);
  EXPECT_EQ(with(nine, 0).result, SearchResult::Feasible);
}

// --- what is found, and what is proven ---

// Siblings that need as many pods of other sizes are no twins: the order in which twins take their
// domains does not bind them.
TEST_F(SearchTest, GroupsWithOtherPodsAreNotExchanged) {
  rack("a", 1, 1);
  rack("b", 1, 2);
  const Group root =
      sample_composite("c", 2, {leaf("small", {"1"}, "rack"), leaf("large", {"2"}, "rack")});
  EXPECT_EQ(search(root).result, SearchResult::Feasible);
  const Group same = sample_composite("c", 2, {leaf("x", {"2"}, "rack"), leaf("y", {"2"}, "rack")});
  EXPECT_EQ(search(same).result, SearchResult::Infeasible);
}

TEST_F(SearchTest, GroupsUnderOtherKeysAreNotExchanged) {
  for (const char* zone : {"y", "z"}) {
    add_sample_rack(cluster_, std::string(zone) + "1", 1, 1, 0, zone);
    add_sample_rack(cluster_, std::string(zone) + "2", 1, 1, 0, zone);
  }
  const auto both = [](const std::string& first, const std::string& second) {
    return sample_composite("c", 2, {leaf("x", {"1", "1"}, first), leaf("y", {"1", "1"}, second)});
  };
  EXPECT_EQ(search(both("zone", "zone")).result, SearchResult::Feasible);
  EXPECT_EQ(search(both("zone", "")).result, SearchResult::Feasible);
  EXPECT_EQ(search(both("", "zone")).result, SearchResult::Feasible);
  EXPECT_EQ(search(both("rack", "zone")).result, SearchResult::Infeasible);
}

// By sums the first fits and takes less; only in pieces it does not.
TEST_F(SearchTest, IfTheEasiestChildHasNoPlaceAHarderOneMayHave) {
  nodes(2, "4");
  nodes(1, "1");
  const Group easy = leaf("easy", {"3", "3", "2"});
  const Group hard = leaf("hard", {"4", "4", "1"});
  EXPECT_EQ(search(easy).result, SearchResult::Infeasible);
  EXPECT_EQ(search(hard).result, SearchResult::Feasible);
  for (const auto& children : {std::vector<Group>{easy, hard}, std::vector<Group>{hard, easy}})
    EXPECT_EQ(search(sample_composite("c", 1, children)).result, SearchResult::Feasible);
  EXPECT_EQ(search(sample_composite("c", 1, {easy, easy})).result, SearchResult::Infeasible);
  EXPECT_EQ(search(sample_composite("c", 2, {easy, hard})).result, SearchResult::Infeasible);
}

TEST_F(SearchTest, AForcedLeafGetsOnePodAndOnce) {
  nodes(1, "8");
  run("m1", "n8-0", "g");
  run("m2", "n8-0", "h");
  const Group root = sample_composite("c", 2,
                                      {sample_leaf("g", 1, sample_pods("g", 2, "1")),
                                       sample_leaf("h", 1, sample_pods("h", 2, "1"))});
  const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
  for (const std::uint32_t forced : {1U, 2U}) {
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Budget budget;
    budget.allow(1'000, 10'000);
    Bounds bounds(tree, workspace, budget);
    Search search(tree, workspace, bounds, budget, 1'000);
    const Domain everywhere = tree.topology->everywhere();
    EXPECT_EQ(search.place_minimum(0, everywhere), SearchResult::Feasible);
    EXPECT_TRUE(workspace.draft().moves().empty()) << "the minimums are met";
    EXPECT_EQ(search.place_minimum(0, everywhere, forced), SearchResult::Feasible);
    ASSERT_EQ(workspace.draft().moves().size(), 1U);
    EXPECT_EQ(tree.members[workspace.draft().moves()[0].tag].group, forced);
    EXPECT_EQ(search.found().size(), 3U) << "each group once";
  }
}

TEST_F(SearchTest, WithoutNodesThereIsNoRoomAndNothingToTripOver) {
  run("m", "nowhere", "g", R"("phase":"Succeeded")");
  const Searched searched = search(sample_leaf("g", 1, sample_pods("p", 1, "1")));
  EXPECT_EQ(searched.result, SearchResult::Feasible) << "its minimum is met";
  EXPECT_EQ(searched.placed, 0U);
  EXPECT_EQ(place(sample_leaf("g", 1, sample_pods("p", 1, "1"))), SearchResult::Infeasible);
}

// A leaf's lightest pods are taken, the heaviest of them first; those that no node takes are no
// choice at all.
TEST_F(SearchTest, TheLightestPodsThatSomeNodeTakesAreEnough) {
  nodes(1, "5");
  Group gang = leaf("g", {"4", "1", "9", "3", "2"});
  gang.minimum = 2;
  EXPECT_EQ(search(gang).placed, 2U);
  gang.minimum = 3;
  EXPECT_EQ(search(gang).result, SearchResult::Infeasible) << "1, 2 and 3 are 6";
  nodes(1, "1");
  EXPECT_EQ(search(gang).result, SearchResult::Feasible);
  gang.minimum = 5;
  EXPECT_EQ(search(gang).result, SearchResult::Infeasible);
}

}  // namespace
}  // namespace muster::scheduler
