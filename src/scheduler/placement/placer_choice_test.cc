// How the placer chooses among the domains of a group, and what it counts meanwhile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/placement/group_testing.h"
#include "scheduler/placement/placements_testing.h"
#include "scheduler/placement/placer.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/plugins/node_resources_fit.h"

namespace muster::scheduler {
namespace {

class PlacerChoice : public ::testing::Test {
 protected:
  void rack(const std::string& name, int count, int slots, int used = 0) {
    add_sample_rack(cluster_, name, count, slots, used);
  }
  void run(const std::string& name, const std::string& node, const std::string& group,
           const std::string& status = "") {
    cluster_.set_pod(
        PodSample{.name = name, .cpu = "0", .node_name = node, .group = group, .status = status}
            .make());
  }
  // The domain that the root is placed in; "-": none.
  std::string domain_of(Group root, const PlacementOptions& options = {}) {
    say_placements(profile_, root);
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Placer placer(tree, workspace, options);
    const SearchResult result = placer.run();
    counts_ = placer.counts();
    steps_ = placer.steps();
    return result == SearchResult::Feasible ? std::string(placer.domain(0).name) : "-";
  }
  // Generated, feasible and infeasible placements.
  std::vector<std::uint64_t> counts() const {
    return {counts_.generated, counts_.feasible, counts_.infeasible};
  }
  static Group gang(int minimum, int pods, const std::string& key = "rack") {
    return sample_leaf("g", minimum, sample_pods("p", pods, "1"), key);
  }
  static Group waiting_for(Group group, const std::vector<std::string>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) group.pods[i].nominated = nodes[i];
    return group;
  }

  using Counts = std::vector<std::uint64_t>;
  Cluster cluster_;
  Profile profile_ = default_profile();
  PlacementCounts counts_;
  std::uint64_t steps_ = 0;
};

// --- room that was made for a group (L20) ---

TEST_F(PlacerChoice, TheDomainWhereRoomWasMadeIsTriedFirst) {
  rack("a", 1, 4);
  rack("b", 1, 2);
  EXPECT_EQ(domain_of(gang(2, 2)), "b") << "the fuller one";
  EXPECT_EQ(domain_of(waiting_for(gang(2, 2), {"", "a-0"})), "a");
  EXPECT_EQ(counts(), (Counts{2, 1, 0}));
  EXPECT_EQ(domain_of(waiting_for(gang(2, 2), {"gone", "a-0"})), "a");
  EXPECT_EQ(domain_of(waiting_for(gang(2, 2), {"gone"})), "b");
}

TEST_F(PlacerChoice, RoomThatIsNoLongerEnoughIsLeft) {
  rack("a", 1, 1);
  rack("b", 1, 3);
  rack("c", 1, 2);
  EXPECT_EQ(domain_of(waiting_for(gang(2, 2), {"a-0"})), "c");
  EXPECT_EQ(counts(), (Counts{3, 1, 2})) << "a is looked at twice";
}

TEST_F(PlacerChoice, TheFirstNodeTellsTheDomainIfDomainsDoNotOverlap) {
  for (const char* name : {"a", "b"}) rack(name, 2, 4);
  EXPECT_EQ(domain_of(waiting_for(gang(3, 3), {"b-0", "a-0", "a-1"})), "b");
}

TEST_F(PlacerChoice, RoomForChildrenIsRoomForTheirRoot) {
  rack("a", 1, 4);
  rack("b", 1, 2);
  const auto tree = [](const Group& child) { return sample_composite("c", 1, {child}, "rack"); };
  EXPECT_EQ(domain_of(tree(gang(2, 2, ""))), "b");
  EXPECT_EQ(domain_of(tree(waiting_for(gang(2, 2, ""), {"a-0"}))), "a");
  EXPECT_EQ(counts(), (Counts{1, 1, 0})) << "composites are not counted";
}

TEST_F(PlacerChoice, OfDomainsThatOverlapTheOneThatHoldsMostOfTheNodes) {
  rack("n", 4, 1);
  profile_.add<GivenPlacements>(1, Placements{{"p", {"n-0", "n-1", "n-2"}},
                                              {"q", {"n-1", "n-2", "n-3"}},
                                              {"r", {"n-0", "n-2", "n-3"}}});
  EXPECT_EQ(domain_of(waiting_for(gang(2, 2, ""), {"n-1", "n-3"})), "q");
  EXPECT_EQ(domain_of(waiting_for(gang(2, 2, ""), {"n-3", "n-0"})), "r");
  EXPECT_EQ(domain_of(waiting_for(gang(2, 2, ""), {"n-2"})), "p") << "the first by name";
}

// --- room to grow (L6) ---

TEST_F(PlacerChoice, AGroupThatMayGrowPrefersADomainWithRoomForAllOfIt) {
  rack("a", 1, 3);
  rack("b", 1, 6);
  const auto with_declared = [this](std::int32_t size, int pods = 1) {
    Group basic = gang(0, pods);
    basic.declared_size = size;
    return domain_of(basic);
  };
  EXPECT_EQ(with_declared(0), "a") << "the fuller one";
  EXPECT_EQ(with_declared(3), "a");
  EXPECT_EQ(with_declared(4), "b");
  EXPECT_EQ(with_declared(7), "a") << "neither has room for that many";
  run("done", "a-0", "g", R"("phase":"Succeeded")");
  EXPECT_EQ(with_declared(4), "a") << "one of them has ended";
  EXPECT_EQ(with_declared(5), "b");
  EXPECT_EQ(with_declared(5, 3), "b");
}

// --- how many are looked at ---

TEST_F(PlacerChoice, TooSmallDomainsAreCountedAndNotTried) {
  rack("a", 1, 1);
  rack("b", 1, 2);
  rack("c", 1, 3);
  EXPECT_EQ(domain_of(gang(2, 2)), "b");
  EXPECT_EQ(counts(), (Counts{3, 1, 1}));
  EXPECT_EQ(steps_, 2U);
  EXPECT_EQ(domain_of(gang(3, 3)), "c");
  EXPECT_EQ(counts(), (Counts{3, 1, 2}));
  EXPECT_EQ(domain_of(gang(2, 2, "")), "");
  EXPECT_EQ(counts(), (Counts{1, 1, 0}));
}

TEST_F(PlacerChoice, WhatCountingTellsIsNotSimulated) {
  rack("a", 1, 2);
  rack("b", 1, 3);
  EXPECT_EQ(domain_of(gang(1, 4)), "b");
  EXPECT_EQ(counts(), (Counts{2, 2, 0}));
  EXPECT_EQ(steps_, 4U) << "only in the best";
}

TEST_F(PlacerChoice, WhoHoldsAllComesFirstAlsoIfNobodyScores) {
  rack("a", 1, 1);
  rack("b", 1, 2);
  profile_ = Profile();
  profile_.add(make_plugin<NodeResourcesFit>(), {ExtensionPoint::Filter}, 1);
  EXPECT_EQ(domain_of(gang(1, 2)), "b");
  EXPECT_EQ(domain_of(gang(1, 3)), "a") << "neither does";
}

// Writes down what it is shown.
class Witness final : public PlacementScore {
 public:
  static constexpr std::string_view kName = "Witness";
  explicit Witness(std::map<std::string, std::string>& seen) : seen_(seen) {}
  std::int64_t score(const PlacementView& placement) const override {
    std::string text = fmt::format("{} pods", placement.pods);
    for (const PlacementView::Amount& amount : placement.amounts)
      text += fmt::format(", {} {}/{}", placement.cluster.resource(amount.resource).name,
                          amount.used, amount.allocatable);
    seen_[std::string(placement.name)] = text;
    return 0;
  }
  bool looks_at_nodes() const override { return false; }

 private:
  std::map<std::string, std::string>& seen_;
};

TEST_F(PlacerChoice, APluginSeesWhatADomainHasOfWhatTheGroupAsksFor) {
  for (const std::string name : {"a", "b"})
    cluster_.set_node(NodeSample{.name = name,
                                 .memory = "1000",
                                 .labels = {{"rack", name}},
                                 .extended = {{"x.com/gpu", "4"}, {"x.com/other", "4"}}}
                          .make());
  std::map<std::string, std::string> seen;
  profile_ = default_profile();
  profile_.add<Witness>(1, seen);
  const auto leaf = [](const std::string& name, const std::string& resource) {
    std::vector<PodSample> pods = sample_pods(name, 2, "1");
    for (PodSample& pod : pods) {
      pod.memory = "10";
      pod.extended = {{resource, "1"}};
    }
    return sample_leaf(name, 2, std::move(pods), "rack");
  };
  EXPECT_NE(domain_of(sample_composite("c", 2, {leaf("g", "x.com/gpu"), leaf("h", "x.com/other")})),
            "-");
  EXPECT_EQ(seen["a"], "2 pods, cpu 4000/4000, memory 40/1000, x.com/other 2/4")
      << "the first leaf is here";
  EXPECT_EQ(seen["b"], "2 pods, cpu 2000/4000, memory 20/1000, x.com/other 2/4");
}

TEST_F(PlacerChoice, UpstreamsShareShrinksAsNodesBecomeMore) {
  for (int i = 0; i < 10; ++i) rack("r" + std::to_string(i), 10, 1);
  EXPECT_EQ(domain_of(gang(1, 11), {.placements_percentage = 0}), "r0");
  EXPECT_EQ(counts_.feasible, 9U) << "99 of a hundred, of ten";
  EXPECT_EQ(domain_of(gang(1, 11)), "r0");
  EXPECT_EQ(counts_.feasible, 10U);
  EXPECT_EQ(domain_of(gang(1, 11), {.placements_percentage = 19}), "r0");
  EXPECT_EQ(counts_.feasible, 1U);
}

TEST_F(PlacerChoice, TheTimeOfWhatIsCountedThroughTogetherIsShared) {
  using Judged = std::tuple<bool, std::size_t, std::int64_t>;
  std::vector<Judged> judged;
  std::chrono::nanoseconds time{};
  const PlacementTimer timer{
      .stopwatch = [&time] { return time += std::chrono::nanoseconds{90}; },
      .judged =
          [&](bool is_feasible, std::size_t placements, std::chrono::nanoseconds each) {
            judged.emplace_back(is_feasible, placements, each.count());
          }};
  const PlacementOptions measured{.timer = &timer};
  rack("a", 1, 3);
  EXPECT_EQ(domain_of(gang(2, 2), measured), "a");
  EXPECT_EQ(judged, (std::vector<Judged>{{true, 1, 90}}));
  judged.clear();
  rack("b", 1, 1);
  rack("c", 1, 1);
  EXPECT_EQ(domain_of(gang(2, 2), measured), "a");
  EXPECT_EQ(judged, (std::vector<Judged>{{false, 2, 30}, {true, 1, 90}}));
  judged.clear();
  EXPECT_EQ(domain_of(sample_composite("c", 1, {gang(2, 2, "")}, "rack"), measured), "a");
  EXPECT_EQ(judged, (std::vector<Judged>{{true, 1, 90}})) << "composites are not measured";
}

}  // namespace
}  // namespace muster::scheduler
