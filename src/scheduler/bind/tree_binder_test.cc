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
  void commit(const std::string& root,
              const std::vector<std::pair<std::string, std::string>>& pods) {
    TreeBinding tree{{GroupKind::PodGroup, "ns", root}, make_group(root), {}, {}};
    for (const auto& [pod, node] : pods) tree.assignments.push_back({make_pod(pod), node});
    binder.commit(std::move(tree), now);
  }
  std::size_t in_flight() const { return api.sent.size(); }

  Time now{seconds{100}};
  FakeApi api;
  std::vector<std::string> told;
  TreeBinder binder{{.pods_in_flight_max = 4},
                    api.calls,
                    [this](const TreeBinding& tree, const std::optional<Error>& error, Time) {
                      std::string line = tree.root.name + ":";
                      for (const Assignment& pod : tree.assignments)
                        line += " " + pod.pod->meta().name + "->" + pod.node;
                      told.push_back(line + (error ? " failed: " + error->message : ""));
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
  binder.commit(std::move(tree), now);
  ASSERT_EQ(api.sent.size(), 1U);
  EXPECT_EQ(api.sent[0].request.kind, &api::kinds::group_binding());
  EXPECT_EQ(api.sent[0].request.verb, api::Verb::Create);
  EXPECT_EQ(api.sent[0].request.name_space, "ns");
  EXPECT_EQ(
      api.body(0),
      R"({"metadata":{"name":"train"},"spec":{"root":{"kind":"PodGroup","name":"train","uid":"uid-train"},)"
      R"("pods":[{"name":"a","uid":"uid-a","nodeName":"n1"},{"name":"b","uid":"uid-b","nodeName":"n2"}],)"
      R"("conditions":[{"kind":"PodGroup","name":"train","uid":"uid-train","condition":)"
      R"({"type":"PodGroupInitiallyScheduled","status":"True","reason":"Scheduled","message":""}}]}})");
  EXPECT_EQ(binder.pending(), 2U);
  api.accept(0, now);
  EXPECT_EQ(told, Lines{"train: a->n1 b->n2"});
  EXPECT_EQ(binder.pending(), 0U);
}

TEST_F(TreeBinderTest, ARefusalIsToldOnceForAll) {
  commit("train", {{"a", "n1"}, {"b", "n1"}});
  api.refuse(0, Reason::Conflict, now);
  EXPECT_EQ(told, Lines{"train: a->n1 b->n1 failed: no: Conflict"});
  EXPECT_FALSE(binder.next_deadline());
  EXPECT_EQ(binder.pending(), 0U);
}

TEST_F(TreeBinderTest, AsksABusyServerAgain) {
  commit("train", {{"a", "n1"}});
  api.refuse(0, Reason::ServiceUnavailable, now);
  EXPECT_EQ(binder.next_deadline(), now + milliseconds{10});
  now += milliseconds{10};
  binder.run(now);
  ASSERT_EQ(api.sent.size(), 2U);
  EXPECT_EQ(api.body(1), api.body(0));
  api.accept(1, now);
  EXPECT_EQ(told, Lines{"train: a->n1"});
}

TEST_F(TreeBinderTest, KeepsABoundedNumberOfPodsUnderWay) {
  commit("one", {{"a", "n1"}, {"b", "n1"}, {"c", "n1"}});
  commit("two", {{"d", "n1"}, {"e", "n1"}});
  commit("three", {{"f", "n1"}});
  EXPECT_EQ(api.sent.size(), 2U) << "the second still had room to begin";
  EXPECT_TRUE(binder.full());
  api.accept(0, now);
  EXPECT_EQ(api.sent.size(), 3U);
  EXPECT_FALSE(binder.full());
}

// The later part counts on the earlier: alone it could leave a gang below its minimum.
TEST_F(TreeBinderTest, WhatComesLaterForARootWaitsForWhatCameBefore) {
  commit("train", {{"a", "n1"}});
  commit("train", {{"b", "n1"}});
  EXPECT_EQ(api.sent.size(), 1U);
  api.accept(0, now);
  EXPECT_EQ(api.sent.size(), 2U);
  api.accept(1, now);
  EXPECT_EQ(told, (Lines{"train: a->n1", "train: b->n1"}));
}

TEST_F(TreeBinderTest, WhatComesLaterForARootFallsWithWhatCameBefore) {
  commit("train", {{"a", "n1"}});
  commit("train", {{"b", "n1"}});
  commit("other", {{"c", "n1"}});
  api.refuse(0, Reason::Conflict, now);
  EXPECT_EQ(told, Lines{"train: a->n1 b->n1 failed: no: Conflict"});
  EXPECT_EQ(api.sent.size(), 2U) << "only the other tree";
  commit("train", {{"a", "n2"}});
  EXPECT_EQ(api.sent.size(), 3U) << "nothing is left to wait for";
}

TEST_F(TreeBinderTest, APodThatGoesTakesAnUnsentTreeWithIt) {
  commit("big", {{"x", "n"}, {"y", "n"}, {"z", "n"}, {"w", "n"}});
  commit("train", {{"a", "n1"}, {"b", "n1"}});
  binder.cancel("uid-a", now);
  EXPECT_EQ(told, Lines{"train: b->n1 failed: pod a does not exist any more"});
  api.accept(0, now);
  EXPECT_EQ(api.sent.size(), 1U);
}

TEST_F(TreeBinderTest, APodThatGoesWhileTheCallIsUnderWayLeavesTheDecisionToTheServer) {
  commit("train", {{"a", "n1"}, {"b", "n1"}});
  binder.cancel("uid-a", now);
  EXPECT_TRUE(told.empty());
  api.accept(0, now);
  EXPECT_EQ(told, Lines{"train: b->n1"});

  commit("eval", {{"c", "n1"}, {"d", "n1"}});
  binder.cancel("uid-c", now);
  api.refuse(1, Reason::ServiceUnavailable, now);
  EXPECT_EQ(told.back(), "eval: d->n1 failed: no: ServiceUnavailable")
      << "no point in trying again";
}

TEST_F(TreeBinderTest, ANodeThatVanishesFailsWhatIsNotSent) {
  commit("sent", {{"x", "n"}, {"y", "n"}, {"z", "n"}, {"w", "n"}});
  commit("unsent", {{"a", "m"}, {"b", "n"}});
  commit("elsewhere", {{"c", "m"}});
  binder.node_vanished("n", now);
  EXPECT_EQ(told, Lines{"unsent: a->m b->n failed: node \"n\" does not exist any more"});
  api.accept(0, now);
  EXPECT_EQ(api.sent.size(), 2U);
  EXPECT_EQ(told.back(), "sent: x->n y->n z->n w->n");
}

// The answer was lost: the watch shows what happened, and the second try is not needed.
TEST_F(TreeBinderTest, BelievesTheWatchMoreThanTheAnswer) {
  commit("train", {{"a", "n1"}, {"b", "n1"}});
  api.refuse(0, Reason::Timeout, now);
  binder.confirm("uid-a", "n1", now);
  EXPECT_TRUE(told.empty());
  binder.confirm("uid-b", "n1", now);
  EXPECT_EQ(told, Lines{"train: a->n1 b->n1"});
  EXPECT_FALSE(binder.next_deadline());

  commit("eval", {{"c", "n1"}, {"d", "n1"}});
  binder.confirm("uid-c", "n1", now);
  binder.confirm("uid-d", "n1", now);
  api.refuse(1, Reason::Conflict, now);
  EXPECT_EQ(told.back(), "eval: c->n1 d->n1");
}

TEST_F(TreeBinderTest, APodThatSomebodyElseBoundIsNotToldAbout) {
  commit("train", {{"a", "n1"}, {"b", "n1"}});
  binder.confirm("uid-a", "elsewhere", now);
  EXPECT_TRUE(told.empty());
  api.refuse(0, Reason::Conflict, now);
  EXPECT_EQ(told, Lines{"train: b->n1 failed: no: Conflict"});
}

}  // namespace
}  // namespace muster::scheduler
