#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "scheduler/placement/group_testing.h"
#include "scheduler/placement/placer.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

using Names = std::set<std::string>;

class Preferred : public ::testing::Test {
 protected:
  // Nodes that hold one pod each.
  void rack(const std::string& name, int nodes, const std::string& zone = "z") {
    for (int i = 0; i < nodes; ++i)
      cluster_.set_node(NodeSample{.name = name + "-" + std::to_string(i),
                                   .cpu = "1",
                                   .labels = {{"rack", name}, {"zone", zone}}}
                            .make());
  }
  void run(const std::string& name, const std::string& node, const std::string& group) {
    cluster_.set_pod(PodSample{.name = name, .cpu = "1", .node_name = node, .group = group}.make());
  }
  static Group gang(int pods, int minimum, const std::string& key = "") {
    Group group = sample_leaf("g", minimum, sample_pods("p", pods, "1"), key);
    group.preferred.key = "rack";
    return group;
  }
  static Group insisting(Group group) {
    group.insists_until = Time{} + std::chrono::hours{1};
    return group;
  }
  // The racks that are used, sorted; none if it found no place.
  Names place(const Group& root, PlacementOptions options = {}) {
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Placer placer(tree, workspace, options);
    answer_ = placer.run();
    Names racks;
    for (const Draft::Move& move : workspace.draft().moves()) {
      const std::string& node = cluster_.node_name(move.node);
      racks.insert(node.substr(0, node.find('-')));
    }
    placed_ = workspace.draft().moves().size();
    domain_ = placer.is_placed(0) ? std::string(placer.domain(0).name) : std::string();
    return racks;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
  SearchResult answer_ = SearchResult::Infeasible;
  std::size_t placed_ = 0;
  std::string domain_;
};

TEST_F(Preferred, OneDomainIfThereIsOne) {
  rack("a", 2);
  rack("b", 3);
  EXPECT_EQ(place(gang(3, 3)), Names{"b"});
  EXPECT_EQ(domain_, "b");
  EXPECT_EQ(place(insisting(gang(3, 3))), Names{"b"});
}

TEST_F(Preferred, AsFewAsPossibleUnlessItInsists) {
  rack("a", 1);
  rack("b", 2);
  rack("c", 3);
  rack("d", 2);
  EXPECT_EQ(place(gang(5, 5)), (Names{"b", "c"}));
  EXPECT_EQ(domain_, "c+b");
  EXPECT_EQ(place(insisting(gang(5, 5))), Names{});
  EXPECT_EQ(answer_, SearchResult::Infeasible);
  EXPECT_EQ(place(gang(8, 8)), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(place(gang(9, 9)), Names{});
}

TEST_F(Preferred, AllPodsBeforeFewDomainsAndFewDomainsBeforeSomeExtras) {
  rack("a", 2);
  rack("b", 2);
  rack("c", 2);
  EXPECT_EQ(place(gang(4, 2)).size(), 2U);
  EXPECT_EQ(placed_, 4U);
  EXPECT_EQ(place(gang(9, 2)).size(), 1U) << "they do not fit all, so the minimum decides";
  EXPECT_EQ(placed_, 2U);
}

TEST_F(Preferred, InsideTheDomainThatMustBe) {
  rack("a", 2, "z1");
  rack("b", 1, "z1");
  rack("c", 2, "z2");
  rack("d", 2, "z2");
  EXPECT_EQ(place(gang(3, 3, "zone")).size(), 2U);
  EXPECT_EQ(place(gang(4, 4, "zone")), (Names{"c", "d"}));
  EXPECT_EQ(place(gang(5, 5, "zone")), Names{});
  EXPECT_EQ(place(insisting(gang(3, 3, "zone"))), Names{});
}

TEST_F(Preferred, GoesWhereMembersRun) {
  rack("a", 3);
  rack("b", 2);
  run("r", "b-0", "g");
  EXPECT_EQ(place(gang(1, 1)), Names{"b"});
  EXPECT_EQ(place(insisting(gang(1, 1))), Names{"b"});
  EXPECT_EQ(place(gang(2, 3)), Names{"a"}) << "one more domain holds both";
  EXPECT_EQ(place(insisting(gang(2, 3))), Names{});
}

// The other rack would be full, and so the better one.
TEST_F(Preferred, WhereMembersRunNoDomainIsAdded) {
  rack("a", 1);
  rack("b", 3);
  EXPECT_EQ(place(gang(1, 1)), Names{"a"});
  run("r", "b-0", "g");
  EXPECT_EQ(place(gang(1, 1)), Names{"b"});
}

TEST_F(Preferred, OfManyDomainsOnlyTheFirstAreNamed) {
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) rack(name, 1);
  place(gang(4, 4));
  EXPECT_EQ(domain_, "a+b+c+d");
  place(gang(6, 6));
  EXPECT_EQ(domain_, "a+b+c+d+2 more");
}

TEST_F(Preferred, MembersInSeveralDomainsAreNoContradiction) {
  rack("a", 2);
  rack("b", 1);
  rack("c", 2);
  run("r1", "a-0", "g");
  run("r2", "b-0", "g");
  EXPECT_EQ(place(insisting(gang(1, 3))), Names{"a"});
  EXPECT_EQ(place(gang(1, 3)), Names{"a"});
}

TEST_F(Preferred, NodesWithoutTheLabelAreTheLastChoice) {
  rack("a", 1);
  cluster_.set_node(NodeSample{.name = "bare-0", .cpu = "1"}.make());
  EXPECT_EQ(place(gang(1, 1)), Names{"a"});
  EXPECT_EQ(place(gang(2, 2)), (Names{"a", "bare"}));
  EXPECT_EQ(place(insisting(gang(2, 2))), Names{});
}

TEST_F(Preferred, RolesOfATreeShareADomainIfTheyCan) {
  rack("a", 2);
  rack("b", 4);
  const auto tree = [&] {
    Group root = sample_composite("root", 2,
                                  {sample_leaf("x", 2, sample_pods("x", 2, "1")),
                                   sample_leaf("y", 2, sample_pods("y", 2, "1"))});
    root.preferred.key = "rack";
    return root;
  };
  EXPECT_EQ(place(tree()), Names{"b"});
  run("other", "b-0", "");
  EXPECT_EQ(place(tree()), (Names{"a", "b"}));
  EXPECT_EQ(place(insisting(tree())), Names{});
}

// For pods of one class: no choice of fewer domains holds as many.
RC_GTEST_FIXTURE_PROP(Preferred, UsesTheFewestDomainsThereAre, ()) {
  const auto sizes = *rc::gen::container<std::vector<int>>(6, rc::gen::inRange(1, 5));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    rack(std::string(1, static_cast<char>('a' + i)), sizes[i]);
  int room = 0;
  for (const int size : sizes) room += size;
  const int pods = *rc::gen::inRange(1, room + 1);
  std::vector<int> largest = sizes;
  std::ranges::sort(largest, std::greater{});
  std::size_t fewest = 0;
  for (int fits = 0; fits < pods; ++fewest) fits += largest[fewest];
  RC_ASSERT(place(gang(pods, pods)).size() == fewest);
  RC_ASSERT(place(gang(pods, pods), {.mode = PlacementOptions::Mode::UpstreamOrder}).size() ==
            fewest);
}

}  // namespace
}  // namespace muster::scheduler
