#include "scheduler/bind/binder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::scheduler {
namespace {

using client::FakeApi;
using client::make_pod;
using std::chrono::milliseconds;
using std::chrono::seconds;

class BinderTest : public ::testing::Test {
 protected:
  void submit(const std::string& pod, const std::string& node) {
    const Assignment assignment{make_pod(pod), node};
    binder_.submit({&assignment, 1}, now_);
  }

  static api::ObjectPtr pod_bound_to(const std::string& node) {
    api::Json document = make_pod("p")->document();
    document.at("spec").as_object()["nodeName"] = node;
    return api::Object::make(api::kinds::pod(), document);
  }

  Time now_{seconds{100}};
  FakeApi api_;
  std::vector<std::string> told_;
  Binder binder_{{.in_flight_max = 2},
                 api_.calls,
                 [this](const Assignment& assignment, const std::optional<Error>& error, Time) {
                   told_.push_back(assignment.pod->meta().name + "->" + assignment.node +
                                   (error ? ": " + error->message : ""));
                 }};
};

TEST_F(BinderTest, PostsABindingWithTheUid) {
  submit("p", "n1");
  ASSERT_EQ(api_.sent.size(), 1U);
  const api::Request& request = api_.sent[0].request;
  EXPECT_EQ(request.verb, api::Verb::Create);
  EXPECT_EQ(request.subresource, "binding");
  EXPECT_EQ(request.name_space, "ns");
  EXPECT_EQ(request.name, "p");
  EXPECT_EQ(api::find_string(*api::find(request.body, "metadata"), "uid"), "uid-p");
  EXPECT_EQ(api::find_string(*api::find(request.body, "target"), "name"), "n1");
  api_.accept(0, now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1"});
  EXPECT_EQ(binder_.pending(), 0U);
}

TEST_F(BinderTest, KeepsABoundedNumberUnderWay) {
  submit("a", "n");
  EXPECT_FALSE(binder_.full());
  submit("b", "n");
  EXPECT_TRUE(binder_.full());
  submit("c", "n");
  EXPECT_EQ(api_.sent.size(), 2U);
  EXPECT_TRUE(binder_.full());
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 3U);
}

TEST_F(BinderTest, ReportsAConflictAtOnce) {
  submit("p", "n1");
  api_.refuse(0, Reason::Conflict, now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1: no: Conflict"});
  EXPECT_FALSE(binder_.next_deadline());
}

TEST_F(BinderTest, AsksABusyServerAgain) {
  submit("p", "n1");
  api_.refuse(0, Reason::ServiceUnavailable, now_);
  EXPECT_EQ(binder_.next_deadline(), now_ + milliseconds{10});
  binder_.run(now_);
  EXPECT_EQ(api_.sent.size(), 1U);
  now_ += milliseconds{10};
  binder_.run(now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  api_.refuse(1, Reason::TooManyRequests, now_, 7);
  EXPECT_EQ(binder_.next_deadline(), now_ + seconds{7}) << "Retry-After";
  now_ += seconds{7};
  binder_.run(now_);
  api_.accept(2, now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1"});
}

TEST_F(BinderTest, GivesUpOnAServerThatKeepsFailing) {
  submit("p", "n1");
  for (std::size_t call = 0; call < 4; ++call) {
    api_.refuse(call, Reason::InternalError, now_);
    now_ += seconds{10};
    binder_.run(now_);
  }
  ASSERT_EQ(api_.sent.size(), 5U);
  EXPECT_EQ(api_.sent[4].request.verb, api::Verb::Get) << "one of the four may have done it";
  api_.show(4, make_pod("p"), now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1: no: InternalError"});
}

// A server that bound the pod and was gone before it said so refuses the second try.
TEST_F(BinderTest, AConflictAfterALostAnswerIsNoneIfThePodIsOnItsNode) {
  struct Case {
    std::string on;
    std::string want;
  };
  for (const Case& test :
       {Case{"n1", "p->n1"}, Case{"n2", "p->n1: no: Conflict"}, Case{"", "p->n1: no: Conflict"}}) {
    SCOPED_TRACE(test.on);
    const std::size_t first = api_.sent.size();
    told_.clear();
    submit("p", "n1");
    api_.refuse(first, Reason::ServiceUnavailable, now_);
    now_ += milliseconds{10};
    binder_.run(now_);
    api_.refuse(first + 1, Reason::Conflict, now_);
    EXPECT_TRUE(told_.empty()) << "the room is not free yet";
    binder_.run(now_);
    ASSERT_EQ(api_.sent.size(), first + 3);
    EXPECT_EQ(api_.sent.back().request.verb, api::Verb::Get);
    EXPECT_EQ(api_.sent.back().request.name, "p");
    api_.show(first + 2, pod_bound_to(test.on), now_);
    EXPECT_EQ(told_, std::vector<std::string>{test.want});
    EXPECT_EQ(binder_.pending(), 0U);
  }
}

// Its name is not enough: the pod may have been made again, and somebody bound the new one there.
TEST_F(BinderTest, ANamesakeOnTheNodeIsNotThePodThatWasToBeBound) {
  submit("p", "n1");
  api_.refuse(0, Reason::ServiceUnavailable, now_);
  now_ += milliseconds{10};
  binder_.run(now_);
  api_.refuse(1, Reason::Conflict, now_);
  binder_.run(now_);
  ASSERT_EQ(api_.sent.size(), 3U);
  api::Json namesake = pod_bound_to("n1")->document();
  namesake.at("metadata").as_object()["uid"] = "uid-of-another";
  api_.show(2, api::Object::make(api::kinds::pod(), namesake), now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1: no: Conflict"});
}

TEST_F(BinderTest, APodThatMayBeBoundKeepsItsRoomHoweverLongTheServerIsAway) {
  submit("p", "n1");
  std::size_t call = 0;
  const auto fail_for = [&](Duration time) {
    for (const Time end = now_ + time; now_ < end; now_ += seconds{1}) {
      for (; call < api_.sent.size(); ++call) api_.refuse(call, Reason::ServiceUnavailable, now_);
      binder_.run(now_);
    }
  };
  fail_for(std::chrono::minutes{10});
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(binder_.pending(), 1U);
  EXPECT_LT(api_.sent.size(), 100U) << "asked every ten seconds at most";
  binder_.drop_unsent("n1", make_error(Reason::Conflict, "crowded"), now_);
  EXPECT_TRUE(told_.empty());
  now_ += seconds{10};
  binder_.run(now_);
  ASSERT_LT(call, api_.sent.size());
  api_.show(call, pod_bound_to("n1"), now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1"});
}

TEST_F(BinderTest, IsSilentAboutCancelledPods) {
  submit("sent", "n");
  submit("retried", "n");
  submit("unsent", "n");
  api_.refuse(1, Reason::ServiceUnavailable, now_);
  for (const char* uid : {"uid-sent", "uid-retried", "uid-unsent"}) binder_.cancel(uid);
  api_.accept(0, now_);
  now_ += seconds{1};
  binder_.run(now_);
  EXPECT_TRUE(told_.empty());
  EXPECT_FALSE(binder_.next_deadline());
  EXPECT_FALSE(binder_.full());
}

TEST_F(BinderTest, FailsWhatWasNotSentWhenTheNodeVanishes) {
  submit("sent", "n");
  submit("other", "m");
  submit("unsent", "n");
  binder_.node_vanished("n", now_);
  EXPECT_EQ(told_, std::vector<std::string>{
                       "unsent->n: node \"n\" was deleted before the pod was bound to it"});
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(told_.back(), "sent->n");
}

// A binding whose answer was lost: the watch shows it, and the second try conflicts.
TEST_F(BinderTest, BelievesTheWatchMoreThanTheAnswer) {
  submit("p", "n1");
  binder_.confirm("uid-p", "n1", now_);
  EXPECT_TRUE(told_.empty());
  api_.refuse(0, Reason::Conflict, now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1"});

  submit("q", "n1");
  api_.refuse(1, Reason::Timeout, now_);
  binder_.confirm("uid-q", "n1", now_);
  EXPECT_EQ(told_.back(), "q->n1");
  EXPECT_FALSE(binder_.next_deadline());

  submit("r", "n1");
  binder_.confirm("uid-r", "elsewhere", now_);
  api_.refuse(2, Reason::Conflict, now_);
  EXPECT_EQ(told_.size(), 2U) << "somebody else bound it; there is nothing to tell";
}

TEST_F(BinderTest, SendsInTheOrderOfDecisions) {
  for (const char* pod : {"a", "b", "c", "d"}) submit(pod, "n");
  for (std::size_t call = 0; call < 4; ++call) {
    ASSERT_LT(call, api_.sent.size());
    api_.accept(call, now_);
  }
  EXPECT_EQ(told_, (std::vector<std::string>{"a->n", "b->n", "c->n", "d->n"}));
  binder_.node_vanished("n", now_);
  EXPECT_EQ(told_.size(), 4U) << "they are nothing to it any more";
}

// The server has only said that it is busy, so nothing can have happened.
TEST_F(BinderTest, APodThatWasNeverBoundIsNotReadBeforeItsFailureIsTold) {
  submit("p", "n1");
  std::size_t call = 0;
  for (; call < 10; ++call) {
    ASSERT_EQ(api_.sent.size(), call + 1);
    api_.refuse(call, Reason::TooManyRequests, now_);
    now_ += seconds{10};
    binder_.run(now_);
  }
  EXPECT_EQ(api_.sent.size(), call);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1: no: TooManyRequests"});
}

TEST_F(BinderTest, APodThatIsGoneNeedsNoReading) {
  submit("p", "n1");
  api_.refuse(0, Reason::Timeout, now_);
  now_ += milliseconds{10};
  binder_.run(now_);
  api_.refuse(1, Reason::NotFound, now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1: no: NotFound"});
}

TEST_F(BinderTest, EachAnswerThatMayBeLostIsFollowedByReading) {
  for (const Reason lost : {Reason::ServiceUnavailable, Reason::Timeout, Reason::InternalError}) {
    SCOPED_TRACE(reason_name(lost));
    const std::size_t first = api_.sent.size();
    told_.clear();
    submit("p", "n1");
    api_.refuse(first, lost, now_);
    now_ += milliseconds{10};
    binder_.run(now_);
    api_.refuse(first + 1, Reason::Conflict, now_);
    binder_.run(now_);
    ASSERT_EQ(api_.sent.size(), first + 3);
    EXPECT_EQ(api_.sent.back().request.verb, api::Verb::Get);
    api_.show(first + 2, pod_bound_to("n1"), now_);
    EXPECT_EQ(told_, std::vector<std::string>{"p->n1"});
  }
}

TEST_F(BinderTest, WhatCannotBeReadHasFailed) {
  for (const Reason why : {Reason::NotFound, Reason::Forbidden}) {
    SCOPED_TRACE(reason_name(why));
    const std::size_t first = api_.sent.size();
    told_.clear();
    submit("p", "n1");
    api_.refuse(first, Reason::Timeout, now_);
    now_ += milliseconds{10};
    binder_.run(now_);
    api_.refuse(first + 1, Reason::Conflict, now_);
    binder_.run(now_);
    api_.refuse(first + 2, why, now_);
    EXPECT_EQ(told_, std::vector<std::string>{"p->n1: no: Conflict"});
  }
}

TEST_F(BinderTest, ReadsMoreRarelyTheLongerTheServerIsAway) {
  submit("p", "n1");
  api_.refuse(0, Reason::Timeout, now_);
  now_ += milliseconds{10};
  binder_.run(now_);
  api_.refuse(1, Reason::Conflict, now_);
  binder_.run(now_);
  for (int look = 1; look <= 12; ++look) {
    ASSERT_EQ(api_.sent.size(), 2U + static_cast<std::size_t>(look));
    api_.refuse(api_.sent.size() - 1, Reason::Timeout, now_);
    EXPECT_EQ(binder_.next_deadline(), now_ + seconds{std::min(look, 10)});
    now_ = *binder_.next_deadline();
    binder_.run(now_);
  }
  EXPECT_TRUE(told_.empty());
  binder_.confirm("uid-p", "n1", now_);
  api_.refuse(api_.sent.size() - 1, Reason::NotFound, now_);
  EXPECT_EQ(told_, std::vector<std::string>{"p->n1"}) << "the watch has said so";
}

TEST_F(BinderTest, DropsWhatWaitsForItsNextTryOrItsFirst) {
  submit("sent", "n");
  submit("busy", "n");
  submit("unsent", "n");
  submit("other", "m");
  api_.refuse(1, Reason::TooManyRequests, now_);  // the next one goes in its place
  EXPECT_EQ(api_.sent.size(), 3U);
  binder_.drop_unsent("n", make_error(Reason::Conflict, "crowded"), now_);
  EXPECT_EQ(told_, std::vector<std::string>{"busy->n: crowded"});
  EXPECT_FALSE(binder_.next_deadline());
  submit("late", "n");
  binder_.drop_unsent("n", make_error(Reason::Conflict, "crowded"), now_);
  EXPECT_EQ(told_.back(), "late->n: crowded");
  EXPECT_EQ(binder_.pending(), 3U);
}

TEST_F(BinderTest, APodThatTheWatchShowsOnItsNodeNeedsNoCall) {
  for (const char* pod : {"a", "b", "c"}) submit(pod, "n");
  binder_.confirm("uid-nobody", "n", now_);
  binder_.cancel("uid-nobody");
  EXPECT_TRUE(told_.empty());
  binder_.confirm("uid-c", "n", now_);
  EXPECT_EQ(told_, std::vector<std::string>{"c->n"});
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 2U);
}

TEST(RetryDelay, GrowsFivefoldUpToTenSeconds) {
  const Error busy = make_error(Reason::TooManyRequests, "busy");
  std::vector<Duration> delays;
  for (int tries = 1; tries <= 10; ++tries)
    if (const auto delay = client::retry_delay(busy, tries, {})) delays.push_back(*delay);
  ASSERT_EQ(delays.size(), 9U);
  EXPECT_EQ(delays[0], milliseconds{10});
  EXPECT_EQ(delays[1], milliseconds{50});
  EXPECT_EQ(delays[8], seconds{10});
}

TEST(RetryDelay, IsNotShorterThanTheServerAsksFor) {
  Error busy = make_error(Reason::TooManyRequests, "busy");
  busy.retry_after_s = 3;
  EXPECT_EQ(client::retry_delay(busy, 1, {}), seconds{3});
}

}  // namespace
}  // namespace muster::scheduler
