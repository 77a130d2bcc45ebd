#include "scheduler/bind/tree_binder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::scheduler {
namespace {

using client::FakeApi;
using client::make_pod;
using std::chrono::milliseconds;
using std::chrono::seconds;

api::ObjectPtr make_group(const std::string& name) {
  const auto document = api::parse_json(R"({"metadata":{"name":")" + name +
                                        R"(","namespace":"ns","uid":"uid-)" + name + R"("}})");
  return api::Object::make(api::kinds::pod_group(), document->value);
}

class TreeBinderTest : public ::testing::Test {
 protected:
  // "a on n1" for each pod.
  void submit(const std::string& root,
              const std::vector<std::pair<std::string, std::string>>& pods) {
    TreeBinding tree{{GroupKind::PodGroup, "ns", root}, make_group(root), {}, {}};
    for (const auto& [pod, node] : pods) tree.assignments.push_back({make_pod(pod), node});
    binder_.submit(std::move(tree), now_);
  }
  std::size_t in_flight() const { return api_.sent.size(); }

  Time now_{seconds{100}};
  FakeApi api_;
  std::vector<std::string> told_;
  TreeBinder binder_{{.pods_in_flight_max = 4},
                     api_.calls,
                     [this](const TreeBinding& tree, const std::optional<Error>& error, Time) {
                       std::string line = tree.root.name + ":";
                       for (const Assignment& pod : tree.assignments)
                         line += " " + pod.pod->meta().name + "->" + pod.node;
                       told_.push_back(line + (error ? " failed: " + error->message : ""));
                     }};
};

using Lines = std::vector<std::string>;

TEST_F(TreeBinderTest, PostsOneGroupBindingForTheWholeTree) {
  TreeBinding tree{{GroupKind::PodGroup, "ns", "train"}, make_group("train"), {}, {}};
  tree.assignments = {{make_pod("a"), "n1"}, {make_pod("b"), "n2"}};
  tree.statements.push_back({tree.root,
                             make_group("train"),
                             {.type = "PodGroupInitiallyScheduled",
                              .status = "True",
                              .reason = "Scheduled",
                              .message = ""}});
  binder_.submit(std::move(tree), now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.sent[0].request.kind, &api::kinds::group_binding());
  EXPECT_EQ(api_.sent[0].request.verb, api::Verb::Create);
  EXPECT_EQ(api_.sent[0].request.name_space, "ns");
  EXPECT_EQ(
      api_.body(0),
      R"({"metadata":{"name":"train"},"spec":{"root":{"kind":"PodGroup","name":"train","uid":"uid-train"},)"
      R"("pods":[{"name":"a","uid":"uid-a","nodeName":"n1"},{"name":"b","uid":"uid-b","nodeName":"n2"}],)"
      R"("conditions":[{"kind":"PodGroup","name":"train","uid":"uid-train","condition":)"
      R"({"type":"PodGroupInitiallyScheduled","status":"True","reason":"Scheduled","message":""}}]}})");
  EXPECT_EQ(binder_.pending(), 2U);
  api_.accept(0, now_);
  EXPECT_EQ(told_, Lines{"train: a->n1 b->n2"});
  EXPECT_EQ(binder_.pending(), 0U);
  binder_.node_vanished("n1", now_);
  EXPECT_EQ(told_.size(), 1U) << "it is bound";
}

TEST_F(TreeBinderTest, ARefusalIsToldOnceForAll) {
  submit("train", {{"a", "n1"}, {"b", "n1"}});
  api_.refuse(0, Reason::Conflict, now_);
  EXPECT_EQ(told_, Lines{"train: a->n1 b->n1 failed: no: Conflict"});
  EXPECT_FALSE(binder_.next_deadline());
  EXPECT_EQ(binder_.pending(), 0U);
}

TEST_F(TreeBinderTest, AsksABusyServerAgain) {
  submit("train", {{"a", "n1"}});
  api_.refuse(0, Reason::ServiceUnavailable, now_);
  EXPECT_EQ(binder_.next_deadline(), now_ + milliseconds{10});
  now_ += milliseconds{10};
  binder_.run(now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(api_.body(1), api_.body(0));
  api_.accept(1, now_);
  EXPECT_EQ(told_, Lines{"train: a->n1"});
}

TEST_F(TreeBinderTest, KeepsABoundedNumberOfPodsUnderWay) {
  submit("one", {{"a", "n1"}, {"b", "n1"}, {"c", "n1"}});
  submit("two", {{"d", "n1"}, {"e", "n1"}});
  submit("three", {{"f", "n1"}});
  EXPECT_EQ(api_.sent.size(), 2U) << "the second still had room to begin";
  EXPECT_TRUE(binder_.full());
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 3U);
  EXPECT_FALSE(binder_.full());
}

// The later part counts on the earlier: alone it could leave a gang below its minimum.
TEST_F(TreeBinderTest, WhatComesLaterForARootWaitsForWhatCameBefore) {
  submit("train", {{"a", "n1"}});
  submit("train", {{"b", "n1"}});
  EXPECT_EQ(api_.sent.size(), 1U);
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 2U);
  api_.accept(1, now_);
  EXPECT_EQ(told_, (Lines{"train: a->n1", "train: b->n1"}));
}

TEST_F(TreeBinderTest, WhatComesLaterForARootFallsWithWhatCameBefore) {
  submit("train", {{"a", "n1"}});
  submit("train", {{"b", "n1"}});
  submit("other", {{"c", "n1"}});
  api_.refuse(0, Reason::Conflict, now_);
  EXPECT_EQ(told_, Lines{"train: a->n1 b->n1 failed: no: Conflict"});
  EXPECT_EQ(api_.sent.size(), 2U) << "only the other tree";
  submit("train", {{"a", "n2"}});
  EXPECT_EQ(api_.sent.size(), 3U) << "nothing is left to wait for";
}

TEST_F(TreeBinderTest, APodThatGoesTakesAnUnsentTreeWithIt) {
  submit("big", {{"x", "n"}, {"y", "n"}, {"z", "n"}, {"w", "n"}});
  submit("train", {{"a", "n1"}, {"b", "n1"}});
  binder_.cancel("uid-a", now_);
  EXPECT_EQ(told_, Lines{"train: b->n1 failed: pod a does not exist any more"});
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 1U);
}

TEST_F(TreeBinderTest, APodThatGoesWhileTheCallIsUnderWayLeavesTheDecisionToTheServer) {
  submit("train", {{"a", "n1"}, {"b", "n1"}});
  binder_.cancel("uid-a", now_);
  EXPECT_TRUE(told_.empty());
  api_.accept(0, now_);
  EXPECT_EQ(told_, Lines{"train: b->n1"});

  submit("eval", {{"c", "n1"}, {"d", "n1"}});
  binder_.cancel("uid-c", now_);
  api_.refuse(1, Reason::ServiceUnavailable, now_);
  EXPECT_EQ(told_.back(), "eval: d->n1 failed: no: ServiceUnavailable")
      << "no point in trying again";
}

TEST_F(TreeBinderTest, ANodeThatVanishesFailsWhatIsNotSent) {
  submit("sent", {{"x", "n"}, {"y", "n"}, {"z", "n"}, {"w", "n"}});
  submit("unsent", {{"a", "m"}, {"b", "n"}});
  submit("elsewhere", {{"c", "m"}});
  binder_.node_vanished("n", now_);
  EXPECT_EQ(told_, Lines{"unsent: a->m b->n failed: node \"n\" does not exist any more"});
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(told_.back(), "sent: x->n y->n z->n w->n");
}

// The answer was lost: the watch shows what happened, and the second try is not needed.
TEST_F(TreeBinderTest, BelievesTheWatchMoreThanTheAnswer) {
  submit("train", {{"a", "n1"}, {"b", "n1"}});
  api_.refuse(0, Reason::Timeout, now_);
  binder_.confirm("uid-a", "n1", now_);
  EXPECT_TRUE(told_.empty());
  binder_.confirm("uid-b", "n1", now_);
  EXPECT_EQ(told_, Lines{"train: a->n1 b->n1"});
  EXPECT_FALSE(binder_.next_deadline());

  submit("eval", {{"c", "n1"}, {"d", "n1"}});
  binder_.confirm("uid-c", "n1", now_);
  binder_.confirm("uid-d", "n1", now_);
  api_.refuse(1, Reason::Conflict, now_);
  EXPECT_EQ(told_.back(), "eval: c->n1 d->n1");
}

TEST_F(TreeBinderTest, APodThatSomebodyElseBoundIsNotToldAbout) {
  submit("train", {{"a", "n1"}, {"b", "n1"}});
  binder_.confirm("uid-a", "elsewhere", now_);
  EXPECT_TRUE(told_.empty());
  api_.refuse(0, Reason::Conflict, now_);
  EXPECT_EQ(told_, Lines{"train: b->n1 failed: no: Conflict"});
}

TEST_F(TreeBinderTest, ATreeWithoutStatementsSendsNoConditions) {
  submit("train", {{"a", "n1"}});
  EXPECT_EQ(api_.body(0),
            R"({"metadata":{"name":"train"},"spec":{"root":{"kind":"PodGroup","name":"train",)"
            R"("uid":"uid-train"},"pods":[{"name":"a","uid":"uid-a","nodeName":"n1"}]}})");
}

TEST_F(TreeBinderTest, AConditionSaysWhichGenerationItIsAbout) {
  const auto document = api::parse_json(
      R"({"metadata":{"name":"train","namespace":"ns","uid":"uid-train","generation":1}})");
  TreeBinding tree{{GroupKind::PodGroup, "ns", "train"}, make_group("train"), {}, {}};
  tree.assignments = {{make_pod("a"), "n1"}};
  tree.statements.push_back({tree.root,
                             api::Object::make(api::kinds::pod_group(), document->value),
                             {.type = "T", .status = "True", .reason = "R", .message = "m"}});
  const std::string body = api::to_text(tree_binding_request(tree).body);
  EXPECT_NE(body.find(R"("condition":{"type":"T","status":"True","reason":"R","message":"m",)"
                      R"("observedGeneration":1})"),
            std::string::npos)
      << body;
}

TEST_F(TreeBinderTest, IsFullAtItsBound) {
  submit("one", {{"a", "n1"}, {"b", "n1"}, {"c", "n1"}});
  EXPECT_FALSE(binder_.full());
  submit("two", {{"d", "n1"}});
  EXPECT_TRUE(binder_.full());
  submit("three", {{"e", "n1"}});
  EXPECT_EQ(api_.sent.size(), 2U);
}

TEST_F(TreeBinderTest, ContainsWhatTheServerHasNotAccepted) {
  const GroupKey train{GroupKind::PodGroup, "ns", "train"};
  EXPECT_FALSE(binder_.contains(train));
  submit("train", {{"a", "n1"}});
  submit("train", {{"b", "n1"}});
  api_.accept(0, now_);
  EXPECT_TRUE(binder_.contains(train));
  api_.refuse(1, Reason::Conflict, now_);
  EXPECT_FALSE(binder_.contains(train));
}

TEST_F(TreeBinderTest, APodThatGoesBeforeTheNextTryEndsTheTree) {
  submit("train", {{"a", "n1"}, {"b", "n1"}});
  api_.refuse(0, Reason::TooManyRequests, now_);
  binder_.cancel("uid-a", now_);
  EXPECT_EQ(told_, Lines{"train: b->n1 failed: pod a does not exist any more"});
  EXPECT_FALSE(binder_.next_deadline());
  binder_.cancel("uid-b", now_);
  EXPECT_EQ(told_.size(), 1U);
}

TEST_F(TreeBinderTest, APodThatSomebodyElseBoundBeforeTheNextTryEndsTheTree) {
  submit("train", {{"a", "n1"}, {"b", "n1"}});
  api_.refuse(0, Reason::TooManyRequests, now_);
  binder_.confirm("uid-a", "elsewhere", now_);
  EXPECT_EQ(told_, Lines{"train: b->n1 failed: pod a is already assigned to node \"elsewhere\""});
}

TEST_F(TreeBinderTest, ATreeOfWhichAllPodsAreGoneIsNotBound) {
  submit("train", {{"a", "n1"}, {"b", "n1"}});
  binder_.cancel("uid-a", now_);
  binder_.cancel("uid-b", now_);
  EXPECT_EQ(binder_.pending(), 0U);
  api_.refuse(0, Reason::Conflict, now_);
  EXPECT_EQ(told_, Lines{"train: failed: no: Conflict"});
}

// Some of them have a node, whatever the server says of the others.
TEST_F(TreeBinderTest, PodsThatTheWatchHasShownAreKeptWhenTheRestFails) {
  submit("train", {{"a", "n1"}, {"b", "n1"}, {"c", "n1"}});
  submit("train", {{"d", "n1"}});
  binder_.confirm("uid-a", "n1", now_);
  binder_.confirm("uid-a", "n1", now_);  // once more: as after another change of the pod
  binder_.cancel("uid-b", now_);
  EXPECT_EQ(binder_.pending(), 3U);
  api_.refuse(0, Reason::Conflict, now_);
  EXPECT_EQ(told_, (Lines{"train: a->n1", "train: c->n1 d->n1 failed: no: Conflict"}));
}

TEST_F(TreeBinderTest, DropsWhatWaitsAndWhatWaitsBehindIt) {
  submit("train", {{"a", "n1"}});
  submit("train", {{"b", "n2"}});
  submit("train", {{"c", "n3"}});
  binder_.drop_unsent("n1", make_error(Reason::Conflict, "crowded"), now_);
  EXPECT_TRUE(told_.empty()) << "under way";
  binder_.drop_unsent("n2", make_error(Reason::Conflict, "crowded"), now_);
  EXPECT_EQ(told_, Lines{"train: b->n2 c->n3 failed: crowded"});
  api_.accept(0, now_);
  EXPECT_EQ(told_.back(), "train: a->n1");
  EXPECT_EQ(api_.sent.size(), 1U);
}

TEST(TreeBinderStatements, AreHandedBackWithAllThatFalls) {
  FakeApi api;
  std::vector<std::size_t> statements;
  TreeBinder binder({}, api.calls, [&](const TreeBinding& tree, const std::optional<Error>&, Time) {
    statements.push_back(tree.statements.size());
  });
  for (const char* pod : {"a", "b", "c"}) {
    TreeBinding tree{
        {GroupKind::PodGroup, "ns", "g"}, make_group("g"), {{make_pod(pod), "n1"}}, {}};
    tree.statements.push_back({tree.root, make_group("g"), {}});
    binder.submit(std::move(tree), Time{});
  }
  api.accept(0, Time{});
  api.refuse(1, Reason::Conflict, Time{});
  EXPECT_EQ(statements, (std::vector<std::size_t>{1, 2}));
}

}  // namespace
}  // namespace muster::scheduler
