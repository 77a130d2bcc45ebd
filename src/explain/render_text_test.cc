// What is shown of an explanation, at a terminal and to programs.
#include <gtest/gtest.h>

#include <string>

#include "api/json.h"
#include "explain/render.h"

namespace muster::explain {
namespace {

using scheduler::GroupKind;

Level level(const std::string& name, int depth, State state, GroupKind kind = GroupKind::PodGroup) {
  Level made;
  made.key = {kind, "default", name};
  made.depth = depth;
  made.state = state;
  return made;
}

// Everything that can be said, said.
Explanation full() {
  Explanation about;
  about.kind = "CompositePodGroup";
  about.name_space = "default";
  about.name = "llm";
  about.state = State::Unschedulable;
  about.sentence = "It waits.";
  about.proof = "Proven.";
  about.evictions = "It may preempt.";
  about.note = "Unread.";
  about.no_such_label = {"no node has x", "no node has y"};
  Level root = level("llm", 0, State::Unschedulable, GroupKind::CompositePodGroup);
  root.gang = true;
  root.minimum = 2;
  root.topology_key = "topology.kubernetes.io/block";
  root.total = 2;
  root.scheduled = 1;
  root.why = "said already";
  root.is_subject = true;
  root.domains = 3;
  root.closest = {{"b1", 1, 2}, {"b2", 0, 2}};
  Level inner = level("inner", 1, State::Scheduled, GroupKind::CompositePodGroup);
  inner.total = 1;
  inner.scheduled = 1;
  Level a = level("a", 2, State::Scheduled);
  a.gang = true;
  a.minimum = 4;
  a.total = 5;
  a.scheduled = 4;
  a.topology_key = "rack";
  a.domain = "r1";
  Level b = level("b", 1, State::BelowMinimum);
  b.total = 1;
  b.why = "too few";
  b.generators = {"NodeSetPlacements"};
  b.domains = 1;
  b.closest = {{"old", 0, 1}};
  about.tree = {root, inner, a, b};
  about.reasons = {
      {"default/b-0", "cpu 4", 2, "", 5, 2, {{"Insufficient cpu", 2}, {"Too many pods", 1}}},
      {"default/c-0", "nothing", 1, "rack r1", 1, 0, {{"Insufficient cpu", 1}}},
      {"default/d-0", "nothing", 1, "", 1, 1, {}}};
  about.relaxations = {{.kind = RelaxationKind::SmallerMinimum,
                        .sentence = "lower it",
                        .command = "kubectl x",
                        .amount = 1,
                        .domain = "b1",
                        .edits = {}},
                       {.kind = RelaxationKind::NoTopology,
                        .sentence = "let it spread",
                        .command = "",
                        .amount = 0,
                        .domain = "",
                        .edits = {}}};
  about.tried_relaxations = true;
  about.steps = 7;
  return about;
}

TEST(RenderText, SaysEverythingInOrder) {
  EXPECT_EQ(render_text(full()), R"(It waits.
Proven.
It may preempt.
Note: no node has x
Note: no node has y
Note: Unread.

Tree: state, scheduled, minimum
  compositepodgroup/llm *     unschedulable  1 of 2 groups  at least 2, in one block
  ├─ compositepodgroup/inner  scheduled      1 of 1 group   basic
  │  └─ podgroup/a            scheduled      4 of 5 pods    at least 4, in one rack (r1)
  └─ podgroup/b               below minimum  0 of 1 pod     basic, in one placement
        too few

Closest
  llm: block b1 fits 1 of 2 groups
  llm: block b2 fits 0 of 2 groups
  llm: 1 more block fit no more than that
  b: none of 1 placement fits any of 1 pod

Nodes
  2 pods like default/b-0, asking for cpu 4:
    2/5 nodes have room for at least one: 2 Insufficient cpu, 1 Too many pods.
  1 pod like default/c-0, asking for nothing:
    0/1 nodes of rack r1, where it runs, are available: 1 Insufficient cpu.
  1 pod like default/d-0, asking for nothing:
    1/1 nodes have room for at least one.

What would help (each was checked by planning it)
  - lower it
      kubectl x
  - let it spread
)");
}

TEST(RenderText, ALonePodNeedsNoTree) {
  Explanation about;
  about.state = State::Unschedulable;
  about.sentence = "It waits.";
  EXPECT_EQ(render_text(about), "It waits.\n");
  about.tried_relaxations = true;
  EXPECT_EQ(render_text(about),
            "It waits.\n\nWhat would help (each was checked by planning it)\n"
            "  nothing that was tried helps: open or more nodes, others finishing\n");
  about.all_tried = false;
  about.tree = {level("a", 0, State::Unschedulable)};
  EXPECT_TRUE(render_text(about).ends_with(
      "  nothing that was tried helps: a smaller minimum of one group or of two, a wider topology, "
      "open or more nodes, others finishing\n"
      "  (the budget ended before everything was tried)\n"))
      << render_text(about);
}

TEST(RenderText, FiveAheadAreNamed) {
  Explanation about;
  about.sentence = "S.";
  for (const char* name : {"a", "b", "c", "d", "e"}) about.ahead.emplace_back(name);
  EXPECT_EQ(render_text(about), "S.\n\nFirst in the queue\n  a\n  b\n  c\n  d\n  e\n");
  about.ahead.emplace_back("f");
  EXPECT_EQ(render_text(about),
            "S.\n\nFirst in the queue\n  a\n  b\n  c\n  d\n  e\n  and 1 more\n");
}

TEST(RenderText, SixteenNodesAreShown) {
  Explanation about;
  about.sentence = "S.";
  about.state = State::Scheduled;
  about.placements = {{"a", 1}, {"long", 2}};
  EXPECT_EQ(render_text(about), "S.\n\nRuns on\n  a     1 pod\n  long  2 pods\n");
  about.state = State::FitsNow;
  EXPECT_EQ(render_text(about), "S.\n\nWould run on\n  a     1 pod\n  long  2 pods\n");
  about.placements.resize(16, {"a", 1});
  EXPECT_EQ(render_text(about).find("more nodes"), std::string::npos);
  about.placements.push_back({"a-very-long-name", 1});
  EXPECT_TRUE(render_text(about).ends_with("\n  a     1 pod\n  and 1 more nodes\n"))
      << render_text(about);
}

TEST(RenderText, AnOwnerStandsAboveItsTrees) {
  Explanation about;
  about.sentence = "S.";
  about.state = State::Gated;
  about.owner =
      OwnerLine{.kind = "JobSet", .name = "js", .groups = 3, .scheduled = 1, .left_out = 2};
  about.tree = {level("a", 0, State::Scheduled)};
  about.tree.front().total = 1;
  EXPECT_EQ(render_text(about),
            "S.\n\nTree: state, scheduled, minimum\n"
            "  jobset/js      gated      1 of 3 groups\n"
            "  └─ podgroup/a  scheduled  0 of 1 pod     basic\n"
            "  and 2 more groups\n");
  about.owner->left_out = 0;
  EXPECT_EQ(render_text(about).find("more group"), std::string::npos);
}

TEST(RenderText, AFaultOfTheTreeIsSaidOnceAndOtherReasonsBesideTheirGroups) {
  Explanation about;
  about.sentence = "S.";
  about.tree = {level("root", 0, State::Invalid, GroupKind::CompositePodGroup),
                level("a", 1, State::Invalid), level("b", 1, State::Held)};
  for (Level& one : about.tree) one.why = "fault";
  about.tree[1].is_subject = true;
  EXPECT_EQ(render_text(about),
            "S.\n\nTree: state, scheduled, minimum\n"
            "  compositepodgroup/root  invalid  0 of 0 groups  basic\n"
            "  ├─ podgroup/a *         invalid  0 of 0 pods    basic\n"
            "  └─ podgroup/b           held     0 of 0 pods    basic\n"
            "        fault\n");
  about.tree[0].why = "another";
  EXPECT_NE(render_text(about).find(
                "  compositepodgroup/root  invalid  0 of 0 groups  basic\n  │  another\n"),
            std::string::npos)
      << render_text(about);
}

TEST(RenderText, WhatFitsOneByOneMayNotFitTogether) {
  Explanation about;
  about.sentence = "S.";
  about.tree = {level("a", 0, State::Unschedulable)};
  about.tree[0].topology_key = "rack";
  about.tree[0].domains = 2;
  about.tree[0].closest = {{"r1", 3, 3}, {"r2", 2, 3}};
  EXPECT_TRUE(
      render_text(about).ends_with("\nClosest\n  a: rack r1 fits each of 3 pods alone, not all "
                                   "together\n  a: rack r2 fits 2 of 3 pods\n"))
      << render_text(about);
}

// --- for programs ---

TEST(RenderJson, HasEveryFieldUnderItsName) {
  EXPECT_EQ(
      api::to_text(api::Json(explanation_json(full()))),
      R"({"kind":"CompositePodGroup","namespace":"default","name":"llm","state":"Unschedulable","sentence":"It waits.",)"
      R"("proof":"Proven.","evictions":"It may preempt.","noSuchLabel":["no node has x","no node has y"],"note":"Unread.",)"
      R"("tree":[{"kind":"CompositePodGroup","name":"llm","depth":0,"state":"Unschedulable","policy":"gang","minimum":2,"total":2,)"
      R"("scheduled":1,"waiting":0,"gated":0,"lost":0,"topologyKey":"topology.kubernetes.io/block","why":"said already","subject":true,)"
      R"("domains":3,"closest":[{"domain":"b1","fits":1,"needed":2},{"domain":"b2","fits":0,"needed":2}]},)"
      R"({"kind":"CompositePodGroup","name":"inner","depth":1,"state":"Scheduled","policy":"basic","minimum":1,"total":1,"scheduled":1,)"
      R"("waiting":0,"gated":0,"lost":0},)"
      R"({"kind":"PodGroup","name":"a","depth":2,"state":"Scheduled","policy":"gang","minimum":4,"total":5,"scheduled":4,"waiting":0,)"
      R"("gated":0,"lost":0,"topologyKey":"rack","domain":"r1"},)"
      R"({"kind":"PodGroup","name":"b","depth":1,"state":"BelowMinimum","policy":"basic","minimum":1,"total":1,"scheduled":0,"waiting":0,)"
      R"("gated":0,"lost":0,"placementGenerators":["NodeSetPlacements"],"why":"too few","domains":1,)"
      R"("closest":[{"domain":"old","fits":0,"needed":1}]}],)"
      R"("nodes":[{"sample":"default/b-0","asksFor":"cpu 4","pods":2,"where":"","nodes":5,"accept":2,)"
      R"("refusals":[{"reason":"Insufficient cpu","nodes":2},{"reason":"Too many pods","nodes":1}]},)"
      R"({"sample":"default/c-0","asksFor":"nothing","pods":1,"where":"rack r1","nodes":1,"accept":0,)"
      R"("refusals":[{"reason":"Insufficient cpu","nodes":1}]},)"
      R"({"sample":"default/d-0","asksFor":"nothing","pods":1,"where":"","nodes":1,"accept":1,"refusals":[]}],)"
      R"("placements":[],"relaxations":[{"kind":"SmallerMinimum","sentence":"lower it","command":"kubectl x","amount":1,"domain":"b1"},)"
      R"({"kind":"NoTopology","sentence":"let it spread"}],"allRelaxationsTried":true,"steps":7})");
}

TEST(RenderJson, LeavesOutWhatIsNotSaid) {
  Explanation about;
  about.kind = "Pod";
  about.name_space = "default";
  about.name = "web";
  about.state = State::Scheduled;
  about.sentence = "S.";
  about.placements = {{"n1", 1}};
  EXPECT_EQ(
      api::to_text(api::Json(explanation_json(about))),
      R"({"kind":"Pod","namespace":"default","name":"web","state":"Scheduled","sentence":"S.","tree":[],"nodes":[],)"
      R"("placements":[{"node":"n1","pods":1}],"steps":0})");
  about.ahead = {"podgroup default/a"};
  about.owner =
      OwnerLine{.kind = "JobSet", .name = "js", .groups = 3, .scheduled = 1, .left_out = 2};
  EXPECT_EQ(
      api::to_text(api::Json(explanation_json(about))),
      R"({"kind":"Pod","namespace":"default","name":"web","state":"Scheduled","sentence":"S.","ahead":["podgroup default/a"],)"
      R"("owner":{"kind":"JobSet","name":"js","groups":3,"scheduled":1,"leftOut":2},"tree":[],"nodes":[],)"
      R"("placements":[{"node":"n1","pods":1}],"steps":0})");
}

}  // namespace
}  // namespace muster::explain
