#include "explain/overview.h"

#include <gtest/gtest.h>

#include "explain/explain_testing.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::explain {
namespace {

Overview look(const Yard& yard, const OverviewOptions& options = {}) {
  return overview(yard.objects, scheduler::default_profile(), options);
}

TEST(Overview, SaysThatNothingWaits) {
  Yard yard;
  yard.rack("a", 1, 4).gang({.name = "runs", .minimum = 2}, 2, "1", "a-0");
  EXPECT_EQ(render_text(look(yard), 0), "Nothing waits.\n");
}

TEST(Overview, OneLinePerTreeInTheOrderOfTheQueue) {
  Yard yard;
  yard.rack("a", 2, 4);
  yard.gang({.name = "low", .minimum = 2}, 2, "4");
  yard.gang({.name = "high", .minimum = 2, .priority = 10}, 2, "4");
  yard.gang({.name = "huge", .minimum = 3}, 3, "4");
  const Overview out = look(yard);
  ASSERT_EQ(out.lines.size(), 3u);
  EXPECT_EQ(out.trees, 3);
  EXPECT_EQ(out.lines[0].name, "high");
  EXPECT_EQ(out.lines[0].state, State::FitsNow);
  EXPECT_EQ(out.lines[0].ahead, 0);
  EXPECT_EQ(out.lines[1].name, "huge");
  EXPECT_EQ(out.lines[1].state, State::Unschedulable);
  EXPECT_NE(out.lines[1].reason, "");
  EXPECT_EQ(out.lines[2].name, "low");
  EXPECT_EQ(out.lines[2].state, State::BehindOthers);
  EXPECT_EQ(out.lines[2].ahead, 2);
  EXPECT_EQ(out.lines[2].reason,
            "would fit, but podgroup default/high comes first and takes the room");
}

TEST(Overview, LonePodsThatAreAlikeShareALine) {
  Yard yard;
  yard.rack("a", 1, 4);
  for (const char* name : {"x", "y", "z"}) yard.add_pod({.name = name, .cpu = "2"});
  yard.add_pod({.name = "large", .cpu = "64"});
  const Overview out = look(yard);
  ASSERT_EQ(out.lines.size(), 2u);
  EXPECT_EQ(out.lone_pods, 4);
  EXPECT_EQ(out.lines[0].name, "large");
  EXPECT_EQ(out.lines[0].state, State::Unschedulable);
  EXPECT_EQ(out.lines[1].pods, 3);
  EXPECT_EQ(out.lines[1].state, State::FitsNow);
  EXPECT_EQ(out.lines[1].reason, "2 of them fit now, then the room is used up");
  EXPECT_NE(render_text(out, 0).find("3 pods like default/x"), std::string::npos);
}

TEST(Overview, WhatMayNotBeTriedComesLastWithItsReason) {
  Yard yard;
  yard.rack("a", 1, 4);
  yard.gang({.name = "short", .minimum = 3}, 2, "1");
  yard.add_pod({.name = "stray", .cpu = "1", .group = "nowhere"});
  yard.gang({.name = "fits", .minimum = 1}, 1, "1");
  yard.group({.name = "empty", .minimum = 4});
  const Overview out = look(yard);
  ASSERT_EQ(out.lines.size(), 4u);
  EXPECT_EQ(out.lines[0].name, "fits");
  EXPECT_EQ(out.lines[1].name, "empty");
  EXPECT_EQ(out.lines[1].reason, "only 0 of at least 4 pods exist");
  EXPECT_EQ(out.lines[2].name, "nowhere");
  EXPECT_FALSE(out.lines[2].in_queue);
  EXPECT_EQ(out.lines[2].reason, "pod group \"nowhere\" does not exist");
  EXPECT_EQ(out.lines[3].name, "short");
  EXPECT_EQ(out.lines[3].state, State::BelowMinimum);
  EXPECT_EQ(out.lines[3].reason, "only 2 of at least 3 pods exist");
}

TEST(Overview, ExtraPodsOfARunningGangAreCalledSo) {
  Yard yard;
  yard.rack("a", 1, 4);
  yard.gang({.name = "train", .minimum = 1}, 1, "4", "a-0");
  yard.add_pod({.name = "train-extra", .cpu = "1", .group = "train"});
  const Overview out = look(yard);
  ASSERT_EQ(out.lines.size(), 1u);
  EXPECT_EQ(out.lines[0].state, State::Scheduled);
  EXPECT_EQ(out.lines[0].placed, 1);
  EXPECT_TRUE(out.lines[0].reason.starts_with("runs; 1 extra pod waits: ")) << out.lines[0].reason;
}

TEST(Overview, SaysWhatItDidNotPlan) {
  Yard yard;
  yard.rack("a", 1, 4);
  yard.gang({.name = "one", .minimum = 1}, 1, "1").gang({.name = "two", .minimum = 1}, 1, "1");
  OverviewOptions options;
  options.attempts_max = 1;
  const Overview out = look(yard, options);
  ASSERT_EQ(out.lines.size(), 2u);
  EXPECT_FALSE(out.lines[1].was_planned);
  EXPECT_NE(render_text(out, 0).find("not planned"), std::string::npos);
}

TEST(Overview, ListsOneNamespaceAndPlansAll) {
  Yard yard;
  yard.rack("a", 1, 4);
  yard.gang({.name = "train", .minimum = 1}, 1, "4");
  OverviewOptions options;
  options.name_space = "elsewhere";
  EXPECT_TRUE(look(yard, options).lines.empty());
}

PodSample asking_for(const std::string& scheduler, const std::string& name,
                     const std::string& cpu) {
  return {.name = name, .cpu = cpu, .spec = fmt::format(R"("schedulerName":"{}")", scheduler)};
}

// On a cluster that says nothing of its schedulers they are all taken to decide like ours.
TEST(Overview, WhatAsksForAnotherSchedulerIsPlannedAfterOurs) {
  Yard yard;
  yard.rack("a", 1, 4);
  yard.add_pod(asking_for("muster", "b-large", "64"));
  yard.add_pod(asking_for("muster", "c-small", "0.5"));
  yard.add_pod(asking_for("muster", "c-small-too", "0.5"));
  yard.add_pod(asking_for("muster", "d-late", "4"));
  yard.gang({.name = "duo", .minimum = 2}, 0, "1");
  yard.add_pod(
      {.name = "duo-0", .cpu = "1", .group = "duo", .spec = R"("schedulerName":"muster")"});
  yard.add_pod(
      {.name = "duo-1", .cpu = "1", .group = "duo", .spec = R"("schedulerName":"muster")"});
  yard.add_pod({.name = "z-ours", .cpu = "1"});
  const Overview out = look(yard);
  ASSERT_EQ(out.lines.size(), 5u);
  EXPECT_EQ(out.lines[0].name, "z-ours");
  EXPECT_EQ(out.lines[0].state, State::FitsNow);
  EXPECT_EQ(out.lines[0].reason, "");
  EXPECT_EQ(out.lines[1].name, "b-large");
  EXPECT_EQ(out.lines[1].state, State::Unschedulable);
  EXPECT_TRUE(out.lines[1].reason.starts_with("0/1 nodes are available: ")) << out.lines[1].reason;
  EXPECT_EQ(out.lines[2].name, "c-small");
  EXPECT_EQ(out.lines[2].state, State::FitsNow);
  EXPECT_EQ(out.lines[2].pods, 2);
  EXPECT_EQ(out.lines[2].reason, "the scheduler muster has to place them");
  EXPECT_EQ(out.lines[3].name, "d-late");
  EXPECT_EQ(out.lines[3].state, State::BehindOthers);
  EXPECT_EQ(out.lines[4].name, "duo");
  EXPECT_EQ(out.lines[4].state, State::FitsNow);
  EXPECT_EQ(out.lines[4].reason, "the scheduler muster has to place it");
}

// As the explanation of the group has it.
TEST(Overview, InATreeThatAsksForOursAnotherSchedulersPodsDoNotCount) {
  Yard yard;
  yard.rack("a", 1, 4);
  yard.group({.name = "duo", .minimum = 2});
  yard.add_pod({.name = "duo-0", .cpu = "1", .group = "duo"});
  yard.add_pod({.name = "duo-1", .cpu = "1", .group = "duo", .spec = R"("schedulerName":"else")"});
  const Overview out = look(yard);
  ASSERT_EQ(out.lines.size(), 1u);
  EXPECT_EQ(out.lines[0].state, State::BelowMinimum);
  EXPECT_EQ(out.lines[0].reason, "only 1 of at least 2 pods exist (1 asks for another scheduler)");
}

TEST(Overview, LinesAreCutToTheTerminal) {
  Yard yard;
  yard.rack("a", 1, 4).gang({.name = "huge", .minimum = 3}, 3, "4");
  const std::string text = render_text(look(yard), 60);
  EXPECT_NE(text.find("…"), std::string::npos);
}

}  // namespace
}  // namespace muster::explain
