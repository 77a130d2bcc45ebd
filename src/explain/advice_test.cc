// What is advised, word for word, and what queue it is measured against.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "explain/explain_testing.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::explain {
namespace {

using Sentences = std::vector<std::string>;

// Sentences of one kind, or all of them.
Sentences advice(const Result<Explanation>& told,
                 std::optional<RelaxationKind> kind = std::nullopt) {
  Sentences sentences;
  if (!told) return {told.error().message};
  for (const Relaxation& relaxation : told->relaxations)
    if (!kind || relaxation.kind == *kind) sentences.push_back(relaxation.sentence);
  return sentences;
}
const Relaxation& first(const Result<Explanation>& told, RelaxationKind kind) {
  static const Relaxation kNone;
  for (const Relaxation& relaxation : told->relaxations)
    if (relaxation.kind == kind) return relaxation;
  ADD_FAILURE() << "nothing of that kind";
  return kNone;
}

// --- minimums ---

TEST(AdviceOnMinimums, TheLargestThatFitsIsFound) {
  for (int room = 1; room <= 7; ++room) {
    const auto told =
        Yard().rack("r1", room, 8).gang({.name = "train", .minimum = 8}, 8, "8").ask("train");
    const Relaxation& found = first(told, RelaxationKind::SmallerMinimum);
    EXPECT_EQ(found.sentence,
              fmt::format("lower minCount of podgroup default/train from 8 to {}", room));
    EXPECT_EQ(found.amount, room);
  }
}

TEST(AdviceOnMinimums, ACompositesIsPatchedByItsField) {
  const auto told = Yard()
                        .rack("r1", 1, 8)
                        .composite({.name = "all", .minimum = 2})
                        .gang({.name = "a", .minimum = 1, .parent = "all"}, 1, "8")
                        .gang({.name = "b", .minimum = 1, .parent = "all"}, 1, "8")
                        .ask_composite("all");
  EXPECT_EQ(
      first(told, RelaxationKind::SmallerMinimum).command,
      R"(kubectl -n default patch compositepodgroup all --type merge -p '{"spec":{"schedulingPolicy":{"gang":{"minGroupCount":1}}}}')");
}

TEST(AdviceOnMinimums, OfTwoTogetherBothAreSaidAndTyped) {
  const auto yard = [](const std::string& maker) {
    return Yard()
        .rack("r1", 2, 8)
        .composite({.name = "all", .minimum = 2})
        .composite({.name = "llm", .minimum = 1, .parent = "all"})
        .composite({.name = "web", .minimum = 1, .parent = "all"})
        .gang({.name = "prefill", .minimum = 3, .parent = "llm"}, 3, "8")
        .gang({.name = "decode", .minimum = 3, .parent = "web", .maker = maker}, 3, "8");
  };
  const auto two = [](const Result<Explanation>& told) {
    for (const Relaxation& relaxation : told->relaxations)
      if (relaxation.sentence.find(", and minCount") != std::string::npos) return relaxation;
    return Relaxation{};
  };
  EXPECT_EQ(
      two(yard("").ask("prefill")).command,
      R"(kubectl -n default patch podgroup prefill --type merge -p '{"spec":{"schedulingPolicy":{"gang":{"minCount":1}}}}')"
      R"( && kubectl -n default patch podgroup decode --type merge -p '{"spec":{"schedulingPolicy":{"gang":{"minCount":1}}}}')");
  EXPECT_NE(two(yard("JobSet").ask("prefill")).sentence, "");
  EXPECT_EQ(two(yard("JobSet").ask("prefill")).command, "")
      << "nobody knows the words for one of them";
}

// --- nodes ---

Yard closed_nodes(int open, int cordoned, int tainted,
                  const std::string& taint = R"({"key":"pool","effect":"NoExecute"})") {
  Yard yard = Yard().rack("r1", open, 8);
  for (int i = 0; i < cordoned; ++i)
    yard.add_node({.name = fmt::format("c{}", i), .cpu = "8", .unschedulable = true});
  for (int i = 0; i < tainted; ++i)
    yard.add_node({.name = fmt::format("t{}", i), .cpu = "8", .taints = "[" + taint + "]"});
  return yard;
}

TEST(AdviceOnNodes, FiveAreNamedAndTheOthersCounted) {
  const auto five = closed_nodes(1, 5, 0).gang({.name = "g", .minimum = 6}, 6, "8").ask("g");
  EXPECT_EQ(first(five, RelaxationKind::Uncordon).sentence, "uncordon c0, c1, c2, c3, c4");
  const auto six = closed_nodes(1, 6, 0).gang({.name = "g", .minimum = 7}, 7, "8").ask("g");
  EXPECT_EQ(first(six, RelaxationKind::Uncordon).sentence,
            "uncordon c0, c1, c2, c3, c4 and 1 more");
  EXPECT_EQ(first(six, RelaxationKind::Uncordon).command, "kubectl uncordon c0 c1 c2 c3 c4 c5");
  EXPECT_EQ(first(six, RelaxationKind::Uncordon).amount, 6);
}

TEST(AdviceOnNodes, TaintsAreToleratedOrWaitedFor) {
  const auto told = [](const std::string& taint) {
    return advice(closed_nodes(1, 0, 2, taint).gang({.name = "g", .minimum = 3}, 3, "8").ask("g"),
                  RelaxationKind::Untaint);
  };
  EXPECT_EQ(told(R"({"key":"pool","effect":"NoExecute"})"),
            Sentences{"let the pods tolerate the taint pool:NoExecute of t0, t1, or remove it"});
  EXPECT_EQ(told(R"({"key":"pool","value":"x","effect":"NoSchedule"})"),
            Sentences{"let the pods tolerate the taint pool=x:NoSchedule of t0, t1, or remove it"});
  EXPECT_EQ(
      told(R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute"})"),
      Sentences{"wait until t0, t1 have lost the taint node.kubernetes.io/not-ready:NoExecute"});
  EXPECT_EQ(told(R"({"key":"pool","effect":"PreferNoSchedule"})"), Sentences{})
      << "it keeps nobody off";
  EXPECT_EQ(told(R"({"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"})"),
            Sentences{})
      << "that is a cordon's";
}

TEST(AdviceOnNodes, TheFewestThatWillDoAreAdded) {
  for (int missing = 1; missing <= 5; ++missing) {
    const auto told =
        Yard()
            .rack("r1", 1, 8)
            .gang({.name = "g", .minimum = missing + 1, .key = "rack"}, missing + 1, "8")
            .ask("g");
    const Relaxation& found = first(told, RelaxationKind::MoreNodes);
    EXPECT_EQ(found.sentence, fmt::format("add {} like r1-0 (cpu 8, memory 8Gi) to rack r1",
                                          count_of(missing, "node")));
    EXPECT_EQ(found.amount, missing);
    EXPECT_EQ(found.domain, "r1");
    EXPECT_EQ(std::ssize(found.edits), missing);
  }
}

TEST(AdviceOnNodes, AKindThatNeedsFewerIsPreferred) {
  Yard yard;
  for (const char* name : {"s0", "s1"}) yard.add_node({.name = name, .cpu = "2"});
  yard.add_node({.name = "large", .cpu = "8"});
  yard.add_pod({.name = "used", .cpu = "8", .node_name = "large"});
  yard.gang({.name = "g", .minimum = 6}, 6, "2");
  EXPECT_EQ(advice(yard.ask("g"), RelaxationKind::MoreNodes),
            Sentences{"add 1 node like large (cpu 8, memory 8Gi)"});
}

// --- others ---

TEST(AdviceOnOthers, ThreeAreNamedAndTheOthersCounted) {
  const auto told = [](int pods) {
    return advice(Yard()
                      .rack("r1", pods, 8, 8 * pods)
                      .gang({.name = "g", .minimum = pods}, pods, "8")
                      .ask("g"),
                  RelaxationKind::OthersFinish);
  };
  EXPECT_EQ(told(1),
            Sentences{"wait until pod default/used-r1-0 has finished (1 pod that runs now)"});
  EXPECT_EQ(told(3), Sentences{"wait until pod default/used-r1-0, pod default/used-r1-1, pod "
                               "default/used-r1-2 have finished (3 pods that run now)"});
  EXPECT_EQ(told(5),
            Sentences{"wait until pod default/used-r1-0, pod default/used-r1-1, pod "
                      "default/used-r1-2 and 2 others have finished (5 pods that run now)"});
}

TEST(AdviceOnOthers, ThoseOfTheClosestRackAreEnough) {
  Yard yard = Yard().rack("r1", 3, 8, 24).rack("r2", 3, 8, 16);
  yard.gang({.name = "g", .minimum = 3, .key = "rack"}, 3, "8");
  const auto told = yard.ask("g");
  EXPECT_EQ(advice(told, RelaxationKind::OthersFinish),
            Sentences{"wait until pod default/used-r2-0, pod default/used-r2-1 have finished (2 "
                      "pods that run now)"});
  EXPECT_EQ(first(told, RelaxationKind::OthersFinish).domain, "r2");
}

TEST(AdviceOnOthers, ThoseThatMayNotBeNamedAreNot) {
  Yard yard = Yard().rack("r1", 1, 8);
  yard.add_pod({.name = "theirs", .cpu = "8", .node_name = "r1-0", .name_space = "apart"});
  yard.gang({.name = "g", .minimum = 1}, 1, "8");
  const Result<Explanation> told = explain(
      yard.objects, GroupKey{GroupKind::PodGroup, "default", "g"}, scheduler::default_profile(),
      {.may_name = [](std::string_view name_space) { return name_space == "default"; }});
  EXPECT_EQ(advice(told, RelaxationKind::OthersFinish),
            Sentences{"wait until a pod in another namespace has finished (1 pod that runs now)"});
}

// --- topology ---

TEST(AdviceOnTopology, WithoutAWiderKeyNoneIsAdvised) {
  const auto told = Yard()
                        .rack("r1", 1, 8)
                        .rack("r2", 1, 8)
                        .gang({.name = "g", .minimum = 2, .key = "rack"}, 2, "8")
                        .ask("g");
  EXPECT_EQ(advice(told, RelaxationKind::WiderTopology),
            Sentences{"let podgroup default/g spread over one block (block) instead of one rack; "
                      "it would stand in block b1"});
  const auto none = Yard()
                        .rack("r1", 1, 8)
                        .rack("r2", 1, 8, 0, "b2")
                        .gang({.name = "g", .minimum = 2, .key = "rack"}, 2, "8")
                        .ask("g");
  EXPECT_EQ(advice(none, RelaxationKind::WiderTopology), Sentences{})
      << "there are as many blocks as racks";
  EXPECT_EQ(advice(none, RelaxationKind::NoTopology),
            Sentences{"let podgroup default/g spread over several racks (no topology constraint)"});
}

// Keys that tell what a node is, not where, may nest by accident.
TEST(AdviceOnTopology, OnlyPlacesAreWider) {
  Yard yard;
  for (const char* rack : {"r1", "r2"})
    yard.add_node({.name = rack,
                   .cpu = "8",
                   .labels = {{"rack", rack}, {"pool", "p"}, {"example.com/topology-area", "a"}}});
  EXPECT_EQ(advice(yard.gang({.name = "g", .minimum = 2, .key = "rack"}, 2, "8").ask("g"),
                   RelaxationKind::WiderTopology),
            Sentences{"let podgroup default/g spread over one topology-area "
                      "(example.com/topology-area) instead of one rack; it would stand in "
                      "topology-area a"});
}

TEST(AdviceOnTopology, AKeyThatSomeNodesLackIsNotWider) {
  Yard yard;
  yard.add_node({.name = "n1", .cpu = "8", .labels = {{"rack", "r1"}, {"zone", "z"}}});
  yard.add_node({.name = "n2", .cpu = "8", .labels = {{"rack", "r2"}, {"zone", "z"}}});
  yard.add_node({.name = "n3", .cpu = "8", .labels = {{"rack", "r3"}}});
  EXPECT_EQ(advice(yard.gang({.name = "g", .minimum = 2, .key = "rack"}, 2, "8").ask("g"),
                   RelaxationKind::WiderTopology),
            Sentences{});
}

// Zones and regions that the nodes do not tell apart are ordered by how wide they sound.
TEST(AdviceOnTopology, OfTwoThatAreAlikeTheNarrowerWordIsAdvised) {
  Yard yard;
  for (const char* rack : {"r1", "r2"})
    yard.add_node({.name = rack,
                   .cpu = "8",
                   .labels = {{"rack", rack}, {"region", "x"}, {"zone", "x"}, {"room", "x"}}});
  EXPECT_EQ(advice(yard.gang({.name = "g", .minimum = 2, .key = "rack"}, 2, "8").ask("g"),
                   RelaxationKind::WiderTopology),
            Sentences{"let podgroup default/g spread over one room (room) instead of one rack; it "
                      "would stand in room x"});
}

// --- the queue ---

TEST(AdviceQueue, ThoseAheadAreNamedInOrder) {
  Yard yard = Yard().rack("r1", 3, 8);
  yard.add_pod({.name = "x", .cpu = "8", .priority = 2});
  yard.gang({.name = "b", .minimum = 1, .priority = 1}, 1, "8");
  yard.gang({.name = "a", .minimum = 1, .priority = 1}, 1, "8");
  yard.gang({.name = "last", .minimum = 1}, 1, "8");
  const auto told = yard.ask("last");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::BehindOthers);
  EXPECT_EQ(told->ahead, (Sentences{"pod default/x", "podgroup default/a", "podgroup default/b"}));
  EXPECT_EQ(told->sentence,
            "PodGroup default/last would fit, but pod default/x and 2 others come first and take "
            "the room.");
  yard.add_node({.name = "free", .cpu = "8"});
  EXPECT_EQ(yard.ask("last")->state, State::FitsNow);
}

TEST(AdviceQueue, OfTwoAheadBothAreNamed) {
  Yard yard = Yard().rack("r1", 2, 8);
  for (const char* name : {"x", "y"}) yard.add_pod({.name = name, .cpu = "8", .priority = 2});
  yard.add_pod({.name = "last", .cpu = "8"});
  EXPECT_EQ(yard.ask_pod("last")->sentence,
            "Pod default/last would fit, but pod default/x and pod default/y come first and take "
            "the room.");
}

TEST(AdviceQueue, TwoHundredAheadAreAllPlanned) {
  Yard yard = Yard().rack("r1", 1, 4);
  for (int i = 0; i < 200; ++i)
    yard.add_pod({.name = fmt::format("p{}", i), .cpu = "1", .priority = 5});
  yard.gang({.name = "train", .minimum = 1}, 1, "1");
  EXPECT_EQ(yard.ask("train")->note, "");
  yard.add_pod({.name = "p200", .cpu = "1", .priority = 5});
  EXPECT_EQ(yard.ask("train")->note,
            "201 come before it in the queue; only the first 200 of them were planned, so there "
            "may be less room than is said here.");
}

// --- single pods ---

TEST(AdviceOnPods, EveryStateOfAPodHasItsSentence) {
  Yard yard = Yard().rack("r1", 1, 8);
  yard.add_pod({.name = "fits", .cpu = "1"});
  yard.add_pod(
      {.name = "gated", .cpu = "1", .spec = R"("schedulingGates":[{"name":"a"},{"name":"b"}])"});
  yard.objects.pods.push_back(scheduler::pod_of(
      R"({"metadata":{"name":"done","namespace":"default","uid":"d"},"spec":{},"status":{"phase":"Succeeded"}})"));
  yard.objects.pods.push_back(scheduler::pod_of(
      R"({"metadata":{"name":"going","namespace":"default","uid":"g","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{},"status":{}})"));
  const auto said = [&](const char* pod) { return yard.ask_pod(pod)->sentence; };
  EXPECT_EQ(said("fits"),
            "Pod default/fits fits now, on node r1-0: the scheduler will place it with its next "
            "attempt.");
  EXPECT_EQ(said("gated"), "Pod default/gated is held by scheduling gates: a, b.");
  EXPECT_EQ(said("done"), "Pod default/done has finished (Succeeded).");
  EXPECT_EQ(said("going"), "Pod default/going is being deleted and will get no node.");
  EXPECT_EQ(yard.ask_pod("gated")->state, State::Gated);
  EXPECT_EQ(yard.ask_pod("done")->state, State::Scheduled);
  EXPECT_EQ(yard.ask_pod("going")->state, State::Invalid);
  ASSERT_EQ(yard.ask_pod("fits")->placements.size(), 1U);
  EXPECT_EQ(yard.ask_pod("fits")->placements[0].node, "r1-0");
  EXPECT_EQ(yard.ask_pod("fits")->kind, "Pod");
}

TEST(AdviceOnPods, AnExtraPodThatFitsSaysSo) {
  Yard yard = Yard().rack("r1", 1, 8).gang({.name = "grow", .minimum = 1}, 1, "1", "r1-0");
  yard.add_pod({.name = "more", .cpu = "1", .group = "grow"});
  const auto told = yard.ask_pod("more");
  EXPECT_EQ(told->state, State::FitsNow);
  EXPECT_EQ(told->sentence,
            "Pod default/more fits now. PodGroup default/grow is scheduled: 1 of 2 pods have a "
            "node or have finished; 1 extra pod waits.");
  EXPECT_EQ(yard.ask_pod("grow-0")->sentence,
            "Pod default/grow-0 is scheduled to node r1-0. PodGroup default/grow is scheduled: 1 "
            "of 2 pods have a node or have finished; 1 extra "
            "pod waits.");
}

// --- groups ---

TEST(AdviceOnGroups, WhatIsMissingIsCounted) {
  Yard yard = Yard().rack("r1", 1, 8).gang({.name = "g", .minimum = 5}, 1, "1");
  const auto lost = [](const char* name, const char* phase) {
    return scheduler::pod_of(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"default","uid":"{0}"}},"spec":{{"schedulerName":"default-scheduler","nodeName":"r1-0","schedulingGroup":{{"podGroupName":"g"}},"containers":[{{"name":"c"}}]}},"status":{{"phase":"{1}"}}}})",
        name, phase));
  };
  yard.objects.pods.push_back(lost("l1", "Failed"));
  EXPECT_EQ(
      yard.ask("g")->sentence,
      "PodGroup default/g waits: only 1 of at least 5 pods exist (1 failed or is terminating).");
  yard.objects.pods.push_back(lost("l2", "Failed"));
  EXPECT_EQ(
      yard.ask("g")->sentence,
      "PodGroup default/g waits: only 1 of at least 5 pods exist (2 failed or are terminating).");
  for (const char* name : {"f1", "f2"})
    yard.add_pod({.name = name, .cpu = "1", .group = "g", .spec = R"("schedulerName":"by-hand")"});
  EXPECT_EQ(yard.ask("g")->sentence,
            "PodGroup default/g waits: only 1 of at least 5 pods exist (2 failed or are "
            "terminating) (2 ask for another scheduler).");
  yard.objects.pods.push_back(lost("done", "Succeeded"));
  EXPECT_EQ(yard.ask("g")->sentence,
            "PodGroup default/g runs below its minimum: only 2 of at least 5 pods exist (2 failed "
            "or are terminating) (2 ask for another scheduler).");
}

TEST(AdviceOnGroups, GatesHoldBackWhatNeedsTheirPods) {
  Yard yard = Yard().rack("r1", 4, 8).gang({.name = "g", .minimum = 3}, 2, "1");
  for (const char* gate : {"b", "a"})
    yard.add_pod({.name = fmt::format("late-{}", gate),
                  .cpu = "1",
                  .group = "g",
                  .spec = fmt::format(R"("schedulingGates":[{{"name":"{}"}}])", gate)});
  EXPECT_EQ(yard.ask("g")->sentence,
            "PodGroup default/g waits: 2 of 4 pods carry scheduling gates (a, b); without them 2 "
            "of at least 3 can be tried.");
  yard.add_pod({.name = "third", .cpu = "1", .group = "g"});
  EXPECT_EQ(yard.ask("g")->state, State::FitsNow) << "the others may come later";
}

TEST(AdviceOnGroups, ACompositeSaysWhichChildIsNotReady) {
  Yard yard = Yard()
                  .rack("r1", 4, 8)
                  .composite({.name = "all", .minimum = 2})
                  .gang({.name = "a", .minimum = 1, .parent = "all"}, 1, "1");
  EXPECT_EQ(yard.ask_composite("all")->sentence,
            "CompositePodGroup default/all waits: only 1 of at least 2 child groups exist.");
  yard.gang({.name = "b", .minimum = 2, .parent = "all"}, 1, "1")
      .gang({.name = "c", .minimum = 3, .parent = "all"}, 1, "1");
  EXPECT_EQ(yard.ask_composite("all")->sentence,
            "CompositePodGroup default/all waits: only 1 of at least 2 child groups are ready; b: "
            "only 1 of at "
            "least 2 pods exist.");
}

}  // namespace
}  // namespace muster::explain
