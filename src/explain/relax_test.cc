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
  Situation situation(yard.objects, scheduler::default_profile());
  const auto* group = std::get_if<GroupKey>(&subject);
  const Tree before = read_tree(situation, *group);
  Trial trial(situation, {*group, nullptr}, &before, {.attempts = 1000, .steps = 1'000'000});
  relaxations(trial);
  const Tree after = read_tree(situation, *group);
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

}  // namespace
}  // namespace muster::explain
