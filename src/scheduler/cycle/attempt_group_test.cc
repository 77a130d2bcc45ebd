#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

class AttemptGroup : public ::testing::Test {
 protected:
  void rack(const std::string& name, int count, int slots, int used = 0,
            const std::string& zone = "z") {
    add_sample_rack(cluster_, name, count, slots, used, zone);
  }
  Plan attempt(const Group& root) {
    Plan plan = attempt_group(root, cluster_, profile_);
    nodes_.clear();
    for (const Assignment& assignment : plan.assignments)
      nodes_[assignment.pod->meta().name] = assignment.node;
    return plan;
  }
  std::set<std::string> racks_of(const std::string& prefix) const {
    std::set<std::string> racks;
    for (const auto& [pod, node] : nodes_)
      if (pod.starts_with(prefix)) racks.insert(node.substr(0, node.find('-')));
    return racks;
  }
  std::int64_t used_cpu() const {
    std::int64_t sum = 0;
    cluster_.nodes().for_each(
        [&](NodeId node) { sum += cluster_.resource(ResourceId::Cpu).requested[node]; });
    return sum;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
  std::map<std::string, std::string> nodes_;
};

TEST_F(AttemptGroup, AGangLandsWholeInOneRack) {
  rack("a", 4, 4, 10);
  rack("b", 4, 4, 4);
  const std::int64_t before = used_cpu();
  const Plan plan = attempt(sample_leaf("g", 8, sample_pods("p", 8, "1"), "rack"));
  ASSERT_EQ(plan.assignments.size(), 8u);
  EXPECT_EQ(racks_of("p"), std::set<std::string>{"b"});
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].outcome, Outcome::Placed);
  EXPECT_EQ(plan.groups[0].domain, "b");
  EXPECT_EQ(used_cpu(), before) << "the attempt leaves the cluster as it was";
}

// Nobody of the group is whom they want near them, so nobody comes: no pod fits, and no bound says
// that one does.
TEST_F(AttemptGroup, PodsThatWantSomebodyNearAreNotSaidToFitAlone) {
  rack("a", 2, 4);
  const std::string wish =
      R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
      R"({"topologyKey":"rack","labelSelector":{"matchLabels":{"app":"nobody"}}}]}})";
  std::vector<PodSample> lost = sample_pods("p", 2, "1");
  for (PodSample& pod : lost) pod.spec = wish;
  const GroupVerdict anywhere = attempt(sample_leaf("g", 2, lost)).groups[0];
  EXPECT_EQ(anywhere.message,
            "pod group is unschedulable, 0 of 2 pods fit; 0/2 nodes are available: 2 node(s) "
            "didn't match pod affinity rules");
  const GroupVerdict racked = attempt(sample_leaf("g", 2, lost, "rack")).groups[0];
  EXPECT_EQ(racked.message,
            "pod group is unschedulable, 0/1 placements are available, 0/2 nodes are available: 2 "
            "node(s) didn't match pod affinity rules");
  for (const GroupVerdict& verdict : {anywhere, racked}) {
    ASSERT_EQ(verdict.bounds.size(), 1u);
    EXPECT_EQ(verdict.bounds[0].fits_at_most, 0);
    EXPECT_EQ(verdict.bounds[0].needed, 2);
  }
}

// The one they want comes with them.
TEST_F(AttemptGroup, PodsThatWantAMemberOfTheirGroupFit) {
  rack("a", 2, 4);
  const std::string wish =
      R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
      R"({"topologyKey":"rack","labelSelector":{"matchLabels":{"app":"leader"}}}]}})";
  std::vector<PodSample> members = sample_pods("p", 3, "1");
  members[0].labels = {{"app", "leader"}};
  for (std::size_t i = 1; i < members.size(); ++i) members[i].spec = wish;
  EXPECT_EQ(attempt(sample_leaf("g", 3, members, "rack")).groups[0].outcome, Outcome::Placed);
}

TEST_F(AttemptGroup, TheFullestRackThatHoldsAllWins) {
  rack("a", 4, 4, 2);
  rack("b", 4, 4, 6);
  rack("c", 4, 4, 12);
  attempt(sample_leaf("g", 4, sample_pods("p", 8, "1"), "rack"));
  EXPECT_EQ(racks_of("p"), std::set<std::string>{"b"});
}

TEST_F(AttemptGroup, WhereNoRackTakesAPodAllNodesSpeak) {
  rack("a1", 4, 4, 6);
  rack("a2", 4, 4, 2);
  const Plan plan = attempt(sample_leaf("g", 2, sample_pods("p", 2, "9"), "rack"));
  EXPECT_EQ(plan.groups[0].message,
            "pod group is unschedulable, 0/2 placements are available, 0/8 nodes are available: 8 "
            "Insufficient cpu");
}

TEST_F(AttemptGroup, SaysWhichRackComesClosest) {
  rack("a1", 4, 4, 6);
  rack("a2", 4, 4, 2);
  const Plan plan = attempt(sample_leaf("g", 16, sample_pods("p", 16, "1"), "example.com/rack"));
  EXPECT_EQ(plan.groups[0].message,
            "pod group is unschedulable, no feasible placements found: no node has the label "
            "example.com/rack");
  const Plan closest = attempt(sample_leaf("g", 16, sample_pods("p", 16, "1"), "rack"));
  ASSERT_TRUE(closest.assignments.empty());
  EXPECT_EQ(closest.groups[0].outcome, Outcome::Unschedulable);
  EXPECT_EQ(closest.groups[0].message,
            "pod group is unschedulable, 0/2 placements are available, rack a2 comes closest: 14 "
            "of 16 pods fit; "
            "short of 2 × cpu 1");
  ASSERT_EQ(closest.groups[0].bounds.size(), 2u);
  EXPECT_EQ(closest.groups[0].bounds[0].domain, "a2");
  EXPECT_EQ(closest.groups[0].bounds[0].fits_at_most, 14);
  EXPECT_EQ(closest.groups[0].bounds[1].fits_at_most, 10);
  ASSERT_EQ(closest.refusals.size(), 16u);
  EXPECT_EQ(closest.refusals[0].message, closest.groups[0].message);
  EXPECT_EQ(closest.refusals[0].plugins, std::vector<std::string>{"NodeResourcesFit"});
}

TEST_F(AttemptGroup, MembersThatAreMissingAreCounted) {
  rack("a", 1, 4);
  const Plan plan = attempt(sample_leaf("g", 3, sample_pods("p", 2, "1")));
  EXPECT_EQ(
      plan.groups[0].message,
      "pod group is unschedulable, minCount (3) cannot be satisfied: 0 scheduled, 2 remaining");
  EXPECT_EQ(plan.groups[0].outcome, Outcome::Unresolvable);
}

TEST_F(AttemptGroup, RequestsBeyondAnyNodeAreUnresolvable) {  // L18
  rack("a", 4, 4);
  const Plan plan = attempt(sample_leaf("g", 2, sample_pods("p", 2, "8")));
  EXPECT_EQ(plan.groups[0].outcome, Outcome::Unresolvable);
  EXPECT_EQ(
      plan.groups[0].message,
      "pod group is unschedulable, 0 of 2 pods fit; 0/4 nodes are available: 4 Insufficient cpu");
}

TEST_F(AttemptGroup, ExtrasAreLeftOverWithTheirOwnReason) {
  rack("a", 1, 4);
  const Plan plan = attempt(sample_leaf("g", 2, sample_pods("p", 6, "1"), "rack"));
  EXPECT_EQ(plan.assignments.size(), 4u);
  ASSERT_EQ(plan.refusals.size(), 2u);
  EXPECT_EQ(plan.refusals[0].message, "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(plan.groups[0].outcome, Outcome::Placed);
}

TEST_F(AttemptGroup, SuccessNeedsANewPod) {
  rack("a", 1, 2, 2);
  cluster_.set_pod(PodSample{.name = "m", .cpu = "0", .node_name = "a-0", .group = "g"}.make());
  const Plan plan = attempt(sample_leaf("g", 1, sample_pods("p", 1, "1")));
  EXPECT_TRUE(plan.assignments.empty());
  EXPECT_EQ(plan.groups[0].outcome, Outcome::Unschedulable);
}

// docs/kubernetes-behaviour.md.
TEST_F(AttemptGroup, L1PodOrderDoesNotDecide) {
  cluster_.set_node(NodeSample{.name = "n1", .cpu = "4"}.make());
  cluster_.set_node(NodeSample{.name = "n2", .cpu = "2"}.make());
  const Plan plan = attempt(sample_leaf(
      "g", 3, {{.name = "s1", .cpu = "1"}, {.name = "s2", .cpu = "1"}, {.name = "b", .cpu = "4"}}));
  EXPECT_EQ(plan.assignments.size(), 3u);
  EXPECT_EQ(nodes_["b"], "n1");
  EXPECT_EQ(nodes_["s1"], "n2");
}

TEST_F(AttemptGroup, L2SiblingsMakeRoomForEachOther) {
  rack("r1", 5, 10, 45);
  rack("r2", 1, 10, 6);
  const Plan plan =
      attempt(sample_composite("c", 2,
                               {sample_leaf("g1", 3, sample_pods("x", 3, "1"), "rack"),
                                sample_leaf("g2", 5, sample_pods("y", 5, "1"), "rack")}));
  EXPECT_EQ(plan.assignments.size(), 8u);
  EXPECT_EQ(racks_of("x"), std::set<std::string>{"r2"});
  EXPECT_EQ(racks_of("y"), std::set<std::string>{"r1"});
  ASSERT_EQ(plan.groups.size(), 3u);
  EXPECT_EQ(plan.groups[1].domain, "r2");
  EXPECT_EQ(plan.groups[2].domain, "r1");
}

TEST_F(AttemptGroup, L3MinimumsComeBeforeExtras) {
  rack("a", 1, 8);
  const Plan plan = attempt(sample_composite("c", 2,
                                             {sample_leaf("g1", 2, sample_pods("x", 6, "1")),
                                              sample_leaf("g2", 4, sample_pods("y", 4, "1"))}));
  EXPECT_EQ(plan.assignments.size(), 8u);
  EXPECT_EQ(plan.refusals.size(), 2u);
}

TEST_F(AttemptGroup, L4DoomedSubtreesAreSkipped) {
  rack("a", 10, 20);
  const Plan plan = attempt(sample_composite(
      "root", 1,
      {sample_composite(
           "c1", 2,
           {sample_leaf("p11", 100, sample_pods("x", 100, "1")), sample_leaf("p12", 10, {})}),
       sample_leaf("c2", 1, sample_pods("y", 1, "1"))}));
  EXPECT_EQ(plan.assignments.size(), 1u);
  EXPECT_LT(plan.steps, 10u);
  EXPECT_EQ(plan.groups[0].outcome, Outcome::Placed);
  EXPECT_EQ(plan.groups[1].outcome, Outcome::Unresolvable);
}

TEST_F(AttemptGroup, L5TheRackThatHoldsAllBeatsAFullerOne) {
  rack("a", 2, 10, 0);
  rack("b", 2, 10, 14);
  attempt(sample_leaf("g", 6, sample_pods("p", 10, "1"), "rack"));
  EXPECT_EQ(racks_of("p"), std::set<std::string>{"a"});
}

TEST_F(AttemptGroup, L6ABasicGroupPrefersARackWithRoomToGrow) {
  rack("r1", 1, 10);
  rack("r2", 1, 10, 8);
  Group group = sample_leaf("g", 0, sample_pods("p", 1, "1"), "rack");
  attempt(group);
  EXPECT_EQ(racks_of("p"), std::set<std::string>{"r2"});  // nothing is known of its size
  group.declared_size = 10;
  attempt(group);
  EXPECT_EQ(racks_of("p"), std::set<std::string>{"r1"});
}

TEST_F(AttemptGroup, RunningMembersPinTheDomain) {
  rack("a", 2, 4);
  rack("b", 2, 4, 7);
  cluster_.set_pod(PodSample{.name = "m", .cpu = "1", .node_name = "a-0", .group = "g"}.make());
  EXPECT_EQ(attempt(sample_leaf("g", 3, sample_pods("p", 2, "1"), "rack")).groups[0].domain, "a");
  cluster_.set_pod(PodSample{.name = "m2", .cpu = "1", .node_name = "b-1", .group = "g"}.make());
  const Plan plan = attempt(sample_leaf("g", 4, sample_pods("p", 2, "1"), "rack"));
  EXPECT_EQ(plan.groups[0].message,
            "pod group is unschedulable, members already run in more than one rack: a, b");
  EXPECT_NE(plan.groups[0].outcome, Outcome::Error);
}

TEST_F(AttemptGroup, L13TerminatingMembersDoNotCount) {
  rack("a", 2, 4);
  for (int i = 0; i < 3; ++i)
    cluster_.set_pod(PodSample{.name = "old" + std::to_string(i),
                               .cpu = "1",
                               .node_name = "a-0",
                               .group = "g",
                               .terminating = true}
                         .make());
  EXPECT_TRUE(attempt(sample_leaf("g", 4, sample_pods("p", 3, "1"))).assignments.empty());
}

TEST_F(AttemptGroup, L12SucceededMembersCount) {
  rack("a", 2, 4);
  cluster_.set_pod(PodSample{.name = "done",
                             .cpu = "1",
                             .node_name = "a-0",
                             .group = "g",
                             .status = R"("phase":"Succeeded")"}
                       .make());
  EXPECT_EQ(attempt(sample_leaf("g", 4, sample_pods("p", 3, "1"))).assignments.size(), 3u);
}

TEST_F(AttemptGroup, RacksNestInZones) {
  rack("a1", 4, 1, 1, "a");
  rack("a2", 4, 1, 0, "a");
  rack("b1", 4, 1, 0, "b");
  const Plan plan =
      attempt(sample_composite("llm", 2,
                               {sample_leaf("prefill", 4, sample_pods("x", 4, "1"), "rack"),
                                sample_leaf("decode", 3, sample_pods("y", 3, "1"), "rack")},
                               "zone"));
  ASSERT_EQ(plan.assignments.size(), 7u);
  EXPECT_EQ(plan.groups[0].domain, "a");
  EXPECT_EQ(plan.groups[1].domain, "a2");
  EXPECT_EQ(plan.groups[2].domain, "a1");
  const Plan wide = attempt(sample_leaf("sweep", 8, sample_pods("s", 8, "1"), "zone"));
  EXPECT_EQ(wide.groups[0].message,
            "pod group is unschedulable, 0/2 placements are available, zone a comes closest: 7 of "
            "8 pods fit; short "
            "of 1 × cpu 1");
}

TEST_F(AttemptGroup, EqualRackNamesInTwoZonesStayApart) {
  for (const char* zone : {"a", "b"})
    for (int i = 0; i < 2; ++i)
      cluster_.set_node(NodeSample{.name = std::string(zone) + std::to_string(i),
                                   .cpu = "1",
                                   .labels = {{"zone", zone}, {"rack", "r1"}}}
                            .make());
  const Plan plan = attempt(
      sample_composite("c", 1, {sample_leaf("g", 3, sample_pods("p", 3, "1"), "rack")}, "zone"));
  EXPECT_TRUE(plan.assignments.empty());
}

TEST_F(AttemptGroup, AFailedChildOfAPlacedTreeKeepsItsOwnReason) {
  rack("a", 2, 4);
  const Plan plan =
      attempt(sample_composite("c", 1,
                               {sample_leaf("big", 20, sample_pods("x", 20, "1"), "rack"),
                                sample_leaf("small", 2, sample_pods("y", 2, "1"), "rack")}));
  EXPECT_EQ(plan.assignments.size(), 2u);
  EXPECT_EQ(plan.groups[1].message,
            "pod group is unschedulable, 0/1 placements are available, rack a comes closest: 6 of "
            "20 pods fit; short "
            "of 14 × cpu 1");
  EXPECT_EQ(plan.refusals.size(), 20u);
}

TEST_F(AttemptGroup, MixedPodsOfOneLeafFindTheirWayTogether) {
  for (int i = 0; i < 3; ++i)
    cluster_.set_node(
        NodeSample{.name = "n" + std::to_string(i), .cpu = "6", .labels = {{"rack", "a"}}}.make());
  std::vector<PodSample> mixed = sample_pods("s", 6, "1");
  for (const PodSample& pod : sample_pods("b", 3, "4")) mixed.push_back(pod);
  EXPECT_EQ(attempt(sample_leaf("g", 9, mixed, "rack")).assignments.size(), 9u);
  mixed.push_back({.name = "one-more", .cpu = "1"});
  const Plan plan = attempt(sample_leaf("g", 10, mixed, "rack"));
  EXPECT_TRUE(plan.assignments.empty());
  EXPECT_NE(plan.groups[0].outcome, Outcome::Placed);
}

TEST_F(AttemptGroup, WrongTreesAreNamed) {
  rack("a", 1, 4);
  Group root = sample_leaf("g", 1, sample_pods("p", 2, "1"));
  root.priority = 7;
  const Plan plan = attempt(root);
  EXPECT_EQ(plan.groups[0].outcome, Outcome::Error);
  EXPECT_EQ(plan.groups[0].message,
            "all pods in a single pod group should have the same priority as the pod group's "
            "priority, got 0 and 7");
  root.priority = 0;
  root.never_preempts = true;
  EXPECT_EQ(attempt(root).groups[0].message,
            "all pods in a single pod group should have the same preemption policy as the pod "
            "group's preemption policy, got PreemptLowerPriority and Never");
  root.never_preempts = false;
  EXPECT_EQ(attempt(root).groups[0].outcome, Outcome::Placed);
}

TEST_F(AttemptGroup, MembersThatAreNotQueuedMustAgreeToo) {
  rack("a", 1, 4);
  const Group tree = sample_composite("c", 1, {sample_leaf("g", 1, sample_pods("p", 2, "1"))});
  const std::string ours = "default-scheduler";
  struct Case {
    MemberTraits traits;
    std::string want;
  };
  const Case cases[] = {
      {{ours, 0, false}, ""},
      {{"other", 0, false},
       "all pods in a single pod group should have the same .spec.schedulerName set, got: "
       "\"default-scheduler\" and \"other\""},
      {{ours, 5, false},
       "all pods in a single pod group should have the same priority as the pod group's priority, "
       "got 5 and 0"},
      {{ours, 0, true},
       "all pods in a single pod group should have the same preemption policy, got "
       "PreemptLowerPriority and Never"}};
  for (const Case& c : cases) {
    Group root = tree;
    root.children[0].traits = {{ours, 0, false}, c.traits};
    const Plan plan = attempt(root);
    EXPECT_EQ(plan.groups[0].message, c.want);
    EXPECT_EQ(plan.groups[1].outcome, c.want.empty() ? Outcome::Placed : Outcome::Error) << c.want;
  }
}

TEST_F(AttemptGroup, SameClusterSamePlan) {
  rack("b", 4, 4, 3);
  rack("a", 4, 4, 3);
  attempt(sample_leaf("g", 8, sample_pods("p", 8, "1"), "rack"));
  const auto first = nodes_;
  EXPECT_EQ(racks_of("p"), std::set<std::string>{"a"}) << "ties go to the first name";
  attempt(sample_leaf("g", 8, sample_pods("p", 8, "1"), "rack"));
  EXPECT_EQ(nodes_, first);
}

// Devices for a group are not allocated: nothing of the tree is placed, and its pods say why.
TEST_F(AttemptGroup, RefusesATreeWithClaims) {
  rack("a", 2, 4);
  Group claiming = sample_leaf("claiming", 2, sample_pods("c", 2, "1"));
  claiming.object = api::Object::make(
      api::kinds::pod_group(), api::parse_json(R"({"metadata":{"name":"claiming"},)"
                                               R"("spec":{"resourceClaims":[{"name":"x"}]}})")
                                   ->value);
  const Plan plan = attempt(
      sample_composite("all", 1, {claiming, sample_leaf("free", 1, sample_pods("f", 1, "1"))}));
  EXPECT_TRUE(plan.assignments.empty());
  ASSERT_EQ(plan.refusals.size(), 3u);
  for (const Refusal& refusal : plan.refusals) {
    EXPECT_EQ(refusal.message, "DynamicResources allocation is not supported");
    EXPECT_EQ(refusal.plugins, std::vector<std::string>{"DynamicResources"});
  }
}

TEST_F(AttemptGroup, NodesMustDeclareTheFeaturesThatItsPodsNeed) {
  rack("a", 2, 4);
  std::vector<PodSample> samples = sample_pods("c", 2, "1");
  for (PodSample& pod : samples) pod.spec = R"("hostNetwork":true,"hostUsers":false)";
  const Plan plan = attempt(sample_leaf("gang", 2, samples, "rack"));
  EXPECT_TRUE(plan.assignments.empty());
  ASSERT_EQ(plan.refusals.size(), 2u);
  EXPECT_NE(plan.refusals[0].message.find("node(s) didn't match Pod's required features"),
            std::string::npos)
      << plan.refusals[0].message;
}

}  // namespace
}  // namespace muster::scheduler
