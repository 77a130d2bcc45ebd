#include "explain/relax.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "api/views/group_view.h"
#include "api/views/pod_view.h"
#include "explain/edits.h"
#include "explain/explain_testing.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::explain {
namespace {

int between(int least, int most) { return *rc::gen::inRange(least, most + 1); }

// A small cluster with racks in blocks, partly used, cordoned and tainted, and a tree that may or
// may not fit.
Yard any_yard() {
  Yard yard;
  const int racks = between(1, 4);
  for (int r = 0; r < racks; ++r)
    yard.rack(fmt::format("r{}", r), between(1, 3), between(2, 4), between(0, 8),
              fmt::format("b{}", r / 2));
  for (int i = between(0, 2); i > 0; --i)
    yard.add_node({.name = fmt::format("closed-{}", i),
                   .cpu = "4",
                   .labels = {{"rack", "r0"}, {"block", "b0"}},
                   .unschedulable = true});
  for (int i = between(0, 2); i > 0; --i)
    yard.add_node({.name = fmt::format("tainted-{}", i),
                   .cpu = "4",
                   .labels = {{"rack", "r0"}, {"block", "b0"}},
                   .taints = R"([{"key":"pool","effect":"NoSchedule"}])"});
  yard.gang({.name = "other", .minimum = 1}, between(0, 2), "2", "r0-0");
  // Somebody who may come first.
  if (between(0, 1) == 1) {
    const int pods = between(1, 3);
    yard.gang({.name = "ahead", .minimum = pods, .priority = 5}, pods,
              std::to_string(between(1, 4)));
  }
  const int leaves = between(1, 3);
  const auto key = [&] {
    return *rc::gen::elementOf(std::vector<std::string>{"", "rack", "block"});
  };
  // Two of three leaves may have a group of their own.
  const bool has_inner = leaves == 3 && between(0, 1) == 1;
  const int below_root = has_inner ? 2 : leaves;
  if (leaves > 1) yard.composite({.name = "root", .minimum = between(1, below_root), .key = key()});
  if (has_inner)
    yard.composite({.name = "inner", .minimum = between(1, 2), .key = key(), .parent = "root"});
  for (int l = 0; l < leaves; ++l) {
    const int pods = between(1, 6);
    const std::string cpu = std::to_string(between(1, 3));
    // Some pods may be gone, or may run already.
    const int gone = between(0, 4) == 0 ? 1 : 0;
    yard.gang({.name = fmt::format("leaf{}", l),
               .minimum = between((pods + 1) / 2, pods),
               .key = key(),
               .parent = leaves == 1          ? ""
                         : has_inner && l > 0 ? "inner"
                                              : "root"},
              pods - gone, cpu);
    if (gone == 1 && between(0, 1) == 1)
      yard.add_pod({.name = fmt::format("leaf{}-runs", l),
                    .cpu = cpu,
                    .node_name = "r0-0",
                    .group = fmt::format("leaf{}", l)});
  }
  return yard;
}

Subject any_subject(const Yard& yard) {
  const bool has_root = std::ranges::any_of(yard.objects.groups, [](const api::ObjectPtr& group) {
    return group->meta().name == "root";
  });
  if (has_root && between(0, 1) == 0)
    return GroupKey{GroupKind::CompositePodGroup, "default", "root"};
  return GroupKey{GroupKind::PodGroup, "default", "leaf0"};
}

// Now, after those who come first.
bool fits(const Objects& objects, const Subject& subject) {
  const Result<Explanation> told =
      explain(objects, subject, scheduler::default_profile(), {.tries_relaxations = false});
  RC_ASSERT(told.has_value());
  return told->state == State::FitsNow || told->state == State::Scheduled;
}

std::string yaml_of(const Objects& objects) {
  std::string text;
  for (const auto* list : {&objects.nodes, &objects.groups, &objects.pods})
    for (const api::ObjectPtr& object : *list) text += std::string(object->bytes()) + "\n";
  return text;
}

// What a relaxation lowers, with the next larger minimum of the first group it names.
Edits one_more(const Relaxation& relaxation) {
  Edits edits = relaxation.edits;
  edits.front().after = with_minimum(*edits.front().before, relaxation.amount + 1);
  return edits;
}

// --- what could have been advised, tried one by one ---

struct Minimum {
  api::ObjectPtr group;
  std::int64_t present;
};

std::vector<Minimum> minimums(const Objects& objects) {
  std::vector<Minimum> all;
  for (const api::ObjectPtr& group : objects.groups) {
    const auto& view = group->view<api::GroupView>();
    if (group->meta().name != "ahead" && group->meta().name != "other" && view.gang)
      all.push_back({group, view.minimum});
  }
  return all;
}

bool a_smaller_minimum_helps(const Objects& objects, const Subject& subject) {
  const std::vector<Minimum> all = minimums(objects);
  for (const Minimum& a : all)
    for (const Minimum& b : all)
      for (std::int64_t to_a = 1; to_a < a.present; ++to_a)
        for (std::int64_t to_b = 1; to_b < b.present; ++to_b) {
          Edits edits{{a.group, with_minimum(*a.group, to_a)}};
          if (a.group != b.group) edits.push_back({b.group, with_minimum(*b.group, to_b)});
          if (fits(edited(objects, edits), subject)) return true;
        }
  return false;
}

bool a_wider_topology_helps(const Objects& objects, const Subject& subject) {
  for (const Minimum& one : minimums(objects)) {
    const std::string& key = one.group->view<api::GroupView>().topology_key;
    if (key.empty()) continue;
    for (const std::string_view wider : {"block", ""})
      if (key != wider &&
          fits(edited(objects, {{one.group, with_topology(*one.group, wider)}}), subject))
        return true;
  }
  return false;
}

// The tree that the subject is of; null for a pod without one.
const scheduler::GroupSpec* tree_of(const scheduler::ClusterModel& model, const Objects& objects,
                                    const Subject& subject) {
  if (const auto* group = std::get_if<GroupKey>(&subject)) return model.forest().root_of(*group);
  for (const api::ObjectPtr& pod : objects.pods)
    if (pod->meta().name == std::get<PodKey>(subject).name)
      if (const auto leaf = model.leaf_of(*pod)) return model.forest().root_of(*leaf);
  return nullptr;
}

// Others: the tree's own pods may tie it to a place, but it does not wait for them to finish.
bool one_that_finishes_helps(const Objects& objects, const Subject& subject) {
  const auto model = model_of(objects, scheduler::default_profile(), {});
  const scheduler::GroupSpec* own = tree_of(*model, objects, subject);
  std::map<std::string, Edits> gone;
  for (const api::ObjectPtr& pod : objects.pods) {
    const auto& view = pod->view<api::PodView>();
    const auto leaf = model->leaf_of(*pod);
    if (own != nullptr && leaf && model->forest().root_of(*leaf) == own) continue;
    if (!view.node_name.empty())
      gone[view.scheduling_group.empty() ? pod->meta().name : "group " + view.scheduling_group]
          .push_back({pod, nullptr});
  }
  return std::ranges::any_of(
      gone, [&](const auto& one) { return fits(edited(objects, one.second), subject); });
}

// The properties below say something only if random clusters are of both kinds.
TEST(Relaxations, RandomClustersHaveAdviceAndHaveNone) {
  int with_advice = 0;
  int without = 0;
  EXPECT_TRUE(rc::check([&] {
    const Yard yard = any_yard();
    const Result<Explanation> told = yard.ask(any_subject(yard));
    RC_ASSERT(told.has_value());
    if (told->tried_relaxations) ++(told->relaxations.empty() ? without : with_advice);
  }));
  EXPECT_GE(with_advice, 10);
  EXPECT_GE(without, 1);
}

RC_GTEST_PROP(Relaxations, WhatIsSaidToHelpHelps, ()) {
  const Yard yard = any_yard();
  const Subject subject = any_subject(yard);
  const Result<Explanation> told = yard.ask(subject);
  RC_ASSERT(told.has_value());
  RC_CLASSIFY(told->tried_relaxations, "relaxed");
  for (const Relaxation& relaxation : told->relaxations) {
    RC_TAG(std::string(relaxation.sentence.substr(0, relaxation.sentence.find(' '))));
    if (!fits(edited(yard.objects, relaxation.edits), subject))
      RC_FAIL(relaxation.sentence + "\n" + yaml_of(yard.objects));
    if (relaxation.kind != RelaxationKind::SmallerMinimum) continue;
    if (fits(edited(yard.objects, one_more(relaxation)), subject))
      RC_FAIL("more would fit: " + relaxation.sentence + "\n" + yaml_of(yard.objects));
  }
}

// "Nothing that was tried helps" is checked against everything of these three kinds.
RC_GTEST_PROP(Relaxations, NothingHelpsMeansNothingHelps, ()) {
  const Yard yard = any_yard();
  const Subject subject = any_subject(yard);
  const Result<Explanation> told = yard.ask(subject);
  RC_ASSERT(told.has_value());
  if (!told->tried_relaxations || !told->all_tried) return;
  const auto has = [&](std::initializer_list<RelaxationKind> kinds) {
    return std::ranges::any_of(told->relaxations, [&](const Relaxation& relaxation) {
      return std::ranges::find(kinds, relaxation.kind) != kinds.end();
    });
  };
  RC_CLASSIFY(told->relaxations.empty(), "nothing helps");
  if (!has({RelaxationKind::SmallerMinimum}) && a_smaller_minimum_helps(yard.objects, subject))
    RC_FAIL("a smaller minimum helps\n" + yaml_of(yard.objects));
  if (!has({RelaxationKind::WiderTopology, RelaxationKind::NoTopology}) &&
      a_wider_topology_helps(yard.objects, subject))
    RC_FAIL("a wider topology helps\n" + yaml_of(yard.objects));
  if (!has({RelaxationKind::OthersFinish}) && one_that_finishes_helps(yard.objects, subject))
    RC_FAIL("another that finishes helps\n" + yaml_of(yard.objects));
}

RC_GTEST_PROP(Relaxations, TryingThemLeavesNoTrace, ()) {
  const Yard yard = any_yard();
  const Subject subject = any_subject(yard);
  const auto made = model_of(yard.objects, scheduler::default_profile(), {});
  scheduler::ClusterModel& model = *made;
  const auto* group = std::get_if<GroupKey>(&subject);
  const Tree before = read_tree(model, *group, Time{});
  Trial trial(model, {*group, nullptr}, &before, {.attempts = 1000, .steps = 1'000'000});
  relaxations(trial);
  const Tree after = read_tree(model, *group, Time{});
  RC_ASSERT(before.levels.size() == after.levels.size());
  for (std::size_t i = 0; i < before.levels.size(); ++i) {
    RC_ASSERT(before.levels[i].state == after.levels[i].state);
    RC_ASSERT(before.levels[i].why == after.levels[i].why);
    RC_ASSERT(before.levels[i].domain == after.levels[i].domain);
  }
}

TEST(Relaxations, ABudgetThatEndsIsTold) {
  const Yard yard =
      Yard().rack("r1", 4, 8, 8).gang({.name = "train", .minimum = 4, .key = "rack"}, 4, "8");
  const Result<Explanation> told =
      explain(yard.objects, GroupKey{GroupKind::PodGroup, "default", "train"},
              scheduler::default_profile(), {.attempts_max = 2});
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_FALSE(told->all_tried);
  EXPECT_LE(told->relaxations.size(), 1U);
}

TEST(Relaxations, WhatNobodyWantsToKnowAnyMoreIsNotTried) {
  const Yard yard =
      Yard().rack("r1", 4, 8, 8).gang({.name = "train", .minimum = 4, .key = "rack"}, 4, "8");
  const GroupKey train{GroupKind::PodGroup, "default", "train"};
  int asked = 0;
  const auto stop_after_two = [&asked] { return ++asked > 2; };
  const Result<Explanation> told =
      explain(yard.objects, train, scheduler::default_profile(), {.is_unwanted = stop_after_two});
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_FALSE(told->all_tried);
  EXPECT_LE(told->relaxations.size(), 1U);
  const Result<Explanation> whole = explain(yard.objects, train, scheduler::default_profile(), {});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_GT(whole->relaxations.size(), told->relaxations.size());
}

// --- what is advised, and what is not ---

std::vector<std::string> advice(const Yard& yard, const std::string& group) {
  const Result<Explanation> told = yard.ask(group);
  EXPECT_TRUE(told) << told.error().message;
  std::vector<std::string> sentences;
  for (const Relaxation& relaxation : told->relaxations) sentences.push_back(relaxation.sentence);
  return sentences;
}
bool advises(const Yard& yard, const std::string& group, std::string_view words) {
  return std::ranges::any_of(advice(yard, group), [&](const std::string& sentence) {
    return sentence.find(words) != std::string::npos;
  });
}

TEST(Relaxations, AMinimumOfTwoMayBecomeOne) {
  const Yard yard = Yard().rack("r1", 1, 8).gang({.name = "duo", .minimum = 2}, 2, "8");
  EXPECT_TRUE(advises(yard, "duo", "lower minCount of podgroup default/duo from 2 to 1"));
}

// The controller that makes a group keeps its minimum: a change of the group would be undone.
TEST(Relaxations, TheMinimumOfAGroupThatSomebodyMadeIsChangedThere) {
  const auto told = [](const std::string& maker) {
    return Yard()
        .rack("r1", 1, 8)
        .gang({.name = "duo", .minimum = 2, .maker = maker}, 2, "8")
        .ask("duo")
        ->relaxations.front();
  };
  EXPECT_EQ(told("Job").sentence,
            "lower minCount of podgroup default/duo from 2 to 1 (in Job maker, which makes the "
            "group)");
  EXPECT_EQ(
      told("Job").command,
      R"(kubectl -n default patch job maker --type merge -p '{"spec":{"scheduling":{"schedulingPolicy":{"gang":{"minCount":1}}}}}')");
  EXPECT_EQ(told("JobSet").command, "");
}

// A running tree that lost a pod: no attempt can be made, yet less would be enough.
TEST(Relaxations, ATreeThatFellBelowItsMinimumMayNeedLess) {
  const Yard yard =
      Yard()
          .rack("r1", 4, 8)
          .composite({.name = "superslice", .minimum = 2})
          .gang({.name = "slice-0", .minimum = 2, .parent = "superslice"}, 2, "4", "r1-0")
          .gang({.name = "slice-1", .minimum = 2, .parent = "superslice"}, 1, "4", "r1-1");
  const Result<Explanation> told = yard.ask_composite("superslice");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::BelowMinimum);
  std::vector<std::string> sentences;
  for (const Relaxation& relaxation : told->relaxations) sentences.push_back(relaxation.sentence);
  EXPECT_EQ(
      sentences,
      (std::vector<std::string>{
          "lower minGroupCount of compositepodgroup default/superslice from 2 to 1 (needs the "
          "gate MutableMinGroupCount, or a new group)",
          "lower minCount of podgroup default/slice-1 from 2 to 1"}));
}

TEST(Relaxations, TwoSiblingsMayHaveToNeedLess) {
  const Yard yard = Yard()
                        .rack("r1", 2, 8)
                        .composite({.name = "all", .minimum = 2})
                        .composite({.name = "llm", .minimum = 1, .parent = "all"})
                        .composite({.name = "web", .minimum = 1, .parent = "all"})
                        .gang({.name = "prefill", .minimum = 3, .parent = "llm"}, 3, "8")
                        .gang({.name = "decode", .minimum = 3, .parent = "web"}, 3, "8");
  EXPECT_TRUE(advises(yard, "prefill",
                      "lower minCount of podgroup default/prefill from 3 to 1, and minCount of "
                      "podgroup default/decode from 3 to 1"));
}

// What frees two nodes helps only if the one before it does not need them.
TEST(Relaxations, ThoseAheadTakeTheRoomFirst) {
  const auto yard = [](std::int32_t priority) {
    Yard made = Yard().rack("r1", 2, 8).group({.name = "running", .minimum = 1});
    made.add_pod({.name = "running-0", .cpu = "8", .node_name = "r1-0", .group = "running"});
    made.add_pod({.name = "running-1", .cpu = "8", .node_name = "r1-1", .group = "running"});
    made.gang({.name = "first", .minimum = 2, .priority = priority}, 2, "8");
    made.gang({.name = "second", .minimum = 2, .priority = 5}, 2, "8");
    return made;
  };
  EXPECT_TRUE(advises(yard(1), "second", "wait until podgroup default/running has finished"));
  EXPECT_FALSE(advises(yard(9), "second", "wait until"));
}

TEST(Relaxations, NobodyWaitsForThoseWorthMore) {
  Yard yard = Yard().rack("r1", 1, 8);
  yard.add_pod({.name = "better", .cpu = "8", .node_name = "r1-0", .priority = 9});
  yard.gang({.name = "solo", .minimum = 1}, 1, "8");
  EXPECT_FALSE(advises(yard, "solo", "wait until"));
}

TEST(Relaxations, NobodyWaitsForItself) {
  Yard yard = Yard().rack("r1", 1, 8).gang({.name = "grow", .minimum = 1}, 1, "8", "r1-0");
  yard.add_pod({.name = "more", .cpu = "8", .group = "grow"});
  EXPECT_FALSE(advises(yard, "grow", "wait until"));
}

TEST(Relaxations, TheSmallestThatMakesRoomIsNamed) {
  Yard yard = Yard().rack("r1", 2, 8).gang({.name = "big", .minimum = 2}, 2, "4", "r1-0");
  yard.add_pod({.name = "small", .cpu = "8", .node_name = "r1-1"});
  yard.gang({.name = "solo", .minimum = 1}, 1, "8");
  EXPECT_TRUE(advises(yard, "solo", "wait until pod default/small has finished"));
}

TEST(Relaxations, MoreNodesAreLikeThoseThatWouldTakeThePods) {
  Yard yard;
  yard.add_node(
      {.name = "a-tainted", .cpu = "8", .taints = R"([{"key":"pool","effect":"NoSchedule"}])"});
  for (const char* name : {"b", "c"}) yard.add_node({.name = name, .cpu = "8"});
  yard.gang({.name = "trio", .minimum = 3}, 3, "8");
  EXPECT_TRUE(advises(yard, "trio", "add 1 node like b "));
}

// Rack r1 stands in both zones, so a zone is not wider than a rack.
TEST(Relaxations, AKeyThatCutsThroughDomainsIsNotWider) {
  Yard yard;
  const auto add = [&](const char* name, const char* rack, const char* zone) {
    yard.add_node({.name = name, .cpu = "8", .labels = {{"rack", rack}, {"zone", zone}}});
  };
  add("n1", "r1", "za");
  add("n2", "r1", "zb");
  add("n3", "r2", "za");
  add("n4", "r3", "za");
  yard.gang({.name = "trio", .minimum = 3, .key = "rack"}, 3, "8");
  EXPECT_FALSE(advises(yard, "trio", "spread over one zone"));
  EXPECT_TRUE(advises(yard, "trio", "spread over several racks"));
}

// By the letters that differ, not only by those in another place.
TEST(Relaxations, NamesWithTwoWrongLettersAreOffered) {
  const Yard yard = Yard().rack("r1", 1, 8).gang({.name = "train", .minimum = 1}, 1, "1");
  EXPECT_EQ(yard.ask("troon").error().message,
            "there is no podgroup troon in namespace default; did you mean train?");
}

TEST(Relaxations, OfEqualPriorityTheOlderIsAhead) {
  Yard yard = Yard().rack("r1", 1, 8);
  for (const auto& [name, created] :
       {std::pair("old-z", "2026-01-01T00:00:00Z"), {"new-a", "2026-01-02T00:00:00Z"}})
    yard.objects.pods.push_back(scheduler::pod_of(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"default","uid":"{0}","creationTimestamp":"{1}"}},)"
        R"("spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"8"}}}}}}]}}}})",
        name, created)));
  EXPECT_EQ(yard.ask_pod("old-z")->state, State::FitsNow);
  EXPECT_EQ(yard.ask_pod("new-a")->state, State::BehindOthers);
}

}  // namespace
}  // namespace muster::explain
