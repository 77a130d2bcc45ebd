#include "scheduler/placement/bounds.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

class BoundsTest : public ::testing::Test {
 protected:
  using Numbers = std::vector<std::int64_t>;
  using DomainNames = std::vector<std::string>;

  void node(const std::string& name, const std::string& cpu, const std::string& memory = "64Gi",
            std::int64_t pods = 110) {
    cluster_.set_node(NodeSample{.name = name, .cpu = cpu, .memory = memory, .pods = pods}.make());
  }
  void rack(const std::string& name, int count, int slots, const std::string& zone = "z") {
    add_sample_rack(cluster_, name, count, slots, 0, zone);
  }
  void run(const std::string& name, const std::string& node, const std::string& group,
           const std::string& status = "") {
    cluster_.set_pod(
        PodSample{.name = name, .cpu = "0", .node_name = node, .group = group, .status = status}
            .make());
  }
  // Lays the tree out and shows its bounds, with the domain of all nodes.
  void with(const Group& root, const std::function<void(Bounds&, const Domain&)>& look) {
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    budget_ = {};
    Bounds bounds(tree, workspace, budget_);
    const Domain everywhere = tree.topology->everywhere();
    look(bounds, everywhere);
  }
  std::int64_t fits(const Group& root) {
    std::int64_t most = 0;
    with(root, [&](Bounds& bounds, const Domain& all) { most = bounds.fits_at_most(0, all); });
    return most;
  }
  bool can_meet(const Group& root) {
    bool can = false;
    with(root, [&](Bounds& bounds, const Domain& all) { can = bounds.can_meet_minimum(0, all); });
    return can;
  }
  Numbers demand(const Group& root) {
    Numbers least;
    with(root, [&](Bounds& bounds, const Domain&) { least = bounds.demand(0); });
    return least;
  }
  DomainNames candidates(const Group& root) {
    return names(root, [](Bounds& bounds, const Domain& all) { return bounds.candidates(0, all); });
  }
  DomainNames widest(const Group& root) {
    return names(root, [](Bounds& bounds, const Domain& all) { return bounds.widest(0, all); });
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
  Budget budget_;

 private:
  DomainNames names(const Group& root, std::span<const Domain> (*domains)(Bounds&, const Domain&)) {
    DomainNames names;
    with(root, [&](Bounds& bounds, const Domain& all) {
      for (const Domain& domain : domains(bounds, all)) names.emplace_back(domain.name);
    });
    return names;
  }
};

// --- how many fit ---

TEST_F(BoundsTest, NoMoreFitThanThereAreOrThanNodesTakeOfAClass) {
  node("n1", "4");
  node("n2", "4");
  EXPECT_EQ(fits(sample_leaf("g", 1, sample_pods("p", 1, "3"))), 1);
  EXPECT_EQ(fits(sample_leaf("g", 1, sample_pods("p", 5, "3"))), 2) << "8 CPUs, but in two pieces";
}

TEST_F(BoundsTest, NoMoreFitThanTheTotalsAllowIfTheSmallestComeFirst) {
  node("n1", "3");
  node("n2", "1");
  EXPECT_EQ(fits(sample_leaf(
                "g", 1,
                {{.name = "a", .cpu = "1"}, {.name = "b", .cpu = "1"}, {.name = "c", .cpu = "3"}})),
            2);
  // Two classes that each fit alone.
  std::vector<PodSample> pods = sample_pods("p", 3, "1");
  for (PodSample& pod : sample_pods("q", 3, "1")) {
    pod.memory = "1Gi";
    pods.push_back(pod);
  }
  EXPECT_EQ(fits(sample_leaf("g", 1, pods)), 4);
}

TEST_F(BoundsTest, EachResourceAndTheSlotsLimit) {
  node("n", "64", "2Gi", 3);
  EXPECT_EQ(fits(sample_leaf("g", 1,
                             {{.name = "a", .memory = "1Gi"},
                              {.name = "b", .cpu = "1", .memory = "1Gi"},
                              {.name = "c", .cpu = "2", .memory = "1Gi"}})),
            2);
  EXPECT_EQ(
      fits(sample_leaf(
          "g", 1,
          {{.name = "a"}, {.name = "b"}, {.name = "c", .cpu = "1"}, {.name = "d", .cpu = "2"}})),
      3);
  EXPECT_EQ(fits(sample_leaf("g", 1, sample_pods("p", 2, ""))), 2) << "those that ask for nothing";
}

TEST_F(BoundsTest, ChildrenGetNoMoreThanInTheirBestDomains) {
  rack("a", 1, 2);
  rack("b", 1, 3);
  const Group x = sample_leaf("x", 1, sample_pods("x", 5, "1"), "rack");
  const Group y = sample_leaf("y", 1, sample_pods("y", 1, "1"), "rack");
  EXPECT_EQ(fits(x), 3);
  EXPECT_EQ(fits(sample_composite("c", 2, {x, y})), 4);
  EXPECT_EQ(fits(sample_composite("c", 2, {x, x})), 5) << "there is no more";
}

TEST_F(BoundsTest, LookingIsWork) {
  for (int i = 0; i < 16; ++i) rack("r" + std::to_string(i), 1, 1);
  with(sample_leaf("g", 1, sample_pods("p", 1, "1"), "rack"),
       [&](Bounds& bounds, const Domain& all) {
         bounds.fits_in(0, all);
         EXPECT_EQ(budget_.work, 1U + 16 / 8);
       });
  with(sample_composite("c", 1, {sample_leaf("g", 1, sample_pods("p", 1, "1"), "rack")}),
       [&](Bounds& bounds, const Domain& all) {
         bounds.fits_in(0, all);
         EXPECT_EQ(budget_.work, 3U + 16) << "and the child in each rack";
       });
}

// --- where a group may go ---

TEST_F(BoundsTest, AGroupChoosesAmongTheDomainsOfItsKey) {
  rack("a", 1, 2);
  rack("b", 1, 2);
  node("bare", "2");
  EXPECT_EQ(candidates(sample_leaf("g", 1, sample_pods("p", 1, "1"))), DomainNames{""});
  const Group gang = sample_leaf("g", 1, sample_pods("p", 1, "1"), "rack");
  EXPECT_EQ(candidates(gang), (DomainNames{"a", "b"}));
  run("m1", "b-0", "g");
  EXPECT_EQ(candidates(gang), DomainNames{"b"});
  run("m2", "a-0", "g");
  EXPECT_EQ(candidates(gang), DomainNames{}) << "no rack holds both";
  cluster_.remove_pod("default-m2");
  run("m3", "bare", "g");
  EXPECT_EQ(candidates(gang), DomainNames{}) << "one is in no rack";
}

TEST_F(BoundsTest, AWishWidensWhereAGroupMayGoUnlessItInsists) {
  rack("a", 1, 1);
  rack("b", 1, 2);
  rack("c", 1, 3);
  Group gang = sample_leaf("g", 1, sample_pods("p", 6, "1"));
  gang.preferred.key = "rack";
  EXPECT_EQ(widest(gang), DomainNames{""});
  EXPECT_EQ(candidates(gang), (DomainNames{"a", "b", "c", "c+b", ""}));
  EXPECT_EQ(fits(gang), 6);
  gang.insists_until = Time{};
  EXPECT_EQ(widest(gang), (DomainNames{"a", "b", "c"}));
  EXPECT_EQ(candidates(gang), (DomainNames{"a", "b", "c"}));
  EXPECT_EQ(fits(gang), 3);
}

// --- whether minimums can be met ---

TEST_F(BoundsTest, ALeafMeetsItsMinimumWithWhatItHolds) {
  rack("a", 1, 2);
  const auto leaf = [](int minimum, int pods) {
    return sample_leaf("g", minimum, sample_pods("p", pods, "1"));
  };
  EXPECT_TRUE(can_meet(leaf(2, 2)));
  EXPECT_FALSE(can_meet(leaf(3, 3)));
  EXPECT_FALSE(can_meet(leaf(2, 1))) << "too few are there";
  run("m", "a-0", "g");
  EXPECT_TRUE(can_meet(leaf(3, 3)));
  EXPECT_TRUE(can_meet(leaf(2, 1)));
  EXPECT_TRUE(can_meet(leaf(1, 0)));
  EXPECT_FALSE(can_meet(leaf(4, 4)));
}

TEST_F(BoundsTest, ACompositeNeedsAsManyChildrenAsItsMinimumSays) {
  rack("a", 1, 4);
  const Group fits = sample_leaf("f", 2, sample_pods("f", 2, "1"));
  const Group doomed = sample_leaf("d", 5, sample_pods("d", 5, "1"));
  EXPECT_TRUE(can_meet(sample_composite("c", 1, {doomed, fits, doomed})));
  EXPECT_TRUE(can_meet(sample_composite("c", 2, {fits, doomed, fits})));
  EXPECT_FALSE(can_meet(sample_composite("c", 2, {doomed, fits, doomed})));
  EXPECT_FALSE(can_meet(sample_composite("c", 3, {fits, fits})));
}

TEST_F(BoundsTest, ChildrenMustFitTogetherInEveryResource) {
  node("n", "4", "4Gi", 4);
  const auto leaf = [](const std::string& name, int pods, const std::string& cpu,
                       const std::string& memory) {
    std::vector<PodSample> samples = sample_pods(name, pods, cpu);
    for (PodSample& pod : samples) pod.memory = memory;
    return sample_leaf(name, pods, std::move(samples));
  };
  struct Case {
    const char* name;
    Group x;
    Group y;
    bool want;
  };
  const Case cases[] = {
      {"just", leaf("x", 2, "1", "1Gi"), leaf("y", 2, "1", "1Gi"), true},
      {"cpu", leaf("x", 1, "2", "1Gi"), leaf("y", 1, "2001m", "1Gi"), false},
      {"memory", leaf("x", 1, "1", "2Gi"), leaf("y", 1, "1", "2049Mi"), false},
      {"slots", leaf("x", 2, "100m", "1Mi"), leaf("y", 3, "100m", "1Mi"), false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(can_meet(sample_composite("c", 2, {c.x, c.y})), c.want) << c.name;
    EXPECT_TRUE(can_meet(sample_composite("c", 1, {c.x, c.y}))) << c.name;
  }
}

// --- the least that minimums take: CPU, memory, pods ---

TEST_F(BoundsTest, ALeafTakesAtLeastItsLightestPods) {
  constexpr std::int64_t kGi = std::int64_t{1} << 30;
  rack("a", 1, 8);
  const std::vector<PodSample> pods{{.name = "a", .cpu = "3", .memory = "1Gi"},
                                    {.name = "b", .cpu = "1", .memory = "4Gi"},
                                    {.name = "c", .cpu = "2", .memory = "2Gi"},
                                    {.name = "d", .cpu = "2", .memory = "2Gi"}};
  EXPECT_EQ(demand(sample_leaf("g", 1, pods)), (Numbers{1000, kGi, 1}));
  EXPECT_EQ(demand(sample_leaf("g", 2, pods)), (Numbers{3000, 3 * kGi, 2}))
      << "the lightest by CPU need not be the lightest by memory";
  EXPECT_EQ(demand(sample_leaf("g", 4, pods)), (Numbers{8000, 9 * kGi, 4}));
  run("m", "a-0", "g");
  EXPECT_EQ(demand(sample_leaf("g", 2, pods)), (Numbers{1000, kGi, 1})) << "one is there";
  EXPECT_EQ(demand(sample_leaf("g", 1, pods)), (Numbers{0, 0, 0}));
}

TEST_F(BoundsTest, ACompositeTakesAtLeastItsLightestChildren) {
  rack("a", 1, 8);
  const std::vector<Group> children{sample_leaf("x", 1, sample_pods("x", 2, "4")),
                                    sample_leaf("y", 3, sample_pods("y", 3, "1")),
                                    sample_leaf("z", 2, sample_pods("z", 2, "1"))};
  EXPECT_EQ(demand(sample_composite("c", 1, children)), (Numbers{2000, 0, 1}));
  EXPECT_EQ(demand(sample_composite("c", 2, children)), (Numbers{5000, 0, 3}));
  EXPECT_EQ(demand(sample_composite("c", 3, children)), (Numbers{9000, 0, 6}));
  EXPECT_EQ(demand(sample_composite("c", 4, children)), (Numbers{9000, 0, 6}))
      << "more than there are";
}

// --- what is reported ---

TEST_F(BoundsTest, ABoundSaysWhatADomainHoldsAtMostAndWhatIsNeeded) {
  rack("a", 1, 4);
  rack("b", 1, 1);
  run("m", "a-0", "y");
  const Group leaf = sample_leaf("x", 3, sample_pods("x", 5, "1"), "rack");
  with(leaf, [](Bounds& bounds, const Domain& all) {
    const auto racks = bounds.candidates(0, all);
    ASSERT_EQ(racks.size(), 2U);
    const DomainBound a = bounds.bound(0, racks[0]);
    EXPECT_EQ(a.domain, "a");
    EXPECT_EQ(a.fits_at_most, 4);
    EXPECT_EQ(a.needed, 3);
    EXPECT_EQ(a.ready, 0);
    EXPECT_EQ(bounds.bound(0, racks[1]).fits_at_most, 1);
  });
  const Group tree = sample_composite("c", 2,
                                      {leaf, sample_leaf("y", 2, sample_pods("y", 1, "1")),
                                       sample_leaf("z", 9, sample_pods("z", 9, "1"))});
  with(tree, [](Bounds& bounds, const Domain& all) {
    const DomainBound everywhere = bounds.bound(0, all);
    EXPECT_EQ(everywhere.domain, "");
    EXPECT_EQ(everywhere.fits_at_most, 5);
    EXPECT_EQ(everywhere.needed, 2);
    EXPECT_EQ(everywhere.ready, 2);
    EXPECT_EQ(bounds.bound(2, all).needed, 1) << "one of two runs";
  });
}

}  // namespace
}  // namespace muster::scheduler
