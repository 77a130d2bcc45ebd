#include "scheduler/preemption/unit_evictions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::scheduler {
namespace {

using client::FakeApi;
using client::make_pod;
using std::chrono::seconds;

constexpr std::string_view kMarks =
    R"({"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler",
    "message":"s: preempting to accommodate a higher priority pod"}]})";

api::ObjectPtr make_group(bool is_marked) {
  const auto document = api::parse_json(
      fmt::format(R"({{"metadata":{{"name":"g","namespace":"ns","uid":"uid-g"}},"status":{}}})",
                  is_marked ? kMarks : "{}"));
  return api::Object::make(api::kinds::pod_group(), document->value);
}

class UnitEvictionsTest : public ::testing::Test {
 protected:
  void evict(std::initializer_list<const char*> pods, bool is_marked = false) {
    UnitEvictions::Unit unit{group_, make_group(is_marked), {}, "why"};
    for (const char* pod : pods) unit.pods.push_back(make_pod(pod));
    units_.evict(std::move(unit), now_);
  }
  // The calls since the last time: "mark p", "unmark p", "delete p", "read g".
  std::vector<std::string> calls() {
    std::vector<std::string> made;
    for (; shown_ < api_.sent.size(); ++shown_) {
      const api::Request& request = api_.sent[shown_].request;
      std::string_view verb = "delete";
      if (request.verb == api::Verb::Get) verb = "read";
      if (request.verb == api::Verb::Patch)
        verb = api_.body(shown_).find("$patch") == std::string::npos ? "mark" : "unmark";
      made.push_back(fmt::format("{} {}", verb, request.name));
    }
    return made;
  }
  void accept(std::size_t call) { api_.accept(call, now_); }
  void show(std::size_t call, const api::ObjectPtr& object) {
    api_.calls.complete(api_.sent.at(call).ticket, api::Answer{api::ObjectAnswer{object, {}}, {}},
                        now_);
  }
  void wait(Duration duration) {
    now_ += duration;
    writes_.run(now_);
  }

  using Names = std::vector<std::string>;
  const GroupKey group_{GroupKind::PodGroup, "ns", "g"};
  Time now_{seconds{100}};
  FakeApi api_;
  std::size_t shown_ = 0;
  Names failed_;
  Names refused_;
  Names deleted_;
  int decided_ = 0;
  int ended_ = 0;
  ObjectWrites writes_{{}, api_.calls};
  UnitEvictions units_{
      writes_,
      {.decided = [this](const GroupKey&, const std::string&, Time) { ++decided_; },
       .failed = [this](const api::ObjectPtr& pod, const Error&,
                        Time) { failed_.push_back(pod->meta().name); },
       .refused = [this](const api::ObjectPtr& pod, const Error&,
                         Time) { refused_.push_back(pod->meta().name); },
       .deleted = [this](const api::ObjectPtr& pod, Time) { deleted_.push_back(pod->meta().name); },
       .ended = [this](const GroupKey&, Time) { ++ended_; }}};
};

TEST_F(UnitEvictionsTest, NoPodIsDeletedBeforeTheGroupIsMarked) {
  evict({"a", "b"});
  EXPECT_EQ(calls(), (Names{"mark a", "mark b"}));
  accept(0);
  EXPECT_EQ(calls(), Names{});
  accept(1);
  EXPECT_EQ(calls(), Names{"mark g"});
  EXPECT_EQ(decided_, 0);
  accept(2);
  EXPECT_EQ(decided_, 1);
  EXPECT_EQ(calls(), (Names{"delete a", "delete b"}));
  EXPECT_TRUE(deleted_.empty());
  accept(3);
  accept(4);
  EXPECT_EQ(deleted_, (Names{"a", "b"}));
  EXPECT_TRUE(units_.is_evicted(group_));
  units_.pod_leaves("uid-a", now_);
  EXPECT_EQ(ended_, 0);
  units_.pod_leaves("uid-b", now_);
  EXPECT_FALSE(units_.is_evicted(group_));
  EXPECT_EQ(ended_, 1);
  EXPECT_TRUE(units_.empty());
  EXPECT_TRUE(failed_.empty());
}

TEST_F(UnitEvictionsTest, DeletionsAreAskedForUntilTheyAreDone) {
  evict({"a"});
  accept(0);
  accept(1);
  calls();
  for (std::size_t call = 2; call < 40; ++call) {
    api_.refuse(call, Reason::Forbidden, now_);
    wait(seconds{10});
    ASSERT_EQ(calls(), Names{"delete a"});
  }
  EXPECT_TRUE(failed_.empty());
  EXPECT_EQ(refused_, Names(38, "a"));
}

TEST_F(UnitEvictionsTest, WhatCannotBeMarkedIsLeftAsItWas) {
  evict({"a", "b"});
  accept(0);
  api_.refuse(1, Reason::Forbidden, now_);
  EXPECT_EQ(failed_, (Names{"a", "b"}));
  EXPECT_EQ(ended_, 1);
  EXPECT_EQ(calls(), (Names{"mark a", "mark b", "unmark g"}));
  accept(2);
  EXPECT_EQ(calls(), (Names{"unmark a", "unmark b"}));
  accept(3);
  accept(4);
  EXPECT_TRUE(units_.empty());
  EXPECT_EQ(decided_, 0);
}

TEST_F(UnitEvictionsTest, APodThatIsGoneBeforeItIsMarkedDoesNotStopTheOthers) {
  evict({"a", "b"});
  accept(0);
  api_.refuse(1, Reason::NotFound, now_);
  EXPECT_EQ(calls(), (Names{"mark a", "mark b", "mark g"}));
  EXPECT_TRUE(failed_.empty());
}

// A time-out may mean that it was written: the group is unmarked before its pods are.
TEST_F(UnitEvictionsTest, AGroupThatMayBeMarkedIsUnmarkedFirst) {
  evict({"a"});
  accept(0);
  for (std::size_t call = 1; failed_.empty(); ++call) {
    ASSERT_LT(call, 20U);
    api_.refuse(call, Reason::Timeout, now_);
    wait(seconds{10});
  }
  EXPECT_EQ(calls().back(), "unmark g");
  const std::size_t unmarks = api_.sent.size() - 1;
  api_.refuse(unmarks, Reason::Forbidden, now_);
  wait(seconds{10});
  EXPECT_EQ(calls(), Names{"unmark g"});
  accept(unmarks + 1);
  EXPECT_EQ(calls(), Names{"unmark a"});
}

TEST_F(UnitEvictionsTest, AMarkFromAnEarlierEvictionIsRemovedFirst) {
  evict({"a"}, true);
  EXPECT_EQ(calls(), Names{"unmark g"});
  accept(0);
  EXPECT_EQ(calls(), Names{"mark a"});
}

TEST_F(UnitEvictionsTest, AMarkThatTheWatchHasNotShownIsRemovedFirst) {
  evict({"a"});
  for (std::size_t call = 0; call < 3; ++call) accept(call);
  units_.pod_leaves("uid-a", now_);
  calls();
  evict({"b"});
  EXPECT_EQ(calls(), Names{"unmark g"});
}

TEST_F(UnitEvictionsTest, FinishesWhatSomebodyElseDecided) {
  units_.found(group_, make_group(false), make_pod("b", std::string(kMarks)), now_);
  units_.found(group_, make_group(false), make_pod("c", std::string(kMarks)), now_);
  EXPECT_EQ(calls(), Names{"read g"});
  EXPECT_TRUE(units_.is_evicted(group_));
  show(0, make_group(true));
  EXPECT_EQ(calls(), (Names{"delete b", "delete c"}));
}

TEST_F(UnitEvictionsTest, TakesBackMarksThatNobodyFollowedUp) {
  units_.found(group_, make_group(true), make_pod("b", std::string(kMarks)), now_);
  show(0, make_group(false));
  EXPECT_EQ(calls(), (Names{"read g", "unmark b"}));
  EXPECT_FALSE(units_.is_evicted(group_));
  EXPECT_EQ(ended_, 1);
  accept(1);
  EXPECT_TRUE(units_.empty());
}

// Its pods are those of a new group of the name, or nobody's.
TEST_F(UnitEvictionsTest, AGroupThatIsGoneHasDecidedNothing) {
  units_.found(group_, make_group(true), make_pod("b", std::string(kMarks)), now_);
  api_.refuse(0, Reason::NotFound, now_);
  EXPECT_EQ(calls(), (Names{"read g", "unmark b"}));
}

TEST_F(UnitEvictionsTest, OldMarksAreFollowedUpBeforeTheNextEviction) {
  UnitEvictions::Unit unit{group_, make_group(false), {}, "why"};
  unit.pods = {make_pod("a"), make_pod("b", std::string(kMarks))};
  units_.evict(std::move(unit), now_);
  EXPECT_EQ(calls(), Names{"read g"});
  show(0, make_group(true));
  EXPECT_EQ(calls(), Names{"delete b"});
  accept(1);
  units_.pod_leaves("uid-b", now_);
  EXPECT_EQ(calls(), Names{"unmark g"});
  accept(2);
  EXPECT_EQ(calls(), Names{"mark a"});
}

TEST_F(UnitEvictionsTest, PodsThatJoinLaterGoAfterTheOthers) {
  evict({"a"});
  evict({"a", "b"});
  accept(0);
  accept(1);
  accept(2);
  EXPECT_EQ(calls(), (Names{"mark a", "mark g", "delete a"}));
  units_.pod_leaves("uid-a", now_);
  EXPECT_EQ(calls(), Names{"unmark g"});
  accept(3);
  EXPECT_EQ(calls(), Names{"mark b"});
  units_.pod_leaves("uid-b", now_);
  accept(4);
  EXPECT_TRUE(units_.empty());
}

TEST_F(UnitEvictionsTest, ANewPlaceTakesTheMarkAway) {
  units_.unmark(group_, make_group(true), now_);
  EXPECT_EQ(calls(), Names{"unmark g"});
  evict({"a"});
  EXPECT_EQ(calls(), Names{});
  accept(0);
  EXPECT_EQ(calls(), Names{"mark a"});
}

}  // namespace
}  // namespace muster::scheduler
