#include <gtest/gtest.h>

#include "explain/explain_testing.h"
#include "explain/overview.h"
#include "explain/render.h"
#include "explain/words.h"
#include "scheduler/plugins/default_profile.h"

// How groups stand that wait by choice, run in part, or are kept off by taints.
namespace muster::explain {
namespace {

constexpr std::string_view kPrefersRack =
    R"("scheduling.muster.dev/preferred-topology":"rack","scheduling.muster.dev/preferred-topology-wait":"10m")";

// Two racks with three free nodes each.
Yard two_racks() {
  Yard yard = Yard().rack("r1", 3, 8).rack("r2", 3, 8);
  yard.objects.read_at = parse_time("2026-01-01T00:00:00Z").value();
  return yard;
}

// A gang that prefers a rack, as old as the clock says.
Yard preferring(int pods) {
  Yard yard = two_racks().group(
      {.name = "train", .minimum = pods, .annotations = std::string(kPrefersRack)});
  for (int i = 0; i < pods; ++i)
    yard.objects.pods.push_back(scheduler::pod_of(fmt::format(
        R"({{"metadata":{{"name":"train-{0}","namespace":"default","uid":"t{0}","creationTimestamp":"2026-01-01T00:00:00Z"}},)"
        R"("spec":{{"schedulerName":"default-scheduler","schedulingGroup":{{"podGroupName":"train"}},"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"8"}}}}}}]}}}})",
        i)));
  return yard;
}

TEST(States, AGroupWaitsForTheTopologyItPrefers) {
  const Yard yard = preferring(4);
  const Result<Explanation> told = yard.ask("train");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::WaitsByPreference);
  EXPECT_EQ(told->sentence,
            "PodGroup default/train waits for the topology it prefers: 0/2 placements are "
            "available, rack r1 comes closest: 3 of 4 pods fit; short of 1 × cpu 8; it waits until "
            "2026-01-01T00:10:00Z for one rack and then takes as few as possible.");
  EXPECT_EQ(told->proof, "") << "there is room";
  ASSERT_EQ(told->relaxations.size(), 1U);
  EXPECT_EQ(told->relaxations[0].kind, RelaxationKind::ShorterWait);
  EXPECT_EQ(told->relaxations[0].command,
            "kubectl -n default annotate podgroup train "
            "scheduling.muster.dev/preferred-topology-wait=0s --overwrite");

  const Result<Explanation> after =
      explain(edited(yard.objects, told->relaxations[0].edits),
              GroupKey{GroupKind::PodGroup, "default", "train"}, scheduler::default_profile(), {});
  EXPECT_EQ(after->state, State::FitsNow) << "what is said to help helps";
}

TEST(States, APreferenceThatCanBeMetIsNoWait) {
  const Result<Explanation> told = preferring(3).ask("train");
  EXPECT_EQ(told->state, State::FitsNow) << told->sentence;
}

TEST(States, WhatFitsNowhereDoesNotWaitByPreference) {
  const Result<Explanation> told = preferring(7).ask("train");
  EXPECT_EQ(told->state, State::Unschedulable) << told->sentence;
  EXPECT_NE(told->sentence.find("; until 2026-01-01T00:10:00Z it waits for the topology it "
                                "prefers, and nobody is evicted for it."),
            std::string::npos)
      << told->sentence;
}

TEST(States, NobodyIsEvictedWhileAGroupWaitsForTheTopologyItPrefers) {
  Yard yard = preferring(6);
  yard.add_pod({.name = "low", .cpu = "8", .node_name = "r1-0", .priority = -5});
  Result<Explanation> told = yard.ask("train");
  EXPECT_EQ(told->state, State::Unschedulable) << told->sentence;
  EXPECT_NE(told->sentence.find("until 2026-01-01T00:10:00Z it waits"), std::string::npos)
      << told->sentence;
  EXPECT_EQ(told->evictions,
            "After 2026-01-01T00:10:00Z: It may preempt: 1 pod of lower priority would go, at "
            "least 1 must: default/low.");
  yard.objects.read_at = *parse_time("2026-01-01T00:10:00Z");
  told = yard.ask("train");
  EXPECT_EQ(told->sentence.find("until"), std::string::npos) << told->sentence;
  EXPECT_TRUE(told->evictions.starts_with("It may preempt")) << told->evictions;
}

TEST(States, VictimsInOtherNamespacesAreCountedNotNamed) {
  Yard yard = Yard().rack("r1", 1, 8);
  yard.add_pod({.name = "low", .cpu = "4", .node_name = "r1-0", .priority = -5});
  for (const char* name : {"a", "b"})
    yard.add_pod(
        {.name = name, .cpu = "2", .node_name = "r1-0", .priority = -5, .name_space = "apart"});
  yard.gang({.name = "solo", .minimum = 1}, 1, "8");
  const Result<Explanation> told = explain(
      yard.objects, GroupKey{GroupKind::PodGroup, "default", "solo"}, scheduler::default_profile(),
      {.may_name = [](std::string_view name_space) { return name_space == "default"; }});
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_TRUE(told->evictions.starts_with("It may preempt: 3 pods of lower priority would go"))
      << told->evictions;
  EXPECT_TRUE(told->evictions.ends_with(" must: default/low, 2 in other namespaces."))
      << told->evictions;
}

TEST(States, TheOverviewKnowsPreferences) {
  const Yard yard = preferring(4);
  const Overview all = overview(yard.objects, scheduler::default_profile(), {});
  ASSERT_EQ(all.lines.size(), 1U);
  EXPECT_EQ(all.lines[0].state, State::WaitsByPreference);
  EXPECT_NE(all.lines[0].reason.find("it waits until 2026-01-01T00:10:00Z for one rack"),
            std::string::npos)
      << all.lines[0].reason;
  EXPECT_NE(render_text(all, 0).find("\n1 tree waits, in the order"), std::string::npos);
}

TEST(States, AGangThatRunsBelowItsMinimumSaysWhere) {
  const Result<Explanation> told =
      Yard()
          .rack("r1", 2, 8)
          .gang({.name = "train", .minimum = 3, .key = "rack"}, 2, "4", "r1-0")
          .ask("train");
  EXPECT_EQ(told->state, State::BelowMinimum);
  EXPECT_EQ(told->sentence,
            "PodGroup default/train runs below its minimum: only 2 of at least 3 pods exist.");
  EXPECT_EQ(told->tree.front().domain, "r1");
}

TEST(States, TaintsThatKeepPodsOffAreNamed) {
  Yard yard;
  for (const char* name : {"a", "b"})
    yard.add_node({.name = name,
                   .cpu = "8",
                   .labels = {{"rack", "r1"}},
                   .taints = R"([{"key":"gpu","value":"yes","effect":"NoSchedule"}])"});
  yard.gang({.name = "train", .minimum = 2, .key = "rack"}, 2, "4");
  const Result<Explanation> told = yard.ask("train");
  EXPECT_EQ(told->sentence,
            "PodGroup default/train is unschedulable: 0/1 placements are available, 0/2 nodes are "
            "available: 2 node(s) had untolerated taint {gpu: yes}.");
  ASSERT_EQ(told->reasons.size(), 1U);
  EXPECT_EQ(told->reasons[0].refusals.front().first, "node(s) had untolerated taint {gpu: yes}");
}

// There is just as much CPU as they ask for, but no node has two left for the last.
TEST(States, WhatCountingLeavesOpenIsProvenBySearch) {
  Yard yard = Yard().rack("r1", 2, 4).group({.name = "train", .minimum = 3, .key = "rack"});
  for (const char* cpu : {"2", "3", "3"})
    yard.add_pod(
        {.name = fmt::format("train-{}", yard.objects.pods.size()), .cpu = cpu, .group = "train"});
  const Result<Explanation> told = yard.ask("train");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::Unschedulable);
  ASSERT_EQ(told->tree.front().closest.size(), 1U);
  EXPECT_EQ(told->tree.front().closest[0].fits, told->tree.front().closest[0].needed);
  EXPECT_TRUE(told->proof.starts_with("Proven by search: every way to place it was ruled out"))
      << told->proof;
}

TEST(States, GuidesGoOnBesideTheReasons) {
  const Result<Explanation> told = Yard()
                                       .rack("r1", 1, 4)
                                       .composite({.name = "all", .minimum = 2})
                                       .gang({.name = "a", .minimum = 1, .parent = "all"}, 1, "4")
                                       .gang({.name = "b", .minimum = 1, .parent = "all"}, 1, "4")
                                       .ask_composite("all");
  const std::string text = render_text(*told);
  EXPECT_NE(text.find("  ├─ podgroup/a            held           0 of 1 pod     at least 1\n"
                      "  │     could find a place by itself, but its parent cannot\n"
                      "  └─ podgroup/b            held           0 of 1 pod     at least 1\n"
                      "        could find a place by itself, but its parent cannot\n"),
            std::string::npos)
      << text;
}

TEST(States, LongLinesAreBrokenBetweenWords) {
  EXPECT_EQ(wrapped("one two three four\n  - five six seven\n      kubectl get pods --all\n", 10),
            "one two\nthree four\n  - five\n    six\n    seven\n      kubectl get pods --all\n");
  EXPECT_EQ(wrapped("  │  could find a place\n", 14), "  │  could\n  │  find a\n  │  place\n");
  EXPECT_EQ(wrapped("unbreakable-word\n", 5), "unbreakable-word\n");
  EXPECT_EQ(wrapped("a b c\n", 0), "a b c\n");
}

}  // namespace
}  // namespace muster::explain
