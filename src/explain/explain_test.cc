#include "explain/explain.h"

#include <gtest/gtest.h>

#include "explain/explain_testing.h"
#include "explain/render.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::explain {
namespace {

std::string sentence_of(const Result<Explanation>& explanation) {
  return explanation ? explanation->sentence : explanation.error().message;
}

std::vector<std::string> helps(const Result<Explanation>& explanation) {
  std::vector<std::string> sentences;
  for (const Relaxation& relaxation : explanation->relaxations)
    sentences.push_back(relaxation.sentence);
  return sentences;
}
using Sentences = std::vector<std::string>;

const Level& level_of(const Result<Explanation>& explanation, std::string_view name) {
  static const Level kNone;
  for (const Level& level : explanation->tree)
    if (level.key.name == name) return level;
  ADD_FAILURE() << "no level " << name;
  return kNone;
}

// Two racks of one block, another of a second block; none has four free nodes.
Yard crowded() { return Yard().rack("r1", 4, 8, 8).rack("r2", 4, 8, 16).rack("r3", 3, 8, 0, "b2"); }

TEST(Explain, ReadsAloud) {
  const Result<Explanation> told =
      crowded().gang({.name = "train", .minimum = 4, .key = "rack"}, 4, "8").ask("train");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(
      render_text(*told),
      R"(PodGroup default/train is unschedulable: 0/3 placements are available, rack r1 comes closest: 3 of 4 pods fit; short of 1 × cpu 8.
Proven by counting: no rack has room for more than 3 of the 4 pods it still needs.

Tree: state, scheduled, minimum
  podgroup/train  unschedulable  0 of 4 pods  at least 4, in one rack

Closest
  train: rack r1 fits 3 of 4 pods
  train: rack r3 fits 3 of 4 pods
  train: rack r2 fits 2 of 4 pods

Nodes
  4 pods like default/train-0, asking for cpu 8:
    8/11 nodes have room for at least one: 3 Insufficient cpu.

What would help (each was checked by planning it)
  - lower minCount of podgroup default/train from 4 to 3
      kubectl -n default patch podgroup train --type merge -p '{"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}}'
  - let podgroup default/train spread over one block (block) instead of one rack; it would stand in block b1
  - add 1 node like r1-0 (cpu 8, memory 8Gi) to rack r1
  - wait until pod default/used-r1-0 has finished (1 pod that runs now)
)");
}

TEST(Explain, TellsProgramsTheSame) {
  const Result<Explanation> told =
      crowded().gang({.name = "train", .minimum = 4, .key = "rack"}, 4, "8").ask("train");
  ASSERT_TRUE(told) << told.error().message;
  const api::Json json = api::parse_json(render_json(*told)).value().value;
  EXPECT_EQ(api::find_string(json, "state"), "Unschedulable");
  EXPECT_EQ(api::find_string(json, "sentence"), told->sentence);
  const api::JsonArray& tree = *api::find_array(json, "tree");
  ASSERT_EQ(tree.size(), 1U);
  EXPECT_EQ(api::to_text(*api::find(tree[0], "closest")),
            R"([{"domain":"r1","fits":3,"needed":4},{"domain":"r3","fits":3,"needed":4},)"
            R"({"domain":"r2","fits":2,"needed":4}])");
  const api::JsonArray& relaxations = *api::find_array(json, "relaxations");
  ASSERT_EQ(relaxations.size(), told->relaxations.size());
  EXPECT_EQ(api::find_string(relaxations[0], "kind"), "SmallerMinimum");
  EXPECT_EQ(api::find(relaxations[0], "amount")->to_number<int>(), 3);
}

TEST(Explain, AGroupThatFitsSaysWhere) {
  const Result<Explanation> told =
      crowded().gang({.name = "train", .minimum = 3, .key = "rack"}, 3, "8").ask("train");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::FitsNow);
  EXPECT_EQ(told->sentence,
            "PodGroup default/train fits now, in rack r1: the scheduler will place it with its "
            "next attempt.");
  ASSERT_EQ(told->placements.size(), 3U);
  EXPECT_EQ(told->placements[0].node, "r1-1");
  EXPECT_FALSE(told->tried_relaxations);
}

TEST(Explain, AnotherSchedulerIsNamed) {
  Yard yard = crowded().group({.name = "duo", .minimum = 1});
  yard.add_pod(
      {.name = "duo-0", .cpu = "1", .group = "duo", .spec = R"("schedulerName":"by-hand")"});
  EXPECT_EQ(sentence_of(yard.ask("duo")),
            "PodGroup default/duo fits now: the scheduler by-hand, which its pods ask for, has to "
            "place it.");
}

// H1: the scheduler tries only its own pods of a group, and so does the explanation.
TEST(Explain, PodsOfAnotherSchedulerDoNotCount) {
  Yard yard = crowded().group({.name = "duo", .minimum = 2});
  yard.add_pod({.name = "duo-0", .cpu = "1", .group = "duo"});
  yard.add_pod(
      {.name = "duo-1", .cpu = "1", .group = "duo", .spec = R"("schedulerName":"by-hand")"});
  EXPECT_EQ(sentence_of(yard.ask("duo")),
            "PodGroup default/duo waits: only 1 of at least 2 pods exist (1 asks for another "
            "scheduler).");
}

// H1: members that run have a say in whether the group may be tried, as the scheduler asks them.
TEST(Explain, MembersThatRunMustAgreeWithThoseThatWait) {
  Yard yard = crowded().group({.name = "duo", .minimum = 1});
  yard.add_pod({.name = "duo-0", .cpu = "1", .group = "duo"});
  yard.add_pod({.name = "duo-1", .cpu = "1", .node_name = "r1-1", .group = "duo", .priority = 3});
  const Result<Explanation> told = yard.ask_pod("duo-0");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::Unschedulable);
  EXPECT_NE(told->sentence.find("should have the same priority as the pod group's priority"),
            std::string::npos)
      << told->sentence;
}

// H1: what a gate switches off in the scheduler is switched off here.
TEST(Explain, FollowsTheGatesOfTheScheduler) {
  const Yard yard = Yard()
                        .rack("r1", 2, 4)
                        .rack("r2", 2, 4)
                        .gang({.name = "wide", .minimum = 4, .key = "rack"}, 4, "4");
  const auto ask = [&](const api::Gates& gates) {
    return explain(yard.objects, GroupKey{GroupKind::PodGroup, "default", "wide"},
                   scheduler::default_profile(), {.tries_relaxations = false, .gates = gates});
  };
  EXPECT_EQ(ask({})->state, State::Unschedulable);
  EXPECT_EQ(ask(api::Gates().without(api::Gate::TopologyAwareWorkloadScheduling))->state,
            State::FitsNow);
}

TEST(Explain, AScheduledGroupSaysWhereItIs) {
  Yard yard = crowded();
  yard.gang({.name = "train", .minimum = 2, .key = "rack"}, 2, "4", "r3-1");
  yard.add_pod({.name = "more", .cpu = "80", .group = "train"});
  const Result<Explanation> told = yard.ask("train");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::Scheduled);
  EXPECT_EQ(told->sentence,
            "PodGroup default/train is scheduled: 2 of 3 pods have a node or have finished, in "
            "rack r3; 1 extra pod waits.");
  ASSERT_EQ(told->placements.size(), 1U);
  EXPECT_EQ(told->placements[0].node, "r3-1");
  EXPECT_EQ(told->placements[0].pods, 2);
  // What keeps the one that waits.
  ASSERT_EQ(told->reasons.size(), 1U);
  EXPECT_EQ(told->reasons[0].sample, "default/more");
  EXPECT_EQ(told->reasons[0].accept, 0);
}

TEST(Explain, CountsPodsThatDoNotExist) {
  const Result<Explanation> told =
      crowded().gang({.name = "train", .minimum = 4}, 3, "1").ask("train");
  EXPECT_EQ(sentence_of(told), "PodGroup default/train waits: only 3 of at least 4 pods exist.");
  EXPECT_EQ(told->state, State::BelowMinimum);
  EXPECT_EQ(helps(told), Sentences{"lower minCount of podgroup default/train from 4 to 3"});
}

TEST(Explain, NamesTheGates) {
  Yard yard = crowded().gang({.name = "train", .minimum = 2, .key = "rack"}, 2, "1");
  yard.add_pod({.name = "late",
                .cpu = "1",
                .group = "train",
                .spec = R"("schedulingGates":[{"name":"example.com/quota"}])"});
  EXPECT_EQ(sentence_of(yard.ask("train")),
            "PodGroup default/train waits: 1 of 3 pods carry scheduling gates "
            "(example.com/quota); a group that must share one rack waits for all its pods.");
  EXPECT_EQ(sentence_of(yard.ask_pod("late")),
            "Pod default/late is held by scheduling gates: example.com/quota. " +
                sentence_of(yard.ask("train")));
}

TEST(Explain, NamesTheMissingParent) {
  const Yard yard = crowded().gang({.name = "cube", .minimum = 1, .parent = "slice"}, 1, "1");
  EXPECT_EQ(sentence_of(yard.ask("cube")),
            "PodGroup default/cube waits: composite pod group \"slice\" does not exist.");
  EXPECT_EQ(sentence_of(yard.ask_composite("slice")),
            "CompositePodGroup default/slice cannot be tried: compositepodgroup default/slice does "
            "not exist, though 1 group names it as parent.");
}

TEST(Explain, ACycleIsInvalid) {
  const Yard yard = crowded()
                        .composite({.name = "a", .minimum = 1, .parent = "b"})
                        .composite({.name = "b", .minimum = 1, .parent = "a"})
                        .gang({.name = "cube", .minimum = 1, .parent = "a"}, 1, "1");
  const Result<Explanation> told = yard.ask("cube");
  EXPECT_EQ(told->state, State::Invalid);
  EXPECT_EQ(
      sentence_of(told).find(
          "PodGroup default/cube is invalid: cycle detected in composite pod group hierarchy"),
      0U)
      << sentence_of(told);
}

TEST(Explain, PodsThatContradictTheirGroupAreNamed) {
  Yard yard = crowded().gang({.name = "train", .minimum = 2}, 1, "1");
  yard.add_pod({.name = "vip", .cpu = "1", .group = "train", .priority = 7});
  const Result<Explanation> told = yard.ask("train");
  EXPECT_EQ(told->state, State::Invalid);
  EXPECT_EQ(
      sentence_of(told),
      "PodGroup default/train is invalid: all pods in a single pod group should have the same "
      "priority as the pod group's priority, got 7 and 0.");
}

// Prefill fits, decode does not: asked about either, the tree is shown and decode is to blame.
Yard serving() {
  return crowded()
      .composite({.name = "llm", .minimum = 2, .key = "block"})
      .gang({.name = "prefill", .minimum = 2, .key = "rack", .parent = "llm"}, 2, "8")
      .gang({.name = "decode", .minimum = 4, .key = "rack", .parent = "llm"}, 4, "8");
}

TEST(Explain, InATreeTheOneAtFaultIsNamed) {
  const Result<Explanation> told = serving().ask("prefill");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::Held);
  EXPECT_EQ(told->sentence,
            "PodGroup default/prefill waits for compositepodgroup default/llm, which is "
            "unschedulable: 0/2 placements are available, block b1 comes closest: 1 of 2 groups "
            "fit; decode: 0/2 placements are available, rack r1 comes closest: 3 of 4 pods fit; "
            "short of 1 × cpu 8.");
  EXPECT_EQ(level_of(told, "decode").state, State::Unschedulable);
  EXPECT_EQ(level_of(told, "prefill").why, "could find a place by itself, but its parent cannot");
  ASSERT_FALSE(level_of(told, "llm").closest.empty());
  EXPECT_EQ(level_of(told, "llm").closest[0].domain, "b1");
  EXPECT_EQ(level_of(told, "llm").closest[0].fits, 1);
  EXPECT_EQ(
      told->proof,
      "Proven by counting: no block has room for more than 1 of the 2 groups it still needs.");
  EXPECT_EQ(helps(told)[0],
            "lower minGroupCount of compositepodgroup default/llm from 2 to 1 (needs the gate "
            "MutableMinGroupCount, or a new group)");
}

TEST(Explain, TheTreeIsDrawn) {
  Yard yard = serving();
  yard.group({.name = "frontend", .parent = "llm"});
  const std::string text = render_text(*yard.ask_composite("llm"));
  EXPECT_NE(text.find("compositepodgroup/llm * "), std::string::npos) << text;
  EXPECT_NE(text.find("├─ podgroup/decode "), std::string::npos) << text;
  EXPECT_NE(text.find("└─ podgroup/prefill"), std::string::npos) << text;
  EXPECT_NE(text.find("basic"), std::string::npos) << text;
}

TEST(Explain, GroupsThatFitAloneAreNotSaidToFit) {
  const Yard yard = Yard()
                        .rack("r1", 4, 8)
                        .composite({.name = "llm", .minimum = 2, .key = "rack"})
                        .gang({.name = "prefill", .minimum = 3, .parent = "llm"}, 3, "8")
                        .gang({.name = "decode", .minimum = 3, .parent = "llm"}, 3, "8");
  const Result<Explanation> told = yard.ask_composite("llm");
  EXPECT_EQ(told->state, State::Unschedulable);
  const std::string text = render_text(*told);
  EXPECT_NE(text.find("llm: rack r1 fits each of 2 groups alone, not all together"),
            std::string::npos)
      << text;
}

TEST(Explain, APartOfATreeThatWasNotNeededIsExplainedToo) {
  const Yard yard =
      crowded()
          .composite({.name = "llm", .minimum = 1})
          .gang({.name = "prefill", .minimum = 2, .key = "rack", .parent = "llm"}, 2, "8")
          .gang({.name = "decode", .minimum = 4, .key = "rack", .parent = "llm"}, 4, "8");
  EXPECT_EQ(yard.ask_composite("llm")->state, State::FitsNow);
  const Result<Explanation> told = yard.ask("decode");
  EXPECT_EQ(told->state, State::Unschedulable);
  ASSERT_FALSE(told->relaxations.empty());
  EXPECT_EQ(helps(told)[0], "lower minCount of podgroup default/decode from 4 to 3");
}

TEST(Explain, ThoseAheadAreNamed) {
  Yard yard = Yard().rack("r1", 4, 8);
  yard.gang({.name = "low", .minimum = 4}, 4, "8");
  yard.gang({.name = "high", .minimum = 3, .priority = 5}, 3, "8");
  const Result<Explanation> told = yard.ask("low");
  EXPECT_EQ(told->state, State::BehindOthers);
  EXPECT_EQ(told->sentence,
            "PodGroup default/low would fit, but podgroup default/high comes first and takes the "
            "room.");
  EXPECT_EQ(yard.ask("high")->state, State::FitsNow);
}

TEST(Explain, CordonsAndTaintsAreOpened) {
  Yard yard = Yard().rack("r1", 2, 8);
  for (const char* name : {"c1", "c2", "c3"})
    yard.add_node({.name = name, .cpu = "8", .unschedulable = true});
  yard.add_node({.name = "t1",
                 .cpu = "8",
                 .taints = R"([{"key":"pool","value":"gpu","effect":"NoSchedule"}])"});
  yard.gang({.name = "train", .minimum = 3}, 3, "8");
  const Result<Explanation> told = yard.ask("train");
  const Sentences want{"lower minCount of podgroup default/train from 3 to 2", "uncordon c3",
                       "let the pods tolerate the taint pool=gpu:NoSchedule of t1, or remove it",
                       "add 1 node like c1 (cpu 8, memory 8Gi)"};
  EXPECT_EQ(helps(told), want);
  EXPECT_EQ(told->relaxations[1].command, "kubectl uncordon c3");
}

TEST(Explain, LonePodsToo) {
  Yard yard = Yard().rack("r1", 2, 8, 16);
  yard.add_pod({.name = "web", .cpu = "2"});
  const Result<Explanation> told = yard.ask_pod("web");
  EXPECT_EQ(sentence_of(told),
            "Pod default/web is unschedulable: 0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(helps(told),
            (Sentences{"add 1 node like r1-0 (cpu 8, memory 8Gi)",
                       "wait until pod default/used-r1-0 has finished (1 pod that runs now)"}));
  EXPECT_EQ(sentence_of(yard.ask_pod("used-r1-1")),
            "Pod default/used-r1-1 is scheduled to node r1-1.");
}

TEST(Explain, APodFaresWithItsGroup) {
  Yard yard = crowded().gang({.name = "train", .minimum = 4, .key = "rack"}, 4, "8");
  EXPECT_EQ(sentence_of(yard.ask_pod("train-2")),
            "Pod default/train-2 waits with its group. " + sentence_of(yard.ask("train")));
  Yard grown = crowded().gang({.name = "train", .minimum = 1}, 1, "4", "r3-1");
  grown.add_pod({.name = "more", .cpu = "80", .group = "train"});
  const Result<Explanation> told = grown.ask_pod("more");
  EXPECT_EQ(told->state, State::Unschedulable);
  EXPECT_EQ(sentence_of(told),
            "Pod default/more finds no node beside its group: 0/11 nodes are available: 11 "
            "Insufficient cpu. " +
                sentence_of(grown.ask("train")));
}

TEST(Explain, WhereNothingFitsTheDomainsAreNotListed) {
  const Result<Explanation> told =
      crowded().gang({.name = "train", .minimum = 4, .key = "rack"}, 4, "9").ask("train");
  EXPECT_EQ(told->proof,
            "Proven by counting: no rack has room for any of the 4 pods it still needs. Evicting "
            "other pods would not help.");
  EXPECT_NE(render_text(*told).find("\nClosest\n  train: none of 3 racks fits any of 4 pods\n"),
            std::string::npos)
      << render_text(*told);
}

TEST(Explain, LabelsThatNoNodeHasAreNamed) {
  Yard yard = crowded().gang({.name = "train", .minimum = 2, .key = "rakc"}, 2, "1");
  EXPECT_EQ(yard.ask("train")->no_such_label,
            Sentences{"no node has the label rakc; did you mean rack?"});
  yard.add_pod({.name = "web", .cpu = "1", .spec = R"("nodeSelector":{"block":"b3"})"});
  EXPECT_EQ(yard.ask_pod("web")->no_such_label,
            Sentences{"no node has the label block=b3; it is b1 on 8 nodes, b2 on 3 nodes"});
  yard.add_pod({.name = "odd", .cpu = "80", .spec = R"("nodeSelector":{"block":"b2"})"});
  EXPECT_EQ(yard.ask_pod("odd")->no_such_label, Sentences{});
}

// Free nodes elsewhere are of no use to a gang that has begun to run.
TEST(Explain, AGroupThatRunsIsToldOfItsOwnDomain) {
  Yard yard = Yard().rack("r1", 2, 8).rack("r2", 4, 8);
  yard.gang({.name = "train", .minimum = 3, .key = "rack"}, 1, "8", "r1-0");
  for (const char* name : {"more-0", "more-1"})
    yard.add_pod({.name = name, .cpu = "8", .group = "train"});
  const Result<Explanation> told = yard.ask("train");
  ASSERT_EQ(told->reasons.size(), 1U);
  EXPECT_EQ(told->reasons[0].where, "rack r1");
  EXPECT_EQ(told->reasons[0].nodes, 2);
  EXPECT_EQ(told->reasons[0].accept, 1);
  EXPECT_NE(render_text(*told).find(
                "1/2 nodes of rack r1, where it runs, have room for at least one: 1 Insufficient"),
            std::string::npos)
      << render_text(*told);
}

TEST(Explain, SuggestsNamesThatWerePerhapsMeant) {
  Yard yard = crowded().gang({.name = "train", .minimum = 1}, 1, "1");
  yard.composite({.name = "llm", .minimum = 1});
  EXPECT_EQ(sentence_of(yard.ask("tarin")),
            "there is no podgroup tarin in namespace default; did you mean train?");
  EXPECT_EQ(sentence_of(yard.ask("llm")),
            "there is no podgroup llm in namespace default; did you mean compositepodgroup llm?");
  EXPECT_EQ(sentence_of(yard.ask("quite-different")),
            "there is no podgroup quite-different in namespace default; `kubectl -n default get "
            "podgroups` lists the 1 there are");
  EXPECT_EQ(
      sentence_of(yard.ask(PodKey{"elsewhere", "web"})),
      "there is no pod web in namespace elsewhere; there are no pods there at all (-n chooses "
      "another)");
}

TEST(Explain, AnEmptyClusterIsNoCrash) {
  const Result<Explanation> told =
      Yard().gang({.name = "train", .minimum = 2}, 2, "1").ask("train");
  EXPECT_EQ(sentence_of(told),
            "PodGroup default/train is unschedulable: no nodes available to schedule pods.");
  EXPECT_TRUE(told->relaxations.empty());
}

TEST(Explain, ALongChainOfGroupsIsLookedAtInPart) {
  Yard yard;
  yard.rack("a", 1, 4);
  constexpr int kLength = 20'000;
  for (int i = 0; i < kLength; ++i)
    yard.composite({.name = fmt::format("c{}", i),
                    .minimum = 1,
                    .parent = i == 0 ? "" : fmt::format("c{}", i - 1)});
  for (const int at : {0, kLength / 2, kLength - 1}) {
    const auto about = yard.ask_composite(fmt::format("c{}", at));
    ASSERT_TRUE(about.has_value());
    EXPECT_LE(about->tree.size(), 10u);
    EXPECT_EQ(std::ranges::count(about->tree, true, &Level::is_subject), 1);
  }
}

TEST(Explain, SaysHowManyAheadWereNotPlanned) {
  Yard yard;
  yard.rack("a", 1, 4);
  for (int i = 0; i < 250; ++i)
    yard.add_pod({.name = fmt::format("p{}", i), .cpu = "1", .priority = 5});
  yard.gang({.name = "train", .minimum = 1}, 1, "1");
  const auto about = yard.ask("train");
  ASSERT_TRUE(about.has_value());
  EXPECT_TRUE(about->note.starts_with("250 come before it in the queue; only the first 200"))
      << about->note;
}

TEST(Explain, ADeletedGroupNamesWhatItWaitsFor) {
  Yard yard;
  yard.rack("a", 1, 4);
  yard.composite({.name = "all", .minimum = 1, .is_deleted = true});
  yard.gang({.name = "train", .minimum = 1, .parent = "all"}, 2, "1", "a-0");
  const auto about = yard.ask_composite("all");
  ASSERT_TRUE(about.has_value());
  EXPECT_EQ(about->state, State::Terminating);
  EXPECT_EQ(about->sentence,
            "CompositePodGroup default/all is being deleted: waits for 1 group (train) and 2 pods "
            "(train-0, train-1).");
  EXPECT_FALSE(about->tried_relaxations);
}

TEST(Explain, ADeletedGroupDoesNotWaitForPodsThatHaveEnded) {
  const auto told = [](bool one_runs) {
    Yard yard;
    yard.rack("a", 1, 4);
    yard.group({.name = "train", .minimum = 1, .is_deleted = true});
    yard.add_pod(
        {.name = "failed", .node_name = "a-0", .group = "train", .status = R"("phase":"Failed")"});
    yard.add_pod(
        {.name = "done", .node_name = "a-0", .group = "train", .status = R"("phase":"Succeeded")"});
    if (one_runs) yard.add_pod({.name = "runs", .node_name = "a-0", .group = "train"});
    return yard.ask("train")->sentence;
  };
  EXPECT_EQ(told(true), "PodGroup default/train is being deleted: waits for 1 pod (runs).");
  EXPECT_EQ(told(false),
            "PodGroup default/train is being deleted: nothing that it waits for is left.");
}

}  // namespace
}  // namespace muster::explain
