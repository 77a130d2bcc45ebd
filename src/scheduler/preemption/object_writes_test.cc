#include "scheduler/preemption/object_writes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/kit/fake_api_testing.h"

namespace muster::scheduler {
namespace {

using client::FakeApi;
using client::make_pod;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ObjectWritesTest : public ::testing::Test {
 protected:
  struct Wish {
    bool is_endless = false;
    bool only_reads = false;
  };
  void add(const std::string& pod, const Wish& wish) {
    ObjectWrites::Write write{
        .object = make_pod(pod),
        .request = {},
        .on_ended = [this, pod](const ObjectWrites::Ended& ended,
                                Time) { ended_.push_back(pod + " " + text_of(ended)); },
        .is_endless = wish.is_endless,
        .on_refused = {}};
    if (wish.is_endless)
      write.on_refused = [this, pod](const Error& error, Time) {
        refused_.push_back(pod + " " + error.message);
      };
    if (!wish.only_reads)
      write.request = [this, object = write.object](Time) -> std::optional<api::Request> {
        if (!is_wanted_) return std::nullopt;
        return client::delete_request(*object, std::nullopt);
      };
    writes_.add(std::move(write), now_);
  }
  void add(const std::string& pod) { add(pod, Wish{}); }
  static std::string text_of(const ObjectWrites::Ended& ended) {
    switch (ended.end) {
      case ObjectWrites::End::Done:
        return ended.object == nullptr ? "done" : "shows " + ended.object->meta().name;
      case ObjectWrites::End::Gone: return "is gone";
      case ObjectWrites::End::Failed: return "failed: " + ended.error.message;
    }
    return "?";
  }
  std::vector<api::Verb> verbs() const {
    std::vector<api::Verb> verbs;
    for (const FakeApi::Call& call : api_.sent) verbs.push_back(call.request.verb);
    return verbs;
  }
  void wait(Duration duration) {
    now_ += duration;
    writes_.run(now_);
  }

  using Texts = std::vector<std::string>;
  using Verbs = std::vector<api::Verb>;
  Time now_{seconds{100}};
  FakeApi api_;
  bool is_wanted_ = true;
  Texts ended_;
  Texts refused_;
  ObjectWrites writes_{{.in_flight_max = 2}, api_.calls};
};

TEST_F(ObjectWritesTest, TellsHowAWriteEnded) {
  add("a");
  add("b");
  api_.accept(0, now_);
  api_.refuse(1, Reason::NotFound, now_);
  add("c");
  api_.refuse(2, Reason::Forbidden, now_);
  EXPECT_EQ(ended_, (Texts{"a done", "b is gone", "c failed: no: Forbidden"}));
  EXPECT_EQ(writes_.pending(), 0U);
}

TEST_F(ObjectWritesTest, TheNextIsSentWhenOneHasEnded) {
  for (const char* pod : {"a", "b", "c", "d"}) add(pod);
  EXPECT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(writes_.pending(), 4U);
  api_.accept(1, now_);
  ASSERT_EQ(api_.sent.size(), 3U);
  EXPECT_EQ(api_.sent[2].request.name, "c") << "first come, first served";
  api_.accept(0, now_);
  api_.accept(2, now_);
  api_.accept(3, now_);
  EXPECT_EQ(ended_, (Texts{"b done", "a done", "c done", "d done"}));
}

TEST_F(ObjectWritesTest, WhatIsNoLongerWantedIsDroppedWithoutAWord) {
  is_wanted_ = false;
  add("a");
  EXPECT_TRUE(api_.sent.empty());
  EXPECT_EQ(writes_.pending(), 0U);
  EXPECT_TRUE(ended_.empty());
}

TEST_F(ObjectWritesTest, ABusyServerIsAskedAgainInAMoment) {
  add("a");
  EXPECT_EQ(writes_.next_deadline(), std::nullopt);
  api_.refuse(0, Reason::TooManyRequests, now_);
  EXPECT_EQ(writes_.next_deadline(), now_ + milliseconds{10});
  wait(milliseconds{9});
  EXPECT_EQ(api_.sent.size(), 1U);
  wait(milliseconds{1});
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(writes_.next_deadline(), std::nullopt);
  api_.refuse(1, Reason::TooManyRequests, now_, 3);
  EXPECT_EQ(writes_.next_deadline(), now_ + seconds{3}) << "as long as the server wants";
  wait(seconds{3});
  api_.accept(2, now_);
  EXPECT_EQ(verbs(), Verbs(3, api::Verb::Delete));
  EXPECT_EQ(ended_, Texts{"a done"});
}

TEST_F(ObjectWritesTest, AnEndlessWriteIsAskedForAgainAndAgain) {
  add("a", {.is_endless = true});
  add("b");
  for (int i = 0; i < 2; ++i) api_.refuse(static_cast<std::size_t>(i), Reason::Forbidden, now_);
  EXPECT_EQ(ended_, Texts{"b failed: no: Forbidden"});
  EXPECT_EQ(refused_, Texts{"a no: Forbidden"});
  EXPECT_EQ(writes_.next_deadline(), now_ + seconds{10});
  wait(seconds{10});
  api_.refuse(2, Reason::Forbidden, now_);
  EXPECT_EQ(refused_.size(), 2U);
  wait(seconds{10});
  api_.accept(3, now_);
  EXPECT_EQ(ended_.back(), "a done");
  EXPECT_EQ(writes_.pending(), 0U);
}

TEST_F(ObjectWritesTest, AfterAConflictTheObjectIsReadBeforeItIsWritten) {
  add("a");
  api_.refuse(0, Reason::Conflict, now_);
  wait(milliseconds{10});
  ASSERT_EQ(verbs(), (Verbs{api::Verb::Delete, api::Verb::Get}));
  const api::Request& read = api_.sent[1].request;
  EXPECT_EQ(read.kind, &api::kinds::pod());
  EXPECT_EQ(read.version, "v1");
  EXPECT_EQ(read.name_space, "ns");
  EXPECT_EQ(read.name, "a");
  api_.show(1, make_pod("a"), now_);
  ASSERT_EQ(api_.sent.size(), 3U);
  // Reading is not counted as a try: the second conflict waits as long as a second one does.
  api_.refuse(2, Reason::Conflict, now_);
  EXPECT_EQ(writes_.next_deadline(), now_ + milliseconds{50});
  wait(milliseconds{50});
  api_.refuse(3, Reason::NotFound, now_);
  EXPECT_EQ(ended_, Texts{"a is gone"});
}

TEST_F(ObjectWritesTest, WhatIsOnlyReadIsShown) {
  add("a", {.only_reads = true});
  add("b", {.only_reads = true});
  add("c", {.only_reads = true});
  EXPECT_EQ(verbs(), Verbs(2, api::Verb::Get));
  api_.show(0, make_pod("a"), now_);
  api_.show(1, make_pod("other"), now_);  // another uid
  api_.accept(2, now_);                   // an answer without an object
  EXPECT_EQ(ended_, (Texts{"a shows a", "b is gone", "c is gone"}));
  EXPECT_EQ(writes_.pending(), 0U);
}

}  // namespace
}  // namespace muster::scheduler
