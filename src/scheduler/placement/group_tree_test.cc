#include "scheduler/placement/group_tree.h"

#include <gtest/gtest.h>

#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

class GroupTreeTest : public ::testing::Test {
 protected:
  GroupTreeTest() {
    for (const char* name : {"a0", "a1", "b0"})
      cluster_.set_node(
          NodeSample{.name = name, .labels = {{"rack", std::string(1, *name)}}}.make());
  }
  GroupTree lay_out(const Group& root) {
    return GroupTree(root, cluster_, Standings::of(cluster_, profile_));
  }
  void run(const std::string& name, const std::string& node, const std::string& group,
           const std::string& status = "") {
    cluster_.set_pod(
        PodSample{.name = name, .cpu = "1", .node_name = node, .group = group, .status = status}
            .make());
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

TEST_F(GroupTreeTest, ParentsComeBeforeTheirChildrenAndSumThem) {
  const Group root = sample_composite(
      "root", 2,
      {sample_composite("left", 1, {sample_leaf("l1", 2, sample_pods("x", 3, "1"), "rack")}),
       sample_leaf("right", 1, sample_pods("y", 2, "2"), "host")},
      "rack");
  const GroupTree tree = lay_out(root);
  ASSERT_EQ(tree.items.size(), 4u);
  for (std::uint32_t id = 1; id < tree.items.size(); ++id) EXPECT_LT(tree.items[id].parent, id);
  EXPECT_EQ(tree.items[0].children.size(), 2u);
  EXPECT_EQ(tree.items[0].queued_below, 5);
  EXPECT_EQ(tree.items[1].queued_below, 3);
  EXPECT_FALSE(tree.items[1].is_leaf());
  EXPECT_TRUE(tree.items[2].is_leaf());
  EXPECT_EQ(tree.keys, (std::vector<std::string>{"rack", "host"}));
  EXPECT_EQ(tree.items[0].key, tree.items[2].key);
  EXPECT_EQ(tree.items[1].key, std::nullopt);
}

TEST_F(GroupTreeTest, PodsThatNobodyCanTellApartAreOneShape) {
  const GroupTree tree = lay_out(sample_composite(
      "root", 1,
      {sample_leaf("g", 1, {{.name = "a", .cpu = "1"}, {.name = "b", .cpu = "2"}}),
       sample_leaf("h", 1, {{.name = "c", .cpu = "1"}, {.name = "d", .cpu = "1"}})}));
  ASSERT_EQ(tree.standings.size(), 2u);
  EXPECT_EQ(tree.members[0].class_index, tree.members[2].class_index);
  EXPECT_EQ(tree.members[2].class_index, tree.members[3].class_index);
  EXPECT_NE(tree.members[0].class_index, tree.members[1].class_index);
  EXPECT_EQ(tree.items[0].classes_below, (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(tree.items[2].classes_below, (std::vector<std::int32_t>{2, 0}));
}

TEST_F(GroupTreeTest, RunningAndSucceededMembersCountForTheMinimum) {
  run("m0", "a0", "g");
  run("m1", "a1", "g", R"("phase":"Succeeded")");
  const GroupTree tree = lay_out(sample_leaf("g", 4, sample_pods("p", 3, "1"), "rack"));
  EXPECT_EQ(tree.items[0].held, 2);
  EXPECT_EQ(tree.items[0].missing(), 2);
  EXPECT_EQ(tree.items[0].queued_below, 3);
}

TEST_F(GroupTreeTest, AMemberThatFailedDoesNotCountForTheMinimum) {
  for (const char* name : {"m0", "m1"}) run(name, "a0", "g");
  run("m1", "a0", "g", R"("phase":"Failed")");
  const GroupTree tree = lay_out(sample_leaf("g", 3, sample_pods("p", 2, "1"), "rack"));
  EXPECT_EQ(tree.items[0].held, 1);
  EXPECT_EQ(tree.items[0].missing(), 2);
}

TEST_F(GroupTreeTest, ATerminatingPodIsNoMemberToPlace) {
  std::vector<PodSample> pods = sample_pods("p", 2, "1");
  pods[0].terminating = true;
  const GroupTree tree = lay_out(sample_leaf("g", 1, pods));
  EXPECT_EQ(tree.items[0].members.size(), 1u);
}

TEST_F(GroupTreeTest, RunningMembersPinEveryGroupAboveThemThatHasAKey) {
  run("m0", "a0", "g");
  run("m1", "b0", "h");
  run("done", "b0", "g", R"("phase":"Succeeded")");
  const GroupTree tree =
      lay_out(sample_composite("root", 1,
                               {sample_leaf("g", 1, sample_pods("x", 1, "1"), "rack"),
                                sample_leaf("h", 1, sample_pods("y", 1, "1"))},
                               "rack"));
  EXPECT_EQ(tree.items[0].pinned_to, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tree.items[1].pinned_to, (std::vector<std::string>{"a"}))
      << "a member that has finished binds nobody";
  EXPECT_TRUE(tree.items[2].pinned_to.empty()) << "without a key there is nothing to keep to";
}

TEST_F(GroupTreeTest, DomainsOfRunningMembersComeByNameAndOnce) {
  run("m0", "b0", "g");
  run("m1", "a1", "h");
  run("m2", "a0", "h");
  Group root = sample_composite("root", 1,
                                {sample_leaf("g", 1, sample_pods("x", 1, "1")),
                                 sample_leaf("h", 1, sample_pods("y", 1, "1"))},
                                "rack");
  const std::vector<std::string> both{"a", "b"};
  EXPECT_EQ(lay_out(root).items[0].pinned_to, both);
  root.topology_key.clear();
  root.preferred.key = "rack";
  const GroupTree wishes = lay_out(root);
  EXPECT_EQ(wishes.items[0].prefers_at, both);
  EXPECT_TRUE(wishes.items[0].pinned_to.empty());
  EXPECT_FALSE(wishes.items[0].has_unlabelled);
}

TEST_F(GroupTreeTest, AWishForTheKeyThatMustBeIsNone) {
  Group leaf = sample_leaf("g", 1, sample_pods("x", 1, "1"), "rack");
  leaf.preferred.key = "rack";
  leaf.insists_until = Time{};
  const GroupTree same = lay_out(leaf);
  EXPECT_EQ(same.items[0].preferred, std::nullopt);
  EXPECT_FALSE(same.items[0].insists);
  EXPECT_EQ(same.items[0].confining_key(), 0U);
  leaf.preferred.key = "host";
  const GroupTree other = lay_out(leaf);
  EXPECT_EQ(other.keys, (std::vector<std::string>{"rack", "host"}));
  EXPECT_EQ(other.items[0].preferred, 1U);
  EXPECT_EQ(other.items[0].confining_key(), 1U) << "it insists";
  leaf.insists_until.reset();
  EXPECT_EQ(lay_out(leaf).items[0].confining_key(), 0U);
}

TEST_F(GroupTreeTest, WhatIsHeldBelowIsSummed) {
  run("m0", "a0", "g");
  run("m1", "b0", "h");
  run("m2", "b0", "h", R"("phase":"Succeeded")");
  const GroupTree tree =
      lay_out(sample_composite("root", 1,
                               {sample_composite("mid", 1, {sample_leaf("g", 1, {})}),
                                sample_leaf("h", 3, sample_pods("y", 1, "1"))}));
  EXPECT_EQ(tree.items[0].held_below, 3);
  EXPECT_EQ(tree.items[1].held_below, 1);
  EXPECT_EQ(tree.items[0].held, 0) << "of leaves alone";
  EXPECT_EQ(tree.items[3].missing(), 1);
  EXPECT_EQ(tree.items[2].missing(), 0);
}

TEST_F(GroupTreeTest, AMemberOnANodeWithoutTheLabelIsNoticed) {
  run("m0", "a0", "g");
  cluster_.set_node(NodeSample{.name = "a0"}.make());
  EXPECT_TRUE(
      lay_out(sample_leaf("g", 1, sample_pods("p", 1, "1"), "rack")).items[0].has_unlabelled);
  cluster_.remove_node("a0");
  EXPECT_TRUE(
      lay_out(sample_leaf("g", 1, sample_pods("p", 1, "1"), "rack")).items[0].has_unlabelled);
}

}  // namespace
}  // namespace muster::scheduler
