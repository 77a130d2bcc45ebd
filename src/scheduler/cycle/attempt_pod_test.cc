#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/framework/standings.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

class AttemptPod : public ::testing::Test {
 protected:
  Plan attempt(const PodSample& pod) {
    return attempt_pod({pod.make(), 0, {}, pod.nominated_node}, cluster_, profile_);
  }
  std::string node_for(const PodSample& pod) {
    const Plan plan = attempt(pod);
    return plan.assignments.empty() ? "refused: " + plan.refusals.at(0).message
                                    : plan.assignments[0].node;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

// A total computed by upstream's own code.
TEST_F(AttemptPod, K7PicksTheNodeWithTheHighestTotal) {
  cluster_.set_node(NodeSample{.name = "n1"}.make());
  cluster_.set_node(NodeSample{.name = "n2"}.make());
  cluster_.set_pod(PodSample{.name = "u", .cpu = "2", .memory = "1Gi", .node_name = "n2"}.make());
  const auto pod = PodSample{.name = "p", .cpu = "500m", .memory = "512Mi"}.make();
  const auto best = Standings::of(cluster_, profile_).of_pod(pod).pick();
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(cluster_.node_name(best->node), "n1");
  EXPECT_EQ(best->total, 463);
  cluster_.remove_node("n1");
  const auto rest = Standings::of(cluster_, profile_).of_pod(pod).pick();
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(rest->total, 432);
}

// Upstream judges any number. What others ask costs every pod; a pod that asks so much waits
// instead.
TEST_F(AttemptPod, TooManyTermsAboutPodsAreARefusalThatNamesTheBound) {
  cluster_.set_node(NodeSample{.name = "n1"}.make());
  const auto spread_by = [](int constraints) {
    std::string list;
    for (int i = 0; i < constraints; ++i)
      list += fmt::format(R"({}{{"topologyKey":"k{}","maxSkew":1,)"
                          R"("whenUnsatisfiable":"ScheduleAnyway","labelSelector":{{}}}})",
                          i == 0 ? "" : ",", i);
    return PodSample{.name = "p", .spec = R"("topologySpreadConstraints":[)" + list + "]"};
  };
  EXPECT_EQ(node_for(spread_by(64)), "n1");
  const Plan plan = attempt(spread_by(65));
  ASSERT_EQ(plan.refusals.size(), 1u);
  EXPECT_EQ(plan.refusals[0].message,
            "0/1 nodes are available: the pod has 65 terms of pod affinity and topology spread "
            "constraints, at most 64 are judged.");
  EXPECT_EQ(plan.refusals[0].outcome, Outcome::Unresolvable);
  EXPECT_EQ(plan.refusals[0].plugins, std::vector<std::string>{"PodTopologySpread"});

  // One that asks for pods near it, too.
  PodSample both = spread_by(64);
  both.spec += R"(,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
               R"([{"topologyKey":"k","labelSelector":{}}]}})";
  EXPECT_EQ(attempt(both).refusals.at(0).plugins, std::vector<std::string>{"InterPodAffinity"});
}

// Upstream takes a sample of the nodes of a large cluster, 500 of 5,000 (K1) or the share that a
// configuration says (K2), beginning where the last pod ended (K5). Ours looks at all of them: the
// one node that is better than all others is found, wherever it stands.
TEST_F(AttemptPod, K1K2K5EveryNodeIsLookedAt) {
  for (const int nodes : {50, 100, 250, 500, 1000, 5000, 5700}) {
    Cluster cluster;
    for (int i = 0; i < nodes; ++i)
      cluster.set_node(NodeSample{.name = fmt::format("n{:05}", i)}.make());
    for (const int best : {0, nodes / 2, nodes - 1}) {
      const std::string name = fmt::format("n{:05}", best);
      cluster.set_node(NodeSample{.name = name, .cpu = "64", .memory = "256Gi"}.make());
      const Plan plan =
          attempt_pod({PodSample{.name = "p", .cpu = "1", .memory = "1Gi"}.make(), 0, {}, {}},
                      cluster, profile_);
      ASSERT_EQ(plan.assignments.size(), 1u);
      EXPECT_EQ(plan.assignments[0].node, name) << "of " << nodes;
      cluster.set_node(NodeSample{.name = name}.make());
    }
  }
}

// Upstream takes any of the best (K3), by an order of nodes that depends on zones and on who came
// first (K4); ours is the first by name.
TEST_F(AttemptPod, K3K4BreaksTiesByName) {
  for (const char* name : {"c", "b", "a"}) cluster_.set_node(NodeSample{.name = name}.make());
  EXPECT_EQ(node_for({.name = "p", .cpu = "1", .memory = "1Gi"}), "a");
  cluster_.assume(PodSample{.name = "x", .cpu = "2", .memory = "1Gi"}.make(), "a");
  EXPECT_EQ(node_for({.name = "p", .cpu = "1", .memory = "1Gi"}), "b");
}

// One node is preferred for its disk, the other for the pod that runs there: as much.
TEST_F(AttemptPod, K3K4TiesBetweenDifferentScoresAreBrokenByNameToo) {
  for (const auto& [disk, web] : {std::pair{"a", "b"}, {"b", "a"}}) {
    for (const std::string name : {"a", "b"}) {
      cluster_.set_node(
          NodeSample{.name = name, .labels = {{"host", name}, {"disk", name == disk ? "ssd" : ""}}}
              .make());
      cluster_.set_pod(PodSample{
          .name = "on-" + name, .node_name = name, .labels = {{"app", name == web ? "web" : "db"}}}
                           .make());
    }
    EXPECT_EQ(
        node_for(
            {.name = "p",
             .spec =
                 R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[)"
                 R"({"weight":1,"preference":{"matchExpressions":[)"
                 R"({"key":"disk","operator":"In","values":["ssd"]}]}}]},)"
                 R"("podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[)"
                 R"({"weight":1,"podAffinityTerm":{"topologyKey":"host",)"
                 R"("labelSelector":{"matchLabels":{"app":"web"}}}}]}})"}),
        "a")
        << disk;
  }
}

TEST_F(AttemptPod, SeesWhatWasAssumedBefore) {
  for (const char* name : {"n1", "n2"})
    cluster_.set_node(NodeSample{.name = name, .cpu = "2", .pods = 10}.make());
  std::string where;
  for (int i = 0; i < 4; ++i) {
    const Plan plan = attempt({.name = "p" + std::to_string(i), .cpu = "1"});
    ASSERT_EQ(plan.assignments.size(), 1u);
    where += plan.assignments[0].node + " ";
    cluster_.assume(plan.assignments[0].pod, plan.assignments[0].node);
  }
  EXPECT_EQ(where, "n1 n2 n1 n2 ");
  const Plan full = attempt({.name = "p4", .cpu = "1"});
  ASSERT_EQ(full.refusals.size(), 1u);
  EXPECT_EQ(full.refusals[0].message, "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(full.refusals[0].outcome, Outcome::Unschedulable);
  EXPECT_EQ(full.refusals[0].plugins, std::vector<std::string>{"NodeResourcesFit"});
  cluster_.forget("default-p1");
  EXPECT_EQ(node_for({.name = "p4", .cpu = "1"}), "n2");
}

// Reasons are sorted as texts: 10 comes before 2.
TEST_F(AttemptPod, L2SaysWhyInUpstreamsWords) {
  for (int i = 0; i < 10; ++i)
    cluster_.set_node(
        NodeSample{.name = "c" + std::to_string(i), .labels = {{"d", "ssd"}}, .unschedulable = true}
            .make());
  for (int i = 0; i < 2; ++i) cluster_.set_node(NodeSample{.name = "w" + std::to_string(i)}.make());
  const Plan plan = attempt({.name = "p", .spec = R"("nodeSelector":{"d":"ssd"})"});
  ASSERT_EQ(plan.refusals.size(), 1u);
  EXPECT_EQ(
      plan.refusals[0].message,
      "0/12 nodes are available: 10 node(s) were unschedulable, 2 node(s) didn't match Pod's node "
      "affinity/selector.");
  EXPECT_EQ(plan.refusals[0].outcome, Outcome::Unresolvable);
  EXPECT_EQ(plan.refusals[0].plugins,
            (std::vector<std::string>{"NodeUnschedulable", "NodeAffinity"}));
}

TEST_F(AttemptPod, L1CountsEveryReasonOfANode) {
  for (int i = 0; i < 2; ++i)
    cluster_.set_node(NodeSample{.name = "c" + std::to_string(i), .cpu = "1"}.make());
  cluster_.set_node(NodeSample{.name = "d", .cpu = "1", .memory = "1Gi"}.make());
  for (int i = 0; i < 2; ++i)
    cluster_.set_node(NodeSample{.name = "t" + std::to_string(i),
                                 .taints = R"([{"key":"k","effect":"NoSchedule"}])"}
                          .make());
  EXPECT_EQ(node_for({.name = "p", .cpu = "2", .memory = "2Gi"}),
            "refused: 0/5 nodes are available: 1 Insufficient memory, 2 node(s) had untolerated "
            "taint(s), 3 "
            "Insufficient cpu.");
}

TEST_F(AttemptPod, L4NamesThePluginThatNarrowedTheNodes) {
  for (const char* name : {"a", "b", "c", "d"}) cluster_.set_node(NodeSample{.name = name}.make());
  cluster_.set_pod(PodSample{.name = "u", .cpu = "4", .node_name = "a"}.make());
  const Plan plan = attempt({.name = "p", .cpu = "1", .spec = R"("affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[
      {"key":"metadata.name","operator":"In","values":["a"]}]}]}}})"});
  ASSERT_EQ(plan.refusals.size(), 1u);
  EXPECT_EQ(plan.refusals[0].message,
            "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity].");
  EXPECT_EQ(plan.refusals[0].plugins,
            (std::vector<std::string>{"NodeAffinity", "NodeResourcesFit"}));
}

TEST_F(AttemptPod, RefusesConflictingTermsEverywhereAtOnce) {
  cluster_.set_node(NodeSample{.name = "a"}.make());
  EXPECT_EQ(node_for({.name = "p", .spec = R"("affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[
      {"key":"metadata.name","operator":"In","values":["a"]},
      {"key":"metadata.name","operator":"In","values":["b"]}]}]}}})"}),
            "refused: 0/1 nodes are available: pod affinity terms conflict.");
}

TEST_F(AttemptPod, L7AnEmptyClusterHasNoNodes) {
  const Plan plan = attempt({.name = "p"});
  ASSERT_EQ(plan.refusals.size(), 1u);
  EXPECT_EQ(plan.refusals[0].message, "no nodes available to schedule pods");
  EXPECT_TRUE(plan.refusals[0].plugins.empty());
}

TEST_F(AttemptPod, TakesTheNominatedNodeWhileItFits) {
  for (const char* name : {"a", "b"}) cluster_.set_node(NodeSample{.name = name}.make());
  EXPECT_EQ(node_for({.name = "p", .cpu = "1", .nominated_node = "b"}), "b");
  EXPECT_EQ(node_for({.name = "p", .cpu = "1", .nominated_node = "gone"}), "a");
  cluster_.set_pod(PodSample{.name = "u", .cpu = "4", .node_name = "b"}.make());
  EXPECT_EQ(node_for({.name = "p", .cpu = "1", .nominated_node = "b"}), "a");
}

TEST_F(AttemptPod, WeighsPreferencesAgainstRoom) {
  cluster_.set_node(NodeSample{.name = "a"}.make());
  cluster_.set_node(NodeSample{.name = "b", .labels = {{"disk", "ssd"}}}.make());
  cluster_.set_node(NodeSample{.name = "c",
                               .labels = {{"disk", "ssd"}},
                               .taints = R"([{"key":"k","effect":"PreferNoSchedule"}])"}
                        .make());
  const PodSample pod{.name = "p", .cpu = "1", .spec = R"("affinity":{"nodeAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":10,"preference":{"matchExpressions":[
      {"key":"disk","operator":"In","values":["ssd"]}]}}]}})"};
  EXPECT_EQ(node_for(pod), "b");
  cluster_.set_node(
      NodeSample{.name = "b", .labels = {{"disk", "ssd"}}, .unschedulable = true}.make());
  EXPECT_EQ(node_for(pod), "a");  // 300 for no taint beats 200 for the disk
  cluster_.set_node(NodeSample{.name = "a", .unschedulable = true}.make());
  EXPECT_EQ(node_for(pod), "c");
}

TEST_F(AttemptPod, LabelsAndTaintsMayChangeBetweenAttempts) {
  cluster_.set_node(NodeSample{.name = "a"}.make());
  cluster_.set_node(NodeSample{.name = "b"}.make());
  const PodSample pod{.name = "p", .cpu = "1", .spec = R"("nodeSelector":{"zone":"z1"})"};
  EXPECT_EQ(node_for(pod).substr(0, 7), "refused");
  cluster_.set_node(NodeSample{.name = "b", .labels = {{"zone", "z1"}}}.make());
  EXPECT_EQ(node_for(pod), "b");
  cluster_.set_node(NodeSample{.name = "a", .labels = {{"zone", "z1"}}}.make());
  EXPECT_EQ(node_for(pod), "a");
  cluster_.set_node(NodeSample{
      .name = "a", .labels = {{"zone", "z1"}}, .taints = R"([{"key":"k","effect":"NoExecute"}])"}
                        .make());
  EXPECT_EQ(node_for(pod), "b");
}

TEST_F(AttemptPod, ForgetsClassesBeyondTheBudget) {
  for (int i = 0; i < 200; ++i)
    cluster_.set_node(NodeSample{.name = "n" + std::to_string(i)}.make());
  Standings& standings = Standings::of(cluster_, profile_);
  standings.set_bytes_max(64 << 10);
  for (int i = 2; i <= 201; ++i) {  // two of each class: only a second one makes it worth keeping
    const Plan plan =
        attempt({.name = "p" + std::to_string(i), .cpu = std::to_string(i / 2) + "m"});
    ASSERT_EQ(plan.assignments.size(), 1u);
    cluster_.assume(plan.assignments[0].pod, plan.assignments[0].node);
    EXPECT_LE(standings.bytes(), std::size_t{64 << 10});
  }
  EXPECT_LT(standings.size(), 50u);
}

// A standing keeps its class, and a class one of its pods, though it may be gone.
TEST_F(AttemptPod, StandingsOfLargePodsAreFewer) {
  cluster_.set_node(NodeSample{.name = "n1"}.make());
  Standings& standings = Standings::of(cluster_, profile_);
  standings.set_bytes_max(1 << 20);
  const std::string large(100'000, 'x');
  for (int i = 1; i <= 30; ++i) {
    attempt({.name = "p",
             .cpu = std::to_string(i) + "m",
             .spec = fmt::format(R"("hostname":"{}")", large)});
    EXPECT_LE(standings.size(), 10u);
  }
  // Each label that one selects by has a column, though no node has the label.
  std::string keys;
  for (int k = 0; k < 500; ++k)
    keys += fmt::format(R"({}"example.com/invented-{}":"x")", k == 0 ? "" : ",", k);
  for (int i = 1; i <= 30; ++i) {
    attempt({.name = "p",
             .cpu = std::to_string(i) + "m",
             .spec = fmt::format(R"("nodeSelector":{{{}}})", keys)});
    EXPECT_LE(standings.size(), 10u);
  }
}

// A standing is kept for the next pod of its class. What that class asks counts for its namespace,
// and must not keep others of it out once its pods are gone.
TEST_F(AttemptPod, StandingsOfPodsThatAreGoneKeepNobodyOutForLong) {
  cluster_.set_term_limits({.foreign_terms = 1, .matches = 20});
  const auto asking_for = [](const std::string& app) {
    return PodSample{.name = app,
                     .spec = R"("affinity":{"podAntiAffinity":{)"
                             R"("requiredDuringSchedulingIgnoredDuringExecution":[{)"
                             R"("topologyKey":"zone","namespaceSelector":{},)"
                             R"("labelSelector":{"matchLabels":{"app":")" +
                             app + R"("}}}]}})"};
  };
  cluster_.set_node(NodeSample{.name = "n1"}.make());
  EXPECT_EQ(node_for(asking_for("a")), "n1");
  EXPECT_EQ(node_for(asking_for("a")), "n1") << "the second one makes it worth keeping";
  EXPECT_NE(node_for(asking_for("b")).find("at most 1 are judged"), std::string::npos);
  cluster_.set_node(NodeSample{.name = "n2"}.make());
  EXPECT_EQ(node_for(asking_for("b")).find("refused"), std::string::npos);
}

}  // namespace
}  // namespace muster::scheduler
