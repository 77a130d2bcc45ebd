#include "scheduler/placement/symmetry.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

// Which racks and nodes are as good as each other for a tree.
class SymmetryTest : public ::testing::Test {
 protected:
  void node(const std::string& name, const std::string& rack, const std::string& cpu,
            const std::string& zone = "z", std::map<std::string, std::string> more = {}) {
    more.insert({{"rack", rack}, {"zone", zone}});
    cluster_.set_node(NodeSample{.name = name, .cpu = cpu, .labels = std::move(more)}.make());
  }
  void run(const std::string& name, const std::string& node, const std::string& group = "",
           const std::string& cpu = "0") {
    cluster_.set_pod(PodSample{.name = name, .cpu = cpu, .node_name = node, .group = group}.make());
  }
  static Group gang(const std::string& key = "rack") {
    return sample_leaf("g", 1, sample_pods("p", 1, "1"), key);
  }
  void with(const Group& root, const std::function<void(Symmetry&, const GroupTree&)>& look) {
    const GroupTree tree(root, cluster_, Standings::of(cluster_, profile_));
    Workspace workspace(cluster_, *tree.topology, tree.standings);
    Symmetry symmetry(tree, workspace);
    look(symmetry, tree);
  }
  // By domain of the tree's first key: which it is like, by number; "!" if it is like no other.
  std::string kinds(const Group& root) {
    std::string kinds;
    with(root, [&](Symmetry& symmetry, const GroupTree& tree) {
      std::vector<Symmetry::Signature> seen;
      for (const Domain& domain : tree.topology->split(tree.topology->everywhere(), 0)) {
        const Symmetry::Signature signature = symmetry.of_domain(domain, 0);
        if (signature.empty()) {
          kinds += '!';
          continue;
        }
        const auto at = std::ranges::find(seen, signature);
        kinds += static_cast<char>('0' + (at - seen.begin()));
        if (at == seen.end()) seen.push_back(signature);
      }
    });
    return kinds;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

TEST_F(SymmetryTest, RacksAreAlikeIfTheirNodesAreInAnyOrder) {
  node("n1", "a", "2");
  node("n2", "a", "4");
  node("n3", "b", "4");
  node("n4", "b", "2");
  node("n5", "c", "2");
  node("n6", "c", "2");
  EXPECT_EQ(kinds(gang()), "001");
  run("p", "n1", "", "1");
  EXPECT_EQ(kinds(gang()), "012") << "what is free is compared";
  run("q", "n4", "", "1");
  EXPECT_EQ(kinds(gang()), "001");
  run("r", "n4", "", "0");
  EXPECT_EQ(kinds(gang()), "012") << "slots too";
}

TEST_F(SymmetryTest, NodesThatTakeNobodyDoNotMatter) {
  node("n1", "a", "2");
  node("n2", "a", "0");
  node("n3", "b", "2");
  node("n4", "c", "0");
  node("n5", "d", "0");
  EXPECT_EQ(kinds(gang()), "0011") << "racks without room are alike";
}

TEST_F(SymmetryTest, WhatFiltersSayIsCompared) {
  node("n1", "a", "2", "z", {{"disk", "ssd"}});
  node("n2", "b", "2", "z", {{"disk", "hdd"}});
  node("n3", "c", "2", "z", {{"disk", "ssd"}});
  EXPECT_EQ(kinds(gang()), "000");
  const Group picky =
      sample_leaf("g", 1,
                  {{.name = "p", .cpu = "1"},
                   {.name = "q", .cpu = "1", .spec = R"("nodeSelector":{"disk":"ssd"})"}},
                  "rack");
  EXPECT_EQ(kinds(picky), "010");
}

TEST_F(SymmetryTest, ARackWithRunningMembersIsLikeNoOther) {
  for (const char* name : {"a", "b", "c"}) node(std::string("n") + name, name, "2");
  run("m", "nb", "g");
  EXPECT_EQ(kinds(gang()), "0!0");
  EXPECT_EQ(kinds(sample_composite("c", 1, {gang(), sample_leaf("h", 1, {})})), "0!0");
  Group wishes = gang("");
  wishes.preferred.key = "rack";
  EXPECT_EQ(kinds(wishes), "0!0");
}

TEST_F(SymmetryTest, ZonesTellRacksApartOnlyIfTheyAreNotAlikeThemselves) {
  node("n1", "a", "2", "z1");
  node("n2", "b", "2", "z1");
  node("n3", "c", "2", "z2");
  const Group tree = sample_composite("c", 1, {gang("rack"), gang("zone")});
  EXPECT_EQ(kinds(tree), "001");
  EXPECT_EQ(kinds(gang()), "000") << "nobody asks for zones";
  node("n4", "d", "2", "z3");
  EXPECT_EQ(kinds(tree), "0011") << "each of the two is all of its zone";
}

TEST_F(SymmetryTest, ARackNameThatIsUsedElsewhereCannotBeExchanged) {
  node("n1", "a", "2", "z1");
  node("n2", "b", "2", "z1");
  node("n3", "a", "2", "z2");
  with(sample_composite("c", 1, {gang("rack"), gang("zone")}),
       [](Symmetry& symmetry, const GroupTree& tree) {
         const Topology& topology = *tree.topology;
         const auto zones = topology.split(topology.everywhere(), 1);
         const auto racks = topology.split(zones[0], 0);
         ASSERT_EQ(racks.size(), 2U);
         EXPECT_TRUE(symmetry.of_domain(racks[0], 0).empty()) << "a is in both zones";
         EXPECT_FALSE(symmetry.of_domain(racks[1], 0).empty());
       });
}

TEST_F(SymmetryTest, ADomainWithoutNodesIsLikeNoOther) {
  node("n1", "a", "2");
  with(gang(), [](Symmetry& symmetry, const GroupTree&) {
    EXPECT_TRUE(symmetry.of_domain({}, 0).empty());
  });
}

TEST_F(SymmetryTest, TheKindOfANodeIsWhatItWasAtFirst) {
  node("n1", "a", "2");
  node("n2", "a", "2");
  node("n3", "a", "4");
  node("n4", "b", "2");
  const GroupTree tree(gang(), cluster_, Standings::of(cluster_, profile_));
  Workspace workspace(cluster_, *tree.topology, tree.standings);
  Symmetry symmetry(tree, workspace);
  const auto kind = [&](const char* name) {
    NodeId id{};
    EXPECT_TRUE(cluster_.find_node(name, id));
    return symmetry.kind_of(id);
  };
  NodeId n1{};
  ASSERT_TRUE(cluster_.find_node("n1", n1));
  const std::uint32_t first = kind("n1");
  EXPECT_NE(kind("n3"), first);
  EXPECT_NE(kind("n4"), first) << "it is in another cell";
  workspace.place(0, n1, 0);
  EXPECT_EQ(kind("n1"), first);
  EXPECT_EQ(symmetry.known_kind(n1), first);
  EXPECT_EQ(kind("n2"), first) << "it is what n1 was";
  symmetry.clear_kinds();
  EXPECT_NE(kind("n1"), kind("n2"));
}

}  // namespace
}  // namespace muster::scheduler
