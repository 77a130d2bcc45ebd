#include <gtest/gtest.h>

#include <string_view>

#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/preemption/preemption.h"
#include "scheduler/preemption/preemption_testing.h"

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
  // The pod "guarded" of priority 1, with a budget that allows no disruption.
  void run_guarded(const std::string& node, const std::string& cpu) {
    const auto budget = api::parse_json(R"({"metadata":{"name":"b","namespace":"default","uid":"b"},
        "spec":{"selector":{"matchLabels":{"app":"db"}}},"status":{"disruptionsAllowed":0}})");
    model_.put(api::Object::make(*api::find_kind("policy", "PodDisruptionBudget"), budget->value));
    model_.put(PodSample{
        .name = "guarded", .cpu = cpu, .node_name = node, .priority = 1, .labels = {{"app", "db"}}}
                   .make());
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
  run_guarded("n1", "4");
  run("high", "n2", 1000);
  EXPECT_EQ(names(preempt(2000)), Names{"high"});
}

TEST_F(PreemptPod, OnOneNodeABudgetIsSparedBeforeTheMoreImportant) {
  add_node("n");
  run_guarded("n", "2");
  run("high", "n", 5, "2");
  EXPECT_EQ(names(preempt(10, "2")), Names{"high"});
}

TEST_F(PreemptPod, KeepsTheMoreImportantWhereThereIsAChoice) {
  add_node("n");
  run("a", "n", 1, "2");
  run("b", "n", 2, "2");
  EXPECT_EQ(names(preempt(3, "2")), Names{"a"});
}

TEST_F(PreemptPod, OfTwoGangsOnANodeTheLargerIsKept) {
  add_node("n");
  add_node("beside", "1");
  for (const auto& [gang, pods] : {std::pair{"large", 3}, {"small", 2}}) {
    model_.put(GroupSample{.name = gang, .priority = 1, .all = true}.make());
    for (int i = 0; i < pods; ++i)
      model_.put(PodSample{.name = fmt::format("{}-{}", gang, i),
                           .cpu = i == 0 ? "2" : "100m",
                           .node_name = i == 0 ? "n" : "beside",
                           .group = gang,
                           .priority = 1}
                     .make());
  }
  EXPECT_EQ(victim_names(preempt(5, "2")), (Names{"small-0", "small-1"}));
}

TEST_F(PreemptPod, ALargerPodLessIsFewer) {
  add_node("n");
  for (const char* name : {"a", "b"}) run(name, "n", 1, "1");
  run("c", "n", 1, "2");
  const PreemptionPlan plan = preempt(3, "2");
  EXPECT_EQ(plan.victims_at_least, 1);
}

TEST_F(PreemptPod, SlotsForPodsAreRoomToo) {
  model_.put(NodeSample{.name = "n", .pods = 2}.make());
  for (const char* name : {"a", "b"}) run(name, "n", 1, "1");
  const PreemptionPlan plan = preempt(3, "1");
  EXPECT_EQ(names(plan).size(), 1U) << "there is enough cpu for a third, but no slot";
  EXPECT_EQ(plan.victims_at_least, 1);
  ClusterModel crowded{default_profile(), {}};
  crowded.put(NodeSample{.name = "n", .pods = 1}.make());
  for (const char* name : {"a", "b", "c"})
    crowded.put(PodSample{.name = name, .cpu = "1", .node_name = "n", .priority = 1}.make());
  const auto pod = PodSample{.name = "p", .cpu = "1", .priority = 3}.make();
  crowded.put(pod);
  EXPECT_EQ(preempt_for_pod(crowded, {pod, 0, {}, {}}, args_, Time{}).victims_at_least, 3)
      << "a node that has shrunk";
}

TEST_F(PreemptPod, ABudgetThatMustNotBeViolatedProtectsItsPods) {
  add_node("n");
  run_guarded("n", "2");
  run("other", "n", 1, "2");
  EXPECT_EQ(names(preempt(10, "4")), (Names{"guarded", "other"}));
  args_.violates_budgets = false;
  EXPECT_EQ(names(preempt(10, "2")), Names{"other"});
  const PreemptionPlan both = preempt(10, "4");
  EXPECT_FALSE(both.found());
  EXPECT_EQ(both.message,
            "preemption: 0/1 nodes are available: 1 evictions would violate disruption budgets.");
}

// Both nodes will have room. The one that is kept for the pod is waited for, not the first.
TEST_F(PreemptPod, TheNominatedNodeIsWaitedForFirst) {
  for (const char* name : {"n1", "n2"}) {
    add_node(name);
    model_.put(PodSample{.name = std::string("on-") + name,
                         .cpu = "4",
                         .node_name = name,
                         .priority = 1,
                         .terminating = true}
                   .make());
  }
  const auto pod = PodSample{.name = "p", .cpu = "4", .priority = 5}.make();
  model_.put(pod);
  const Time now = *PodSample{.name = "x", .terminating = true}.make()->meta().deletion_time;
  const PreemptionPlan first = preempt_for_pod(model_, {pod, 0, {}, {}}, args_, now);
  EXPECT_EQ(first.answer, PreemptionPlan::Answer::Waits);
  ASSERT_EQ(first.nominated.size(), 1U);
  EXPECT_EQ(first.nominated[0].node, "n1");
  EXPECT_EQ(first.message, "preemption: waiting for terminating pods on node n1");
  const PreemptionPlan kept = preempt_for_pod(model_, {pod, 0, {}, "n2"}, args_, now);
  ASSERT_EQ(kept.nominated.size(), 1U);
  EXPECT_EQ(kept.nominated[0].node, "n2");
  ASSERT_EQ(kept.leaving.size(), 1U);
  EXPECT_EQ(kept.leaving[0]->meta().name, "on-n2");
}

TEST_F(PreemptPod, CannotHelpWhereTheNodeIsTooSmall) {
  add_node("n", "2");
  run("low", "n", 1, "2");
  const PreemptionPlan plan = preempt(2, "3");
  EXPECT_FALSE(plan.found());
  EXPECT_EQ(plan.message,
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
}

// Nobody asks whether a pod fits that says itself which node it is on.
TEST_F(PreemptPod, AThousandPodsOnOneNodeEndTheSearchAtItsBudget) {
  add_node("n", "1");
  for (int i = 0; i < 1'000; ++i) run("low" + std::to_string(i), "n", 1, "1m");
  args_.steps_max = 1'100;
  const PreemptionPlan plan = preempt(2, "1");
  EXPECT_EQ(plan.answer, PreemptionPlan::Answer::Unresolved);
  EXPECT_LT(plan.steps, 1'200U)
      << "they are taken off once, and put back as long as there are steps";
  args_.steps_max = 10'000;
  EXPECT_EQ(preempt(2, "1").answer, PreemptionPlan::Answer::Preempts);
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
