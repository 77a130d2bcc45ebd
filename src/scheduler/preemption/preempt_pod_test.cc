#include <gtest/gtest.h>

#include <string_view>

#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/preemption/preemption.h"

namespace muster::scheduler {
namespace {

class PreemptPod : public testing::Test {
 protected:
  void add_node(const std::string& name, const std::string& cpu = "4") {
    model_.put(NodeSample{.name = name, .cpu = cpu}.make());
  }
  void run(const std::string& name, const std::string& node, std::int64_t priority,
           const std::string& cpu = "4") {
    model_.put(PodSample{.name = name, .cpu = cpu, .node_name = node, .priority = priority}.make());
  }
  PreemptionPlan preempt(std::int64_t priority, const std::string& cpu = "4") {
    const auto pod = PodSample{.name = "p", .cpu = cpu, .priority = priority}.make();
    model_.put(pod);
    return preempt_for_pod(model_, {pod, 0, {}, {}}, args_, Time{});
  }
  static std::vector<std::string> names(const PreemptionPlan& plan) {
    std::vector<std::string> names;
    for (const VictimUnit& unit : plan.victims)
      for (const VictimUnit::Pod& pod : unit.pods) names.push_back(pod.pod->meta().name);
    return names;
  }

  ClusterModel model_{default_profile(), {}};
  PreemptionArgs args_;
};

using Names = std::vector<std::string>;

TEST_F(PreemptPod, EvictsALowerPod) {
  add_node("n");
  run("low", "n", 1);
  const PreemptionPlan plan = preempt(2);
  EXPECT_EQ(plan.answer, PreemptionPlan::Answer::Preempts);
  EXPECT_EQ(names(plan), Names{"low"});
  ASSERT_EQ(plan.nominated.size(), 1U);
  EXPECT_EQ(plan.nominated[0].node, "n");
  EXPECT_EQ(plan.message,
            "preemption: found a potential placement for pod on node n, preempting 1 victims (at "
            "least 1 needed)");
}

TEST_F(PreemptPod, LeavesEqualsAlone) {
  add_node("n");
  run("equal", "n", 2);
  const PreemptionPlan plan = preempt(2);
  EXPECT_EQ(plan.answer, PreemptionPlan::Answer::NoVictims);
  EXPECT_EQ(plan.message,
            "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.");
}

// Upstream looks for candidates among a part of the nodes (M1: 200 of 2,000). Ours looks at all of
// them: the one node with a lower victim than all others is found, wherever it stands.
TEST_F(PreemptPod, M1EveryNodeIsACandidate) {
  for (const int nodes : {20, 500, 2000}) {
    ClusterModel model{default_profile(), {}};
    for (int i = 0; i < nodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      model.put(NodeSample{.name = name}.make());
      model.put(PodSample{
          .name = "on-" + name, .cpu = "4", .node_name = name, .priority = i == nodes - 7 ? 10 : 50}
                    .make());
    }
    const auto pod = PodSample{.name = "p", .cpu = "4", .priority = 100}.make();
    model.put(pod);
    EXPECT_EQ(names(preempt_for_pod(model, {pod, 0, {}, {}}, args_, Time{})),
              Names{"on-n" + std::to_string(nodes - 7)});
  }
}

TEST_F(PreemptPod, M4OneVictimIsLessThanTwoOfTheSamePriority) {
  for (const char* name : {"n1", "n2"}) add_node(name);
  run("a", "n1", 50, "2");
  run("b", "n1", 10, "2");
  run("c", "n2", 50, "4");
  EXPECT_EQ(names(preempt(200)), Names{"c"});
}

TEST_F(PreemptPod, M3ChoosesTheLowestFirstVictimThenTheSmallestSum) {
  for (const char* name : {"n1", "n2"}) add_node(name);
  run("high", "n1", 100);
  for (const char* name : {"a", "b", "c"}) run(name, "n2", 50, "1300m");
  EXPECT_EQ(preempt(200).nominated.at(0).node, "n2");
  run("d", "n1", 50, "1300m");
  model_.remove(*PodSample{.name = "high", .node_name = "n1"}.make());
  run("e", "n1", 10, "1300m");
  EXPECT_EQ(names(preempt(200)), (Names{"d", "e"}));
}

// Two pods of a negative priority are not cheaper than one.
TEST_F(PreemptPod, FewerOfNegativePriorityAreCheaper) {
  for (const char* name : {"n1", "n2"}) add_node(name);
  for (const char* name : {"a", "b"}) run(name, "n1", -5, "2");
  run("c", "n2", -5);
  EXPECT_EQ(names(preempt(0)), Names{"c"});
}

TEST_F(PreemptPod, M5ChoosesTheNodeWhereTheFirstVictimStartedLast) {
  for (const char* name : {"n1", "n2"}) {
    add_node(name);
    const char* hour = std::string_view(name) == "n1" ? "10" : "11";
    model_.put(
        PodSample{.name = std::string("on-") + name,
                  .cpu = "4",
                  .node_name = name,
                  .priority = 50,
                  .status = std::string(R"("startTime":"2026-01-01T)") + hour + R"(:00:00Z")"}
            .make());
  }
  EXPECT_EQ(names(preempt(200)), Names{"on-n2"});
}

TEST_F(PreemptPod, TheOldestVictimOfANodeIsCompared) {
  for (const char* name : {"n1", "n2"}) add_node(name);
  const auto run_since = [this](const std::string& name, const std::string& node, int hour) {
    model_.put(
        PodSample{.name = name,
                  .cpu = "2",
                  .node_name = node,
                  .priority = 50,
                  .status = R"("startTime":"2026-01-01T)" + std::to_string(hour) + R"(:00:00Z")"}
            .make());
  };
  run_since("a", "n1", 10);
  run_since("b", "n1", 12);
  run_since("c", "n2", 11);
  run_since("d", "n2", 11);
  EXPECT_EQ(names(preempt(200)), (Names{"c", "d"}));
}

TEST_F(PreemptPod, M6ABudgetIsSparedBeforePrioritiesAreCompared) {
  for (const char* name : {"n1", "n2"}) add_node(name);
  const auto budget = api::parse_json(R"({"metadata":{"name":"b","namespace":"default","uid":"b"},
      "spec":{"selector":{"matchLabels":{"app":"db"}}},"status":{"disruptionsAllowed":0}})");
  model_.put(api::Object::make(*api::find_kind("policy", "PodDisruptionBudget"), budget->value));
  model_.put(PodSample{
      .name = "guarded", .cpu = "4", .node_name = "n1", .priority = 1, .labels = {{"app", "db"}}}
                 .make());
  run("high", "n2", 1000);
  EXPECT_EQ(names(preempt(2000)), Names{"high"});
}

TEST_F(PreemptPod, OnOneNodeABudgetIsSparedBeforeTheMoreImportant) {
  add_node("n");
  const auto budget = api::parse_json(R"({"metadata":{"name":"b","namespace":"default","uid":"b"},
      "spec":{"selector":{"matchLabels":{"app":"db"}}},"status":{"disruptionsAllowed":0}})");
  model_.put(api::Object::make(*api::find_kind("policy", "PodDisruptionBudget"), budget->value));
  model_.put(PodSample{
      .name = "guarded", .cpu = "2", .node_name = "n", .priority = 1, .labels = {{"app", "db"}}}
                 .make());
  run("high", "n", 5, "2");
  EXPECT_EQ(names(preempt(10, "2")), Names{"high"});
}

TEST_F(PreemptPod, KeepsTheMoreImportantWhereThereIsAChoice) {
  add_node("n");
  run("a", "n", 1, "2");
  run("b", "n", 2, "2");
  EXPECT_EQ(names(preempt(3, "2")), Names{"a"});
}

TEST_F(PreemptPod, ALargerPodLessIsFewer) {
  add_node("n");
  for (const char* name : {"a", "b"}) run(name, "n", 1, "1");
  run("c", "n", 1, "2");
  const PreemptionPlan plan = preempt(3, "2");
  EXPECT_EQ(plan.victims_at_least, 1);
}

TEST_F(PreemptPod, CannotHelpWhereTheNodeIsTooSmall) {
  add_node("n", "2");
  run("low", "n", 1, "2");
  const PreemptionPlan plan = preempt(2, "3");
  EXPECT_FALSE(plan.found());
  EXPECT_EQ(plan.message,
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
}

TEST_F(PreemptPod, NeverMeansNever) {
  add_node("n");
  run("low", "n", 1);
  const auto pod =
      PodSample{.name = "p", .cpu = "4", .priority = 5, .spec = R"("preemptionPolicy":"Never")"}
          .make();
  const PreemptionPlan plan = preempt_for_pod(model_, {pod, 0, {}, {}}, args_, Time{});
  EXPECT_EQ(plan.answer, PreemptionPlan::Answer::NotEligible);
  EXPECT_EQ(plan.message, "preemption: not eligible due to preemptionPolicy=Never.");
}

}  // namespace
}  // namespace muster::scheduler
