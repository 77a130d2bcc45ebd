#include "controllers/pod_garbage.h"

#include <fmt/format.h>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

class PodGarbageTest : public ::testing::Test {
 protected:
  void pod(Type type, std::string_view node, std::string_view phase = "Running",
           std::string_view metadata = "") {
    garbage_.apply(client::Event{.type = type,
                                 .object = object(
                                     api::kinds::pod(),
                                     fmt::format(R"({{"metadata":{{"name":"web","namespace":"ns",)"
                                                 R"("uid":"u1"{}}},"spec":{{"nodeName":"{}"}},)"
                                                 R"("status":{{"phase":"{}"}}}})",
                                                 metadata, node, phase))},
                   now_);
  }
  void node(Type type, std::string_view name, std::string_view spec = "{}",
            std::string_view ready = "True") {
    garbage_.apply(
        client::Event{.type = type,
                      .object = object(api::kinds::node(),
                                       fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{},)"
                                                   R"("status":{{"conditions":[{{"type":"Ready",)"
                                                   R"("status":"{}"}}]}}}})",
                                                   name, spec, ready))},
        now_);
  }
  // "mark REASON" and "delete GRACE" since the last look.
  Texts asked() {
    while (garbage_.run_once(now_, 100) > 0) {
    }
    Texts out;
    for (; told_ < sent_.requests.size(); ++told_) {
      const api::Request& request = sent_.requests[told_].first;
      EXPECT_EQ(request.name_space + "/" + request.name, "ns/web");
      if (request.verb == api::Verb::Delete) {
        EXPECT_EQ(request.remove.preconditions.uid, "u1");
        out.push_back(fmt::format("delete {}", request.remove.grace_period_s.value_or(-1)));
        continue;
      }
      EXPECT_EQ(request.subresource, "status");
      EXPECT_EQ(api::to_text(*api::find(request.body, "metadata")), R"({"uid":"u1"})");
      const api::Json& status = *api::find(request.body, "status");
      EXPECT_EQ(api::find_string(status, "phase"), "Failed");
      const api::JsonArray* conditions = api::find_array(status, "conditions");
      out.push_back(conditions == nullptr
                        ? "mark"
                        : fmt::format("mark {}: {}", api::find_string(conditions->at(0), "reason"),
                                      api::find_string(conditions->at(0), "message")));
    }
    return out;
  }
  void answer(client::Outcome outcome = api::Answer{}) {
    garbage_.apply(
        client::Called{.ticket = sent_.requests.back().second, .outcome = std::move(outcome)},
        now_);
  }
  void sync() { garbage_.apply(client::Synced{}, now_); }

  Time now_{};
  Sent sent_;
  std::size_t told_ = 0;
  PodGarbage garbage_{sent_.context()};
};

const Texts kMarked = {"mark DeletionByPodGC: PodGC: node no longer exists"};

TEST_F(PodGarbageTest, APodDoesNotOutliveItsNodeForLong) {
  node(Type::Added, "n1");
  pod(Type::Added, "n1");
  sync();
  EXPECT_EQ(asked(), Texts{});
  node(Type::Deleted, "n1");
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds(39);
  EXPECT_EQ(asked(), Texts{});
  ASSERT_TRUE(garbage_.next_deadline().has_value());
  EXPECT_EQ(*garbage_.next_deadline(), now_ + seconds(1));
  now_ += seconds(1);
  EXPECT_EQ(asked(), kMarked);
  pod(Type::Modified, "n1", "Failed");
  answer();
  EXPECT_EQ(asked(), Texts{"delete 0"});
  pod(Type::Deleted, "n1", "Failed");
  answer();
  now_ += seconds(60);
  EXPECT_EQ(asked(), Texts{});
  EXPECT_FALSE(garbage_.next_deadline().has_value());
}

TEST_F(PodGarbageTest, ANodeThatComesBackKeepsItsPods) {
  node(Type::Added, "n1");
  pod(Type::Added, "n1");
  sync();
  node(Type::Deleted, "n1");
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds(30);
  node(Type::Added, "n1");
  now_ += seconds(60);
  EXPECT_EQ(asked(), Texts{});
  node(Type::Deleted, "n1");
  EXPECT_EQ(asked(), Texts{}) << "the time counts from here";
  now_ += seconds(40);
  EXPECT_EQ(asked(), kMarked);
}

// Nobody is left to wait for, so the next one does not pay for the time before.
TEST_F(PodGarbageTest, AfterTheLastPodOfAMissingNodeTheTimeBeginsAgain) {
  sync();
  pod(Type::Added, "nowhere");
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds(30);
  pod(Type::Deleted, "nowhere");
  pod(Type::Added, "nowhere");
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds(39);
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds(1);
  EXPECT_EQ(asked(), kMarked);
}

TEST_F(PodGarbageTest, ANodeOutOfServiceKeepsWhatIsNotBeingDeleted) {
  constexpr std::string_view kTaint =
      R"({"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]})";
  constexpr std::string_view kEnding = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  sync();
  node(Type::Added, "n1", kTaint, "False");
  pod(Type::Added, "n1");
  now_ += seconds(100);
  EXPECT_EQ(asked(), Texts{});
  pod(Type::Modified, "n1", "Running", kEnding);
  EXPECT_EQ(asked(), Texts{"mark"}) << "also when it is the pod that changes";
}

TEST_F(PodGarbageTest, ANodeNobodyEverSawIsMissingToo) {
  pod(Type::Added, "nowhere", "Succeeded");
  sync();
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds(40);
  EXPECT_EQ(asked(), Texts{"delete 0"}) << "it has ended already";
}

TEST_F(PodGarbageTest, UnboundPodsAreNoneOfItsBusiness) {
  pod(Type::Added, "", "Pending");
  sync();
  now_ += seconds(100);
  EXPECT_EQ(asked(), Texts{});
}

TEST_F(PodGarbageTest, ANodeOutOfServiceFreesWhatShallEnd) {
  constexpr std::string_view kTaint =
      R"({"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]})";
  constexpr std::string_view kEnding =
      R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30)";
  sync();
  node(Type::Added, "n1", "{}", "False");
  pod(Type::Added, "n1", "Running", kEnding);
  EXPECT_EQ(asked(), Texts{});
  node(Type::Modified, "n1", kTaint, "True");
  EXPECT_EQ(asked(), Texts{}) << "a node that is ready does its work";
  node(Type::Modified, "n1", kTaint, "Unknown");
  EXPECT_EQ(asked(), Texts{"mark"});
  pod(Type::Modified, "n1", "Failed", kEnding);
  answer();
  EXPECT_EQ(asked(), Texts{"delete 0"});
}

TEST_F(PodGarbageTest, WhatAFinalizerHoldsIsToldOnce) {
  sync();
  pod(Type::Added, "nowhere", "Failed",
      R"(,"finalizers":["a/b"],"deletionTimestamp":"2026-01-01T00:00:00Z",)"
      R"("deletionGracePeriodSeconds":0)");
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds(50);
  EXPECT_EQ(asked(), Texts{});
}

TEST_F(PodGarbageTest, TriesAgainLater) {
  sync();
  pod(Type::Added, "nowhere");
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds(40);
  EXPECT_EQ(asked(), kMarked);
  answer(fail(Reason::TooManyRequests, "not now"));
  EXPECT_EQ(asked(), Texts{});
  now_ = *garbage_.next_deadline();
  EXPECT_EQ(asked(), kMarked);
}

client::Event finished_pod(Type type, std::string_view name, int second, std::string_view status,
                           std::string_view metadata = "") {
  return {.type = type,
          .object =
              object(api::kinds::pod(),
                     fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"{0}",)"
                                 R"("creationTimestamp":"2026-01-01T00:00:0{1}Z"{3}}},"spec":{{}},)"
                                 R"("status":{2}}})",
                                 name, second, status, metadata))};
}

// A controller that keeps two finished pods; what it deletes, in order.
TEST(FinishedPods, BeyondANumberTheOldestGo) {
  Sent sent;
  PodGarbage garbage(sent.context(), 2);
  const auto show = [&](Type type, std::string_view name, int second, std::string_view status) {
    garbage.apply(finished_pod(type, name, second, status), Time{});
  };
  const std::string_view done = R"({"phase":"Succeeded"})";
  show(Type::Added, "a", 3, done);
  show(Type::Added, "b", 2, done);
  show(Type::Added, "runs", 0, R"({"phase":"Running"})");
  garbage.apply(client::Synced{}, Time{});
  garbage.run_once(Time{}, 10);
  EXPECT_TRUE(sent.requests.empty());
  show(Type::Added, "c", 9, R"({"phase":"Failed","reason":"Evicted"})");
  garbage.run_once(Time{}, 10);
  ASSERT_EQ(sent.requests.size(), 1U);
  EXPECT_EQ(sent.requests[0].first.name, "c") << "evicted ones go first";
  show(Type::Added, "d", 4, done);
  garbage.run_once(Time{}, 10);
  ASSERT_EQ(sent.requests.size(), 2U);
  EXPECT_EQ(sent.requests[1].first.name, "b");
  show(Type::Deleted, "a", 3, done);
  show(Type::Added, "e", 5, done);
  garbage.run_once(Time{}, 10);
  EXPECT_EQ(sent.requests.size(), 2U) << "one that went made room";
}

// A label that says so makes no pod an evicted one.
TEST(FinishedPods, OnlyEvictedOnesGoBeforeTheOldest) {
  Sent sent;
  PodGarbage garbage(sent.context(), 1);
  const std::string_view done = R"({"phase":"Succeeded"})";
  garbage.apply(finished_pod(Type::Added, "new", 2, done, R"(,"labels":{"a":"Evicted"})"), Time{});
  garbage.apply(finished_pod(Type::Added, "old", 1, done), Time{});
  garbage.apply(client::Synced{}, Time{});
  garbage.run_once(Time{}, 10);
  ASSERT_EQ(sent.requests.size(), 1U);
  EXPECT_EQ(sent.requests[0].first.name, "old");
}

TEST(FinishedPods, ThoseThatGoAnywayAreNotAskedToGo) {
  Sent sent;
  PodGarbage garbage(sent.context(), 0);
  const std::string_view done = R"({"phase":"Succeeded"})";
  garbage.apply(
      finished_pod(Type::Added, "a", 1, done, R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"),
      Time{});
  garbage.apply(client::Synced{}, Time{});
  garbage.run_once(Time{}, 10);
  EXPECT_TRUE(sent.requests.empty());
}

TEST(UnboundPods, ThatAreBeingDeletedAreEnded) {
  Sent sent;
  PodGarbage garbage(sent.context());
  garbage.apply(
      client::Event{.type = Type::Added,
                    .object = object(api::kinds::pod(),
                                     R"({"metadata":{"name":"p","namespace":"ns","uid":"u",)"
                                     R"("deletionTimestamp":"2026-01-01T00:00:00Z",)"
                                     R"("deletionGracePeriodSeconds":30},"spec":{},)"
                                     R"("status":{"phase":"Pending"}})")},
      Time{});
  garbage.apply(client::Synced{}, Time{});
  garbage.run_once(Time{}, 10);
  ASSERT_EQ(sent.requests.size(), 1U);
  EXPECT_EQ(sent.requests[0].first.subresource, "status");
}

}  // namespace
}  // namespace muster::controllers
