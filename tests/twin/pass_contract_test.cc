// H2, B14: passes that look beyond their node stay true under every move. Random pods are placed,
// removed and undone on a draft, and come and go in the cluster; after each step everything derived
// is compared with what a cluster built from scratch derives. Run one seed with
// MUSTER_TWIN_SEED=<seed>.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standings.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/placer.h"
#include "scheduler/placement/workspace.h"
#include "twin/script.h"
#include "twin/test_passes.h"

namespace muster::scheduler::twin {
namespace {

constexpr std::string_view kSizes[] = {"100m", "101m", "500m", "501m"};  // blue, red, blue, red

NodeSample node_sample(std::size_t number, Dice& dice) {
  NodeSample node{.name = "n" + std::to_string(number), .cpu = "2", .pods = 6};
  if (dice.chance(85)) node.labels["zone"] = dice.any({"z1", "z2", "z3"});
  node.labels["rack"] = dice.any({"r1", "r2", "r3", "r4"});
  return node;
}

PodSample pod_sample(const std::string& name, std::size_t size) {
  return {.name = name, .cpu = std::string(kSizes[size]), .memory = "1Mi"};
}

// A cluster, the pods it was fed, and a gang that asks with one pod of each size.
class Stage {
 public:
  Stage(Profile profile, std::uint64_t seed) : profile_(std::move(profile)), dice_(seed) {
    group_.key = {GroupKind::PodGroup, "default", "g"};
    group_.topology_key = "rack";
    for (std::size_t size = 0; size < std::size(kSizes); ++size)
      group_.pods.push_back({pod_sample(fmt::format("asks{}", size), size).make(), 0, {}});
    watch(cluster_);
  }

  void run(std::size_t nodes, int rounds, int moves) {
    for (std::size_t number = 0; number < nodes; ++number) set_node(number);
    for (int round = 0; round < rounds && !::testing::Test::HasFatalFailure(); ++round) {
      for (std::uint64_t i = dice_.below(6); i > 0; --i) change_cluster(nodes);
      run_draft(moves);
    }
  }

 private:
  struct Placed {
    api::ObjectPtr pod;
    std::string node;
  };
  struct Step {
    bool places;
    std::string name;
    Placed placed;
  };

  static void watch(Cluster& cluster) {
    cluster.watch_label("zone");
    cluster.watch_label("rack");
  }

  // --- what happens to the cluster ---

  void set_node(std::size_t number) {
    const NodeSample sample = node_sample(number, dice_);
    nodes_[sample.name] = sample.make();
    cluster_.set_node(nodes_[sample.name]);
  }

  void change_cluster(std::size_t nodes) {
    const std::size_t number = dice_.below(nodes + 2);
    switch (dice_.below(10)) {
      case 0: set_node(number); return;
      case 1:
        nodes_.erase("n" + std::to_string(number));
        cluster_.remove_node("n" + std::to_string(number));
        return;
      case 2:
      case 3:
      case 4:
        if (pods_.empty()) return;
        remove_pod(std::next(pods_.begin(), static_cast<std::ptrdiff_t>(dice_.below(pods_.size())))
                       ->first);
        return;
      default: {
        // Also on nodes that are not there yet, or more than fit.
        const std::string name = fmt::format("pod{}", made_++);
        PodSample sample = pod_sample(name, dice_.below(std::size(kSizes)));
        sample.node_name = "n" + std::to_string(number);
        pods_[name] = {sample.make(), sample.node_name};
        cluster_.set_pod(pods_[name].pod);
      }
    }
  }

  void remove_pod(const std::string& name) {
    cluster_.remove_pod(pods_.at(name).pod->meta().uid);
    pods_.erase(name);
  }

  // --- what happens on a draft ---

  void run_draft(int moves) {
    if (nodes_.empty()) return;
    const GroupTree tree(group_, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    std::vector<std::unique_ptr<Draft::Checkpoint>> marks;
    std::unique_ptr<Arena> arena;
    std::string open;  // the rack of the arena
    compare(tree, workspace, arena.get(), open);
    for (int i = 0; i < moves && !::testing::Test::HasFatalFailure(); ++i) {
      switch (dice_.below(10)) {
        case 0: marks.push_back(std::make_unique<Draft::Checkpoint>(workspace.draft())); break;
        case 1:
        case 2:
          if (!marks.empty()) marks.pop_back();
          break;
        case 3:
          arena.reset();
          open = dice_.any({"", "r1", "r2", "r3", "r4"});
          if (const auto domain = rack(tree, open))
            arena = std::make_unique<Arena>(workspace, *domain);
          break;
        case 4:
        case 5: remove_on_draft(workspace); break;
        default: place_on_draft(tree, workspace, arena.get());
      }
      if (steps_.size() > workspace.draft().moves().size())
        steps_.resize(workspace.draft().moves().size());
      compare(tree, workspace, arena.get(), open);
    }
    arena.reset();
    while (!marks.empty()) marks.pop_back();
    workspace.draft().undo_all();
    steps_.clear();
    compare(tree, workspace, nullptr, "");
  }

  void place_on_draft(const GroupTree& tree, Workspace& workspace, Arena* arena) {
    const std::size_t c = dice_.below(tree.standings.size());
    std::optional<NodeId> node;
    if (arena != nullptr && dice_.chance(50)) {
      node = arena->pick(c);
    } else {
      std::vector<NodeId> feasible;
      cluster_.nodes().for_each([&](NodeId n) {
        if (tree.standings[c]->key_now(n) != 0) feasible.push_back(n);
      });
      if (!feasible.empty()) node = feasible[dice_.below(feasible.size())];
    }
    if (!node) return;
    const std::string name = fmt::format("draft{}", made_++);
    steps_.push_back({true, name, {pod_sample(name, c).make(), cluster_.node_name(*node)}});
    workspace.place(c, *node, 0);
  }

  void remove_on_draft(Workspace& workspace) {
    std::vector<std::string> there;
    for (const auto& [name, placed] : pods_)
      if (nodes_.contains(placed.node) &&
          std::ranges::none_of(steps_, [&](const Step& step) { return step.name == name; }))
        there.push_back(name);
    if (there.empty()) return;
    const std::string& name = there[dice_.below(there.size())];
    NodeId node{};
    ASSERT_TRUE(cluster_.find_node(pods_.at(name).node, node));
    steps_.push_back({false, name, pods_.at(name)});
    workspace.draft().remove(cluster_.class_of(pods_.at(name).pod), node, 0);
  }

  static std::optional<Domain> rack(const GroupTree& tree, const std::string& name) {
    const Domain everywhere = tree.topology->everywhere();
    if (name.empty()) return everywhere;
    for (const Domain& domain : tree.topology->split(everywhere, 0))
      if (domain.name == name) return domain;
    return std::nullopt;
  }

  // --- the comparison ---

  // The same cluster from scratch, with the draft's moves as if they had happened.
  void fill(Cluster& fresh) const {
    std::map<std::string, Placed> pods = pods_;
    for (const Step& step : steps_) {
      if (step.places)
        pods[step.name] = step.placed;
      else
        pods.erase(step.name);
    }
    for (const auto& [name, node] : nodes_) fresh.set_node(node);
    for (const auto& [name, placed] : pods) fresh.assume(placed.pod, placed.node);
    watch(fresh);
  }

  void compare(const GroupTree& tree, Workspace& workspace, Arena* arena, const std::string& open) {
    Cluster fresh;
    fill(fresh);
    const GroupTree fresh_tree(group_, fresh, Standings::of(fresh, profile_));
    Workspace fresh_workspace(fresh, *fresh_tree.topology, fresh_tree.standings);
    for (std::size_t c = 0; c < tree.standings.size(); ++c) {
      SCOPED_TRACE(fmt::format("class {}", kSizes[c]));
      compare_nodes(*tree.standings[c], workspace, c, fresh, fresh_workspace);
      compare_domain("", tree, workspace, fresh_tree, fresh_workspace, c);
      for (const char* name : {"r1", "r2", "r3", "r4"})
        compare_domain(name, tree, workspace, fresh_tree, fresh_workspace, c);
      if (arena == nullptr) continue;
      Arena fresh_arena(fresh_workspace, *rack(fresh_tree, open));
      EXPECT_EQ(name_in(cluster_, arena->pick(c)), name_in(fresh, fresh_arena.pick(c)))
          << "open arena of rack '" << open << "'";
    }
    if (::testing::Test::HasNonfatalFailure())
      FAIL() << "seed above, " << steps_.size() << " moves";
  }

  static std::string name_in(const Cluster& cluster, std::optional<NodeId> node) {
    return node ? cluster.node_name(*node) : "none";
  }

  void compare_nodes(Standing& standing, Workspace& workspace, std::size_t c, Cluster& fresh,
                     Workspace& fresh_workspace) const {
    Standing& wanted = fresh_workspace.standing(c);
    for (const auto& [name, object] : nodes_) {
      NodeId ours{};
      NodeId theirs{};
      ASSERT_TRUE(cluster_.find_node(name, ours) && fresh.find_node(name, theirs));
      EXPECT_EQ(standing.key_now(ours), wanted.key_kept(theirs)) << "key of " << name;
      if (standing.follows_moves()) {
        EXPECT_EQ(standing.key_kept(ours), wanted.key_kept(theirs)) << "kept key of " << name;
      }
      EXPECT_EQ(workspace.cap(c, ours), fresh_workspace.cap(c, theirs)) << "cap of " << name;
      EXPECT_EQ(standing.cap_now(ours), wanted.cap_now(theirs)) << "cap now of " << name;
    }
    if (!standing.follows_moves()) return;
    const auto got = standing.pick();
    const auto want = wanted.pick();
    ASSERT_EQ(got.has_value(), want.has_value());
    if (!got) return;
    EXPECT_EQ(cluster_.node_name(got->node), fresh.node_name(want->node)) << "pick of all nodes";
    EXPECT_EQ(got->total, want->total) << "its total";
  }

  static void compare_domain(const std::string& name, const GroupTree& tree, Workspace& workspace,
                             const GroupTree& fresh_tree, Workspace& fresh_workspace,
                             std::size_t c) {
    SCOPED_TRACE("rack '" + name + "'");
    const auto ours = rack(tree, name);
    const auto theirs = rack(fresh_tree, name);
    ASSERT_EQ(ours.has_value(), theirs.has_value());
    if (!ours) return;
    EXPECT_EQ(workspace.cap_sum(c, *ours), fresh_workspace.cap_sum(c, *theirs)) << "sum of caps";
    const Workspace::Totals got = workspace.totals(*ours);
    const Workspace::Totals want = fresh_workspace.totals(*theirs);
    EXPECT_EQ(got.slots, want.slots) << "free slots";
    for (std::size_t t = 0; t < got.amounts.size(); ++t)
      EXPECT_TRUE(got.amounts[t] == want.amounts[t]) << "resource " << t;
  }

  Profile profile_;
  Dice dice_;
  Group group_;
  Cluster cluster_;
  std::map<std::string, api::ObjectPtr> nodes_;
  std::map<std::string, Placed> pods_;
  std::vector<Step> steps_;  // the draft's moves
  int made_ = 0;
};

// A profile with some of the passes on top of the product's own, by bits.
Profile profile_with(std::uint64_t bits) {
  Profile profile = default_profile();
  if (bits & 1U) profile.add<RedFilter<ZoneExclusionPass>>(1);
  if (bits & 2U) profile.add<RedFilter<SpreadPass>>(1);
  if (bits & 4U) profile.add<RedFilter<ZoneLimitPass>>(1);
  if (bits & 8U) profile.add<RedScore<CrowdPass>>(2);
  if (bits & 16U) profile.add<RedScore<RackCrowdPass>>(1);
  if (bits & 32U) profile.add<RedFilter<NeighbourPass>>(1);
  if (bits & 64U) profile.add<RedFilter<CountingPass>>(1);
  if (bits & 128U) profile.add<NumberScore>(1, 5);
  return profile;
}

void for_seeds(std::uint64_t first, std::uint64_t count,
               const std::function<void(std::uint64_t)>& visit) {
  if (std::getenv("MUSTER_TEST_LONG") != nullptr) count *= 20;
  if (const char* only = std::getenv("MUSTER_TWIN_SEED")) {
    first = std::strtoull(only, nullptr, 10);
    count = 1;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("MUSTER_TWIN_SEED=" + std::to_string(seed));
    visit(seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(PassContract, EachKindOfPassStaysTrue) {
  for_seeds(500'001, 40,
            [](std::uint64_t seed) { Stage(profile_with(1U << (seed % 8)), seed).run(9, 5, 14); });
}

TEST(PassContract, AllKindsTogetherStayTrue) {
  for_seeds(510'001, 25,
            [](std::uint64_t seed) { Stage(profile_with(seed % 256), seed).run(12, 5, 14); });
}

TEST(PassContract, WithoutSuchPassesRemovalsAreUndoneToo) {
  for_seeds(520'001, 15, [](std::uint64_t seed) { Stage(profile_with(0), seed).run(9, 5, 14); });
}

// 600 nodes with a raw score each: no groups, a full pass. And 510 scores for 520 nodes: the 513th
// appears on the draft and goes again when it is undone.
TEST(PassContract, TooManyScoreGroupsAreAFullPass) {
  for (const std::int64_t distinct : {1000, 509})
    for_seeds(530'001, 2, [&](std::uint64_t seed) {
      Profile profile = default_profile();
      profile.add<NumberScore>(1, distinct);
      Stage(std::move(profile), seed).run(520, 2, 12);
    });
}

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
// And what is missing to 50, as a local score: all totals are equal.
class RemainderPass final : public ScorePass {
 public:
  explicit RemainderPass(const Cluster& cluster) : cluster_(cluster) {}
  Form form() const override { return Form::Local; }
  std::int64_t local(NodeId node) const override {
    return 50 - static_cast<std::int64_t>(number_of(cluster_, node));
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
    EXPECT_EQ(pick->total, 50);
    cluster.remove_node(best);
    standing.catch_up();
  }
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
