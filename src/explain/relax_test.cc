#include "explain/relax.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "explain/edits.h"
#include "explain/explain_testing.h"

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
  const int leaves = between(1, 3);
  const auto key = [&] {
    return *rc::gen::elementOf(std::vector<std::string>{"", "rack", "block"});
  };
  if (leaves > 1) yard.composite({.name = "root", .minimum = between(1, leaves), .key = key()});
  for (int l = 0; l < leaves; ++l) {
    const int pods = between(1, 6);
    yard.gang({.name = fmt::format("leaf{}", l),
               .minimum = between((pods + 1) / 2, pods),
               .key = key(),
               .parent = leaves > 1 ? "root" : ""},
              pods, std::to_string(between(1, 3)));
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

bool fits(const Objects& objects, const Subject& subject) {
  const Result<Explanation> told =
      explain(objects, subject, scheduler::default_profile(), {.tries_relaxations = false});
  RC_ASSERT(told.has_value());
  return told->state == State::FitsNow || told->state == State::BehindOthers ||
         told->state == State::Scheduled;
}

std::string yaml_of(const Objects& objects) {
  std::string text;
  for (const auto* list : {&objects.nodes, &objects.groups, &objects.pods})
    for (const api::ObjectPtr& object : *list) text += std::string(object->bytes()) + "\n";
  return text;
}

// The group whose minimum a relaxation lowers, with the next larger minimum.
Edits one_more(const Relaxation& relaxation) {
  const Edit& edit = relaxation.edits.front();
  return {{edit.before, with_minimum(*edit.before, relaxation.amount + 1)}};
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

RC_GTEST_PROP(Relaxations, TryingThemLeavesNoTrace, ()) {
  const Yard yard = any_yard();
  const Subject subject = any_subject(yard);
  const auto made = model_of(yard.objects, scheduler::default_profile(), {});
  scheduler::ClusterModel& model = *made;
  const auto* group = std::get_if<GroupKey>(&subject);
  const Tree before = read_tree(model, *group);
  Trial trial(model, {*group, nullptr}, &before, {.attempts = 1000, .steps = 1'000'000});
  relaxations(trial);
  const Tree after = read_tree(model, *group);
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
