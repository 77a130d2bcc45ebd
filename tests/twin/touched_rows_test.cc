// What passes that look beyond their node cost, what their limits prove, and who wins a tie.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "scheduler/framework/standings.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/placer.h"
#include "scheduler/placement/workspace.h"
#include "twin/pass_testing.h"

namespace muster::scheduler::twin {
namespace {

// --- ties ---

// Raw scores that are taken as they are: the number in the name. Each node is a group of its own.
class AsIsPass final : public ScorePass {
 public:
  explicit AsIsPass(const Cluster& cluster) : cluster_(cluster) {}
  Form form() const override { return Form::Raw; }
  std::int64_t raw(NodeId node) const override {
    return static_cast<std::int64_t>(number_of(cluster_, node));
  }

 private:
  const Cluster& cluster_;
};
// And what is missing to 1000, as a local score: all totals are equal.
class RemainderPass final : public ScorePass {
 public:
  explicit RemainderPass(const Cluster& cluster) : cluster_(cluster) {}
  Form form() const override { return Form::Local; }
  std::int64_t local(NodeId node) const override {
    return 1000 - static_cast<std::int64_t>(number_of(cluster_, node));
  }
  void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
    cluster_.nodes().for_each(
        [&](NodeId node) { totals[node] += static_cast<std::int32_t>(weight * local(node)); });
  }

 private:
  const Cluster& cluster_;
};

// T3j: equal totals of nodes in different score groups go to the first by name.
TEST(PassContract, EqualTotalsOfTwoScoreGroupsGoToTheFirstName) {
  Profile profile;
  profile.add<RedScore<AsIsPass>>(1);
  profile.add<RedScore<RemainderPass>>(1);
  // Groups are numbered in the order of rows, which is not the order of names.
  Cluster cluster;
  for (const int number : {3, 1, 0, 2})
    cluster.set_node(NodeSample{.name = fmt::format("n{}", number)}.make());
  const api::ObjectPtr pod = pod_sample("p", 0).make();
  Standing standing(cluster.class_of(pod), profile, cluster);
  standing.catch_up();
  ASSERT_EQ(standing.group_count(), 4U);
  for (const char* best : {"n0", "n1", "n2", "n3"}) {
    const auto pick = standing.pick();
    ASSERT_TRUE(pick.has_value());
    EXPECT_EQ(cluster.node_name(pick->node), best);
    EXPECT_EQ(pick->total, 1000);
    cluster.remove_node(best);
    standing.catch_up();
  }
}

// With a raw score for each of 600 nodes there are no groups, and the best is still the best.
TEST(PassContract, WithTooManyScoreGroupsTheBestIsStillFound) {
  Cluster cluster;
  for (int number = 0; number < 600; ++number)
    cluster.set_node(NodeSample{.name = fmt::format("n{}", number)}.make());
  const api::ObjectPtr pod = pod_sample("p", 0).make();
  Profile by_number;
  by_number.add<RedScore<AsIsPass>>(1);
  Standing standing(cluster.class_of(pod), by_number, cluster);
  standing.catch_up();
  EXPECT_FALSE(standing.has_groups());
  ASSERT_TRUE(standing.pick().has_value());
  EXPECT_EQ(cluster.node_name(standing.pick()->node), "n599");
  EXPECT_EQ(standing.pick()->total, 599);
  Profile all_equal = by_number;
  all_equal.add<RedScore<RemainderPass>>(1);
  Standing equal(cluster.class_of(pod), all_equal, cluster);
  equal.catch_up();
  EXPECT_FALSE(equal.has_groups());
  EXPECT_EQ(cluster.node_name(equal.pick()->node), "n0");
  EXPECT_EQ(equal.pick()->total, 1000);
}

// --- how much is refreshed ---

struct Racks {
  Profile profile = profile_with(1);
  Cluster cluster;
  Group group;

  // Ten zones of ten nodes each.
  Racks() {
    for (int i = 0; i < 100; ++i)
      cluster.set_node(NodeSample{
          .name = fmt::format("n{}", i),
          .labels = {{"zone", fmt::format("z{}", i / 10)}, {"rack", fmt::format("r{}", i / 5)}}}
                           .make());
    cluster.watch_label("zone");
    cluster.watch_label("rack");
    group.key = {GroupKind::PodGroup, "default", "g"};
    group.topology_key = "rack";
    for (const std::size_t size : {0U, 1U})
      group.pods.push_back({pod_sample(fmt::format("asks{}", size), size).make(), 0, {}});
  }
  NodeId node(std::string_view name) const {
    NodeId found{};
    EXPECT_TRUE(cluster.find_node(name, found));
    return found;
  }
};

TEST(PassContract, AMoveRefreshesOnlyTheRowsItTouches) {
  Racks racks;
  const GroupTree tree(racks.group, racks.cluster, Standings::of(racks.cluster, racks.profile));
  Workspace workspace(racks.cluster, *tree.topology, tree.standings);
  Standing& red = *tree.standings[1];
  const auto rows_of = [&](const std::function<void()>& work) {
    const std::uint64_t before = red.rows_read();
    work();
    return red.rows_read() - before;
  };
  auto mark = workspace.draft().checkpoint();
  EXPECT_EQ(rows_of([&] { workspace.place(1, racks.node("n23"), 0); }), 10U) << "its zone";
  EXPECT_EQ(red.touched().rows().size(), 10U);
  EXPECT_FALSE(red.touched().is_every_row());
  EXPECT_EQ(rows_of([&] { workspace.place(0, racks.node("n71"), 0); }), 1U) << "its own row";
  EXPECT_EQ(rows_of([&] { mark.undo(); }), 11U);
  EXPECT_EQ(rows_of([&] { workspace.cap(1, racks.node("n5")); }), 0U);
  EXPECT_FALSE(tree.standings[0]->follows_moves());
  EXPECT_EQ(tree.standings[0]->rows_read(), 100U) << "a blue pod looks at its node only";
}

TEST(PassContract, CatchingUpRefreshesOnlyTheRowsThatChangesTouch) {
  Racks racks;
  Standings& standings = Standings::of(racks.cluster, racks.profile);
  Standing& red = standings.of_pod(racks.group.pods[1].pod);
  const std::uint64_t built = red.rows_read();
  EXPECT_EQ(built, 100U);
  // Twenty red pods that came to one zone and left again cost its rows once.
  for (int i = 0; i < 20; ++i) {
    racks.cluster.assume(pod_sample("a", 3).make(), "n42");
    racks.cluster.forget("default-a");
  }
  racks.cluster.assume(pod_sample("b", 3).make(), "n42");
  standings.of_pod(racks.group.pods[1].pod);
  EXPECT_EQ(red.rows_read() - built, 10U);
  EXPECT_FALSE(red.is_feasible(racks.node("n40")));
  EXPECT_TRUE(red.is_feasible(racks.node("n50")));
  // Too many for the log: the passes count from the beginning.
  for (int i = 0; i < 3000; ++i) {
    racks.cluster.assume(pod_sample("a", 3).make(), "n42");
    racks.cluster.forget("default-a");
  }
  racks.cluster.assume(pod_sample("c", 3).make(), "n55");
  standings.of_pod(racks.group.pods[1].pod);
  EXPECT_FALSE(red.is_feasible(racks.node("n40")));
  EXPECT_FALSE(red.is_feasible(racks.node("n50")));
  EXPECT_TRUE(red.is_feasible(racks.node("n60")));
}

// --- limits of domains ---

TEST(PassContract, ABoundCountsEachDomainWithItsLimit) {
  Racks racks;
  racks.profile = profile_with(4);
  racks.cluster.assume(pod_sample("runs", 3).make(), "n0");
  const GroupTree tree(racks.group, racks.cluster, Standings::of(racks.cluster, racks.profile));
  Workspace workspace(racks.cluster, *tree.topology, tree.standings);
  const Domain everywhere = tree.topology->everywhere();
  EXPECT_FALSE(workspace.counts_exactly(1));
  // Three in each of ten zones, two in the one where a red pod runs; racks are half zones.
  EXPECT_EQ(workspace.cap_sum(1, everywhere), 29);
  for (const Domain& rack : tree.topology->split(everywhere, 0))
    EXPECT_EQ(workspace.cap_sum(1, rack), rack.name == "r0" || rack.name == "r1" ? 2 : 3);
  workspace.place(1, racks.node("n99"), 0);
  EXPECT_EQ(workspace.cap_sum(1, everywhere), 28);
  workspace.draft().undo_all();
  EXPECT_EQ(workspace.cap_sum(1, everywhere), 29);
}

TEST(PassContract, ALimitOfADomainProvesThatAGangDoesNotFit) {
  for (const int pods : {29, 30, 31}) {
    Racks racks;
    racks.profile = profile_with(4);
    racks.group.topology_key = "";
    racks.group.pods.clear();
    racks.group.gang = true;
    racks.group.minimum = pods;
    for (int i = 0; i < pods; ++i)
      racks.group.pods.push_back({pod_sample(fmt::format("g{}", i), 1).make(), 0, {}});
    const GroupTree tree(racks.group, racks.cluster, Standings::of(racks.cluster, racks.profile));
    Workspace workspace(racks.cluster, *tree.topology, tree.standings);
    Placer placer(tree, workspace, {});
    EXPECT_EQ(placer.run(), pods <= 30 ? SearchResult::Feasible : SearchResult::Infeasible) << pods;
  }
}

}  // namespace
}  // namespace muster::scheduler::twin
