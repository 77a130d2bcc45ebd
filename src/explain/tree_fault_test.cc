#include <gtest/gtest.h>

#include "explain/explain_testing.h"
#include "explain/render.h"

// Trees that are wrong in themselves: what the scheduler says of them is what is explained.
namespace muster::explain {
namespace {

Yard roomy() { return Yard().rack("r1", 4, 8); }

// Every group of the tree is invalid for the reason given, and nothing else is advised.
void expect_invalid(const Result<Explanation>& told, const std::string& fault) {
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->state, State::Invalid);
  EXPECT_EQ(told->sentence, fmt::format("{} {}/{} is invalid: {}.", told->kind, told->name_space,
                                        told->name, fault));
  for (const Level& level : told->tree) {
    EXPECT_EQ(level.state, State::Invalid) << level.key.name;
    EXPECT_EQ(level.why, fault) << level.key.name;
  }
  EXPECT_FALSE(told->tried_relaxations);
  EXPECT_TRUE(told->placements.empty());
  EXPECT_TRUE(told->reasons.empty());
  EXPECT_EQ(told->proof, "");
  const std::string text = render_text(*told);
  EXPECT_EQ(text.find(fault), text.rfind(fault)) << "said more than once:\n" << text;
}

TEST(TreeFault, ACycle) {
  const Yard yard = roomy()
                        .composite({.name = "a", .minimum = 1, .parent = "b"})
                        .composite({.name = "b", .minimum = 1, .parent = "a"})
                        .gang({.name = "cube", .minimum = 1, .parent = "a"}, 1, "1");
  const std::string fault = R"(cycle detected in composite pod group hierarchy: "a" -> "b" -> "a")";
  expect_invalid(yard.ask("cube"), fault);
  expect_invalid(yard.ask_composite("b"), fault);
  EXPECT_EQ(
      yard.ask_pod("cube-0")->sentence,
      "Pod default/cube-0 waits with its group. PodGroup default/cube is invalid: " + fault + ".");
}

TEST(TreeFault, TooManyLevels) {
  Yard yard = roomy().composite({.name = "l1", .minimum = 1});
  for (int level = 2; level <= 4; ++level)
    yard.composite(
        {.name = fmt::format("l{}", level), .minimum = 1, .parent = fmt::format("l{}", level - 1)});
  yard.gang({.name = "cube", .minimum = 1, .parent = "l4"}, 1, "1");
  expect_invalid(yard.ask_composite("l1"),
                 "exceeded maximum hierarchy depth at pod group \"cube\": it is at level 5 below "
                 "\"l1\", 4 are allowed");
}

TEST(TreeFault, SeveralWorkloads) {
  const Yard yard =
      roomy()
          .composite({.name = "llm", .minimum = 1, .workload = "w", .from = "root"})
          .gang({.name = "x", .minimum = 1, .parent = "llm", .workload = "w", .from = "x"}, 1, "1")
          .gang({.name = "y", .minimum = 1, .parent = "llm", .workload = "v", .from = "y"}, 1, "1");
  const std::string fault =
      "all groups of a tree should belong to the same Workload, pod group \"y\" belongs to \"v\" "
      "and its root \"llm\" to \"w\"";
  expect_invalid(yard.ask("x"), fault);
  expect_invalid(yard.ask_composite("llm"), fault);
}

// The tree that may not be tried is in nobody's way, though it would come first.
Yard with_two_priorities() {
  return Yard()
      .rack("r1", 1, 8)
      .composite({.name = "llm", .minimum = 1, .priority = 5})
      .gang({.name = "x", .minimum = 1, .parent = "llm", .priority = 5}, 1, "8")
      .gang({.name = "y", .minimum = 1, .parent = "llm", .priority = 6}, 1, "8")
      .gang({.name = "healthy", .minimum = 1}, 1, "8");
}

TEST(TreeFault, DifferingPriorities) {
  expect_invalid(with_two_priorities().ask("x"),
                 "all groups of a tree should have the same priority, pod group \"y\" has 6 and "
                 "its root \"llm\" has 5");
}

TEST(TreeFault, IsInNobodysWay) {
  EXPECT_EQ(with_two_priorities().ask("healthy")->state, State::FitsNow);
}

TEST(TreeFault, WhatRunsStaysScheduled) {
  const Yard yard =
      roomy()
          .composite({.name = "llm", .minimum = 1, .priority = 5})
          .gang({.name = "x", .minimum = 1, .parent = "llm", .priority = 5}, 1, "1", "r1-0")
          .gang({.name = "y", .minimum = 1, .parent = "llm", .priority = 6}, 1, "1")
          .add_pod({.name = "more", .cpu = "1", .group = "x", .priority = 5});
  const std::string fault =
      "all groups of a tree should have the same priority, pod group \"y\" has 6 and its root "
      "\"llm\" has 5";
  EXPECT_EQ(yard.ask("y")->sentence, "PodGroup default/y is invalid: " + fault + ".");
  const Result<Explanation> told = yard.ask("x");
  EXPECT_EQ(told->state, State::Scheduled);
  EXPECT_EQ(
      told->sentence,
      "PodGroup default/x is scheduled: 1 of 2 pods have a node or have finished; 1 extra pod "
      "waits; nothing more of its tree is tried: " +
          fault + ".");
  const Result<Explanation> more = yard.ask_pod("more");
  EXPECT_EQ(more->state, State::Invalid);
  EXPECT_EQ(more->sentence, "Pod default/more is held back with its tree. " + told->sentence);
}

// A pod of noon, and a Workload that knows another template.
Yard mismatched() {
  Yard yard = roomy().group({.name = "train", .minimum = 1, .workload = "w", .from = "lost"});
  yard.objects.pods.push_back(scheduler::pod_of(
      R"({"metadata":{"name":"train-0","namespace":"default","uid":"u",)"
      R"("creationTimestamp":"2030-01-01T12:00:00Z"},)"
      R"("spec":{"schedulingGroup":{"podGroupName":"train"},"containers":[{"name":"c"}]}})"));
  return yard.workload("w", R"({"podGroupTemplates":[{"name":"worker"}]})");
}
constexpr std::string_view kMismatch =
    R"(PodGroup "train" names template "lost", which Workload "w" does not have)";
const Time kNoon = *parse_time("2030-01-01T12:00:00Z");
const Duration kPatience = scheduler::ModelOptions{}.compare_patience;

TEST(TreeFault, ATemplateMismatchCountsOnceTheTreeHasWaitedForLong) {
  Yard yard = mismatched();
  yard.objects.read_at = kNoon + kPatience - Duration{1};
  EXPECT_EQ(yard.ask("train")->state, State::FitsNow);
  yard.objects.read_at = kNoon + kPatience;
  expect_invalid(yard.ask("train"), std::string(kMismatch));
}

TEST(TreeFault, WorkloadsThatCouldNotBeReadAreNoted) {
  Yard yard = mismatched();
  yard.objects.read_at = kNoon + kPatience;
  yard.objects.workloads.clear();
  yard.objects.workloads_unread = "workloads is forbidden.";
  const Result<Explanation> told = yard.ask("train");
  EXPECT_EQ(told->state, State::FitsNow);
  EXPECT_EQ(told->note,
            "Workload default/w could not be read, its templates were not compared: workloads is "
            "forbidden.");
  EXPECT_NE(render_text(*told).find("\nNote: " + told->note + "\n"), std::string::npos);
  EXPECT_NE(render_json(*told).find("\"note\": \"" + told->note), std::string::npos);
  // Nothing would have been compared.
  yard.gang({.name = "alone", .minimum = 1}, 1, "1");
  EXPECT_EQ(yard.ask("alone")->note, "");
}

// What the scheduler wrote holds where nothing is seen here that is wrong.
TEST(TreeFault, TheSchedulersWordIsHeard) {
  for (const char* reason : {"Invalid", "SchedulerError"}) {
    const Result<Explanation> told =
        roomy().gang({.name = "train", .minimum = 1, .reason = reason}, 1, "1").ask("train");
    expect_invalid(told, fmt::format("the scheduler last said {}: as it is", reason));
  }
  const auto state_with = [](const char* reason, const char* cpu) {
    return roomy()
        .gang({.name = "train", .minimum = 1, .reason = reason}, 1, cpu)
        .ask("train")
        ->state;
  };
  EXPECT_EQ(state_with("Invalid", "99"), State::Invalid);
  EXPECT_EQ(state_with("SchedulerError", "99"), State::Unschedulable) << "proven here";
  EXPECT_EQ(state_with("Unschedulable", "1"), State::FitsNow) << "room was made since";
}

}  // namespace
}  // namespace muster::explain
