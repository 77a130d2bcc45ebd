#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "scheduler/placement/group_testing.h"
#include "scheduler/placement/placements_testing.h"
#include "scheduler/placement/placer.h"
#include "scheduler/plugins/default_profile.h"

// Placements, demands and scores of plugins, as a placer uses them.
namespace muster::scheduler {
namespace {

// --- against every way to place a small tree ---

struct Leaf {
  int pods = 1;
  int cpu = 1;
  bool in_one_rack = false;
};

struct Instance {
  std::vector<int> cpus;  // by node
  std::vector<int> racks;
  Placements root;
  Placements child;
  std::vector<Leaf> leaves;
  std::size_t minimum = 1;

  static std::string name(std::size_t node) { return fmt::format("n{}", node); }
  Names everywhere() const {
    Names all;
    for (std::size_t i = 0; i < cpus.size(); ++i) all.insert(name(i));
    return all;
  }
};

Placements any_placements(const Names& nodes, int count) {
  Placements placements;
  for (int p = 0; p < count; ++p)
    for (const std::string& node : nodes)
      if (*rc::gen::inRange(0, 3) > 0) placements[fmt::format("p{}", p)].insert(node);
  return placements;
}

Instance any_instance() {
  Instance instance;
  const int nodes = *rc::gen::inRange(2, 6);
  for (int i = 0; i < nodes; ++i) {
    instance.cpus.push_back(*rc::gen::inRange(1, 4));
    instance.racks.push_back(*rc::gen::inRange(0, 2));
  }
  instance.root = any_placements(instance.everywhere(), *rc::gen::inRange(0, 4));
  instance.child = any_placements(instance.everywhere(), *rc::gen::inRange(0, 4));
  const int leaves = *rc::gen::inRange(1, 4);
  for (int i = 0; i < leaves; ++i)
    instance.leaves.push_back({.pods = *rc::gen::inRange(1, 3),
                               .cpu = *rc::gen::inRange(1, 3),
                               .in_one_rack = *rc::gen::arbitrary<bool>()});
  instance.minimum = static_cast<std::size_t>(*rc::gen::inRange(1, leaves + 1));
  return instance;
}

// Tries every way there is.
class Naive {
 public:
  explicit Naive(const Instance& instance) : instance_(instance), free_(instance.cpus) {}

  bool is_feasible() {
    return std::ranges::any_of(sets(instance_.root), [this](const Names& root) {
      const auto subsets = std::size_t{1} << instance_.leaves.size();
      for (std::size_t chosen = 0; chosen < subsets; ++chosen)
        if (static_cast<std::size_t>(std::popcount(chosen)) == instance_.minimum &&
            place_leaf(0, chosen, root))
          return true;
      return false;
    });
  }

 private:
  std::vector<Names> sets(const Placements& placements) const {
    std::vector<Names> sets;
    for (const auto& [name, nodes] : placements) sets.push_back(nodes);
    if (placements.empty()) sets.push_back(instance_.everywhere());
    return sets;
  }
  bool place_leaf(std::size_t at, std::size_t chosen, const Names& root) {
    if (at == instance_.leaves.size()) return true;
    if ((chosen >> at & 1U) == 0) return place_leaf(at + 1, chosen, root);
    const Leaf& leaf = instance_.leaves[at];
    for (const Names& own : sets(instance_.child))
      for (int rack = 0; rack < (leaf.in_one_rack ? 2 : 1); ++rack) {
        std::vector<std::size_t> allowed;
        for (std::size_t i = 0; i < free_.size(); ++i)
          if (root.contains(Instance::name(i)) && own.contains(Instance::name(i)) &&
              (!leaf.in_one_rack || instance_.racks[i] == rack))
            allowed.push_back(i);
        if (place_pods(at, leaf.pods, allowed, chosen, root)) return true;
      }
    return false;
  }
  bool place_pods(std::size_t at, int left, const std::vector<std::size_t>& allowed,
                  std::size_t chosen, const Names& root) {
    if (left == 0) return place_leaf(at + 1, chosen, root);
    const int cpu = instance_.leaves[at].cpu;
    for (const std::size_t node : allowed) {
      if (free_[node] < cpu) continue;
      free_[node] -= cpu;
      const bool placed = place_pods(at, left - 1, allowed, chosen, root);
      free_[node] += cpu;
      if (placed) return true;
    }
    return false;
  }

  const Instance& instance_;
  std::vector<int> free_;
};

RC_GTEST_PROP(PlacementPlugins, OverlappingPlacementsAreSearchedToTheEnd, ()) {
  const Instance instance = any_instance();
  Cluster cluster;
  for (std::size_t i = 0; i < instance.cpus.size(); ++i)
    cluster.set_node(NodeSample{.name = Instance::name(i),
                                .cpu = std::to_string(instance.cpus[i]),
                                .labels = {{"rack", fmt::format("r{}", instance.racks[i])}}}
                         .make());
  Profile profile = default_profile();
  profile.add<GivenPlacements>(1, instance.root, instance.child);
  std::vector<Group> children;
  for (std::size_t i = 0; i < instance.leaves.size(); ++i) {
    const Leaf& leaf = instance.leaves[i];
    const std::string name = fmt::format("g{}", i);
    children.push_back(sample_leaf(name, leaf.pods,
                                   sample_pods(name, leaf.pods, std::to_string(leaf.cpu)),
                                   leaf.in_one_rack ? "rack" : ""));
    children.back().parent = "tree";
  }
  Group root =
      sample_composite("tree", static_cast<std::int32_t>(instance.minimum), std::move(children));
  say_placements(profile, root);
  const GroupTree tree(root, cluster, Standings::of(cluster, profile));
  Workspace workspace(cluster, *tree.topology, tree.standings);
  Placer placer(tree, workspace, {});
  const SearchResult result = placer.run();
  RC_CLASSIFY(result == SearchResult::Feasible);
  RC_ASSERT(result ==
            (Naive(instance).is_feasible() ? SearchResult::Feasible : SearchResult::Infeasible));
}

// --- demands and scores ---

// Wants all pods that a group says it will have.
class AllOrNothing final : public PlacementFeasible {
 public:
  static constexpr std::string_view kName = "AllOrNothing";
  PlacementStatus status(const GroupSpec& group, const PlacementProgress& progress) const override {
    return status_of(group.declared_size, progress);
  }
  std::string reason(const GroupSpec& group, const PlacementProgress& progress) const override {
    return fmt::format("{} of {} are there", progress.scheduled + progress.remaining,
                       group.declared_size);
  }
};

// The fewer nodes the pods are on, the better.
class FewNodes final : public PlacementScore {
 public:
  static constexpr std::string_view kName = "FewNodes";
  std::int64_t score(const PlacementView& placement) const override {
    std::set<NodeId> used;
    for (const PlacementView::Assigned& assigned : placement.assigned) {
      EXPECT_TRUE(std::ranges::count(placement.nodes, assigned.node) == 1);
      used.insert(assigned.node);
    }
    return 1000 - 10 * static_cast<std::int64_t>(used.size());
  }
  void normalize(std::span<std::int64_t> scores) const override {
    const auto [low, high] = std::ranges::minmax(scores);
    for (std::int64_t& score : scores) score = high == low ? 0 : (score - low) * 100 / (high - low);
  }
};

// Wants a placement of this name, whatever is in it.
class Named final : public PlacementScore {
 public:
  static constexpr std::string_view kName = "Named";
  explicit Named(std::string name) : name_(std::move(name)) {}
  std::int64_t score(const PlacementView& placement) const override {
    return placement.name == name_ ? 100 : 0;
  }
  bool looks_at_nodes() const override { return false; }

 private:
  std::string name_;
};

class PlacementPluginsTest : public ::testing::Test {
 protected:
  void node(const std::string& name, const std::string& rack, int cpu) {
    cluster_.set_node(
        NodeSample{.name = name, .cpu = std::to_string(cpu), .labels = {{"rack", rack}}}.make());
  }
  // The rack that a gang is placed in; empty: none.
  std::string rack_of(const Group& root, const PlacementOptions& options = {}) {
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Placer placer(tree, workspace, options);
    const SearchResult result = placer.run();
    counts_ = placer.counts();
    return result == SearchResult::Feasible ? std::string(placer.domain(0).name) : "";
  }
  // Adds a plugin to the default profile. A new one: profiles are fixed once an attempt ran.
  template <typename P, typename... Args>
  void use(std::int64_t weight, Args&&... args) {
    profile_ = default_profile();
    profile_.add<P>(weight, std::forward<Args>(args)...);
  }
  static Group gang(int minimum, int pods, const std::string& cpu = "1") {
    return sample_leaf("g", minimum, sample_pods("g", pods, cpu), "rack");
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
  PlacementCounts counts_;
};

TEST_F(PlacementPluginsTest, APluginMayAskForMoreThanTheMinimum) {
  node("a", "r1", 3);
  node("b", "r2", 2);
  Group group = gang(2, 4);
  group.declared_size = 4;
  EXPECT_EQ(rack_of(group), "r1");
  use<AllOrNothing>(1);
  EXPECT_EQ(rack_of(group), "");
  node("c", "r2", 2);
  EXPECT_EQ(rack_of(group), "r2");
  const GroupTree tree(group, cluster_, Standings::of(cluster_, profile_));
  EXPECT_EQ(tree.items[0].minimum, 4);
  EXPECT_EQ(tree.items[0].demanding->reason(group, {.scheduled = 1, .remaining = 2}),
            "3 of 4 are there");
}

TEST_F(PlacementPluginsTest, MoreThanThereIsIsNeverEnough) {
  node("a", "r1", 9);
  Group group = gang(2, 4);
  group.declared_size = 9;
  use<AllOrNothing>(1);
  EXPECT_EQ(rack_of(group), "");
  const GroupTree tree(group, cluster_, Standings::of(cluster_, profile_));
  EXPECT_EQ(tree.items[0].minimum, 5) << "one more than there are";
}

TEST(PlacementStatus, FollowsFromWhatIsScheduledAndWhatMayCome) {
  using enum PlacementStatus;
  EXPECT_EQ(status_of(3, {.scheduled = 3}), Success);
  EXPECT_EQ(status_of(3, {.scheduled = 1, .remaining = 2, .unschedulable = 9}), Wait);
  EXPECT_EQ(status_of(3, {.scheduled = 1, .remaining = 1, .unschedulable = 1}), Unschedulable);
  EXPECT_EQ(status_of(3, {.scheduled = 1, .remaining = 1, .unresolvable = 9}),
            UnschedulableAndUnresolvable);
}

// Without it the fuller rack is taken.
TEST_F(PlacementPluginsTest, ScoresThatOnlyCountDecideAmongThoseThatHoldAll) {
  node("a", "r1", 4);
  node("b", "r2", 2);
  EXPECT_EQ(rack_of(gang(2, 2)), "r2");
  use<Named>(3, "r1");
  EXPECT_EQ(rack_of(gang(2, 2)), "r1");
  EXPECT_EQ(counts_.generated, 2U);
  EXPECT_EQ(counts_.feasible, 1U) << "no need to look at the other";
}

TEST_F(PlacementPluginsTest, ADomainThatHoldsAllBeatsAnyScore) {
  node("a", "r1", 1);
  node("b", "r2", 2);
  use<Named>(1000, "r1");
  EXPECT_EQ(rack_of(gang(1, 2)), "r2");
}

TEST_F(PlacementPluginsTest, AmongThoseThatHoldFewerWeightsDecide) {
  node("a", "r1", 2);
  node("b", "r2", 3);
  EXPECT_EQ(rack_of(gang(1, 4)), "r2");
  use<Named>(1, "r1");
  EXPECT_EQ(rack_of(gang(1, 4)), "r1");
}

TEST_F(PlacementPluginsTest, APluginSeesWhereEachPodGoes) {
  for (const char* name : {"a1", "a2"}) node(name, "r1", 1);
  node("b", "r2", 6);
  EXPECT_EQ(rack_of(gang(2, 2)), "r1") << "the fuller one";
  use<FewNodes>(2);
  EXPECT_EQ(rack_of(gang(2, 2)), "r2");
  EXPECT_EQ(counts_.feasible, 2U);
}

TEST_F(PlacementPluginsTest, AShareOfThePlacementsIsLookedAt) {
  for (int i = 0; i < 10; ++i) node(fmt::format("n{}", i), fmt::format("r{}", i), 2);
  use<FewNodes>(1);
  rack_of(gang(1, 2));
  EXPECT_EQ(counts_.feasible, 10U);
  rack_of(gang(1, 2), {.placements_percentage = 30});
  EXPECT_EQ(counts_.feasible, 3U);
}

TEST_F(PlacementPluginsTest, EveryPlacementThatIsCountedIsMeasured) {
  std::chrono::nanoseconds time{};
  PlacementCounts measured;
  std::chrono::nanoseconds sum{};
  const PlacementTimer timer{
      .stopwatch = [&time] { return time += std::chrono::nanoseconds{100}; },
      .judged =
          [&](bool are_feasible, std::size_t placements, std::chrono::nanoseconds each) {
            (are_feasible ? measured.feasible : measured.infeasible) += placements;
            sum += static_cast<std::int64_t>(placements) * each;
          }};
  for (int i = 0; i < 5; ++i) node(fmt::format("n{}", i), fmt::format("r{}", i), i);
  for (const int minimum : {1, 2, 3, 4, 5}) {
    for (const bool sees_nodes : {false, true}) {
      profile_ = default_profile();
      if (sees_nodes) profile_.add<FewNodes>(1);
      measured = {};
      sum = {};
      rack_of(gang(minimum, 5), {.mode = PlacementOptions::Mode::UpstreamOrder, .timer = &timer});
      EXPECT_EQ(measured.feasible, counts_.feasible) << minimum;
      EXPECT_EQ(measured.infeasible, counts_.infeasible) << minimum;
      EXPECT_EQ(sum > std::chrono::nanoseconds{}, counts_.feasible + counts_.infeasible > 0);
    }
  }
}

// Nobody compares, so the first that does is taken.
TEST_F(PlacementPluginsTest, WithoutScoresTheFirstPlacementIsTaken) {
  node("a", "r1", 4);
  node("b", "r2", 2);
  profile_ = Profile();
  EXPECT_EQ(rack_of(gang(2, 2)), "r1");
}

}  // namespace
}  // namespace muster::scheduler
