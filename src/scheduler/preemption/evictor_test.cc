#include "scheduler/preemption/evictor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::scheduler {
namespace {

using client::FakeApi;
using client::make_pod;
using std::chrono::seconds;

class EvictorTest : public ::testing::Test {
 protected:
  Time now_{seconds{100}};
  FakeApi api_;
  std::vector<std::string> evicted_;
  std::vector<std::string> failed_;
  ObjectWrites writes_{{.in_flight_max = 2}, api_.calls};
  Evictor evictor_{
      writes_, [this](const api::ObjectPtr& pod, Time) { evicted_.push_back(pod->meta().name); },
      [this](const api::ObjectPtr& pod, const Error&, Time) {
        failed_.push_back(pod->meta().name);
      }};

  // Answers a call that reads a pod.
  void show(std::size_t call, const api::ObjectPtr& pod) {
    ASSERT_EQ(api_.sent.at(call).request.verb, api::Verb::Get);
    api_.calls.complete(api_.sent.at(call).ticket, api::Answer{api::ObjectAnswer{pod, {}}, {}},
                        now_);
  }
  void wait(Duration duration) {
    now_ += duration;
    writes_.run(now_);
  }
};

TEST_F(EvictorTest, WritesTheConditionThenDeletes) {
  evictor_.evict(make_pod("p"), "somebody is more important", now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.sent[0].request.verb, api::Verb::Patch);
  EXPECT_EQ(api_.sent[0].request.subresource, "status");
  api_.accept(0, now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(api_.sent[1].request.verb, api::Verb::Delete);
  EXPECT_EQ(api_.sent[1].request.remove.preconditions.uid, "uid-p");
  EXPECT_TRUE(evicted_.empty());
  api_.accept(1, now_);
  EXPECT_EQ(writes_.pending(), 0U);
  EXPECT_EQ(evicted_, std::vector<std::string>{"p"});
  EXPECT_TRUE(failed_.empty());
}

TEST_F(EvictorTest, TheConditionSaysWhoDidItAndWhy) {
  evictor_.evict(make_pod("p"), "somebody is more important", now_);
  const api::Json* status = api::find(api_.sent.at(0).request.body, "status");
  ASSERT_NE(status, nullptr);
  const api::Json& condition = status->at("conditions").at(0);
  EXPECT_EQ(api::find_string(condition, "type"), "DisruptionTarget");
  EXPECT_EQ(api::find_string(condition, "status"), "True");
  EXPECT_EQ(api::find_string(condition, "reason"), "PreemptionByScheduler");
  EXPECT_EQ(api::find_string(condition, "message"), "somebody is more important");
  EXPECT_EQ(condition.at("observedGeneration").as_int64(), 3);
  EXPECT_EQ(api_.sent[0].request.name_space, "ns");
  EXPECT_EQ(api_.sent[0].request.name, "p");
}

TEST_F(EvictorTest, APodThatIsGoneIsEvicted) {
  evictor_.evict(make_pod("p"), "why", now_);
  api_.refuse(0, Reason::NotFound, now_);
  EXPECT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(evicted_, std::vector<std::string>{"p"});
  evictor_.evict(make_pod("q"), "why", now_);
  api_.accept(1, now_);
  api_.refuse(2, Reason::NotFound, now_);
  EXPECT_EQ(evicted_, (std::vector<std::string>{"p", "q"}));
  EXPECT_TRUE(failed_.empty());
}

TEST_F(EvictorTest, APodThatCannotBeDeletedIsReported) {
  evictor_.evict(make_pod("p"), "why", now_);
  api_.accept(0, now_);
  api_.refuse(1, Reason::Forbidden, now_);
  EXPECT_EQ(failed_, std::vector<std::string>{"p"});
  EXPECT_TRUE(evicted_.empty());
}

TEST_F(EvictorTest, KeepsABoundedNumberUnderWay) {
  for (const char* pod : {"a", "b", "c"}) evictor_.evict(make_pod(pod), "why", now_);
  EXPECT_EQ(api_.sent.size(), 2U);
}

TEST_F(EvictorTest, WritesAndTakesBackNominations) {
  evictor_.nominate(make_pod("p"), "n1", now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  const api::Json* status = api::find(api_.sent[0].request.body, "status");
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(api::find_string(*status, "nominatedNodeName"), "n1");
  api_.accept(0, now_);
  EXPECT_EQ(writes_.pending(), 0U);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(EvictorTest, ANominationIsMeantForOnePodAndMayBeEmpty) {
  evictor_.nominate(make_pod("p"), "n1", now_);
  EXPECT_EQ(api_.body(0), R"({"metadata":{"uid":"uid-p"},"status":{"nominatedNodeName":"n1"}})");
  EXPECT_EQ(api_.sent[0].request.subresource, "status");
  api_.accept(0, now_);
  evictor_.nominate(make_pod("p"), "", now_);
  EXPECT_EQ(api_.body(1), R"({"metadata":{"uid":"uid-p"},"status":{"nominatedNodeName":null}})");
  api_.refuse(1, Reason::NotFound, now_);
  EXPECT_EQ(failed_, std::vector<std::string>{"p"}) << "nothing waits there";
}

TEST_F(EvictorTest, AnOlderNominationIsNotRepeated) {
  evictor_.nominate(make_pod("p"), "n1", now_);
  evictor_.nominate(make_pod("p"), "n2", now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  api_.refuse(0, Reason::ServiceUnavailable, now_);
  api_.accept(1, now_);
  wait(seconds{20});
  EXPECT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(writes_.pending(), 0U);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(EvictorTest, TheEndOfAnOlderNominationSaysNothingOfTheNewest) {
  evictor_.nominate(make_pod("p"), "n1", now_);
  evictor_.nominate(make_pod("p"), "n2", now_);
  api_.refuse(0, Reason::Forbidden, now_);
  EXPECT_TRUE(failed_.empty());
  api_.refuse(1, Reason::Forbidden, now_);
  EXPECT_EQ(failed_, std::vector<std::string>{"p"});
}

TEST_F(EvictorTest, WhoCannotBeMarkedStays) {
  evictor_.evict(make_pod("p"), "why", now_);
  api_.refuse(0, Reason::Forbidden, now_);
  wait(seconds{20});
  EXPECT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(failed_, std::vector<std::string>{"p"});
  EXPECT_TRUE(evicted_.empty());
}

TEST_F(EvictorTest, AConflictIsNoProofThatThePodIsGone) {
  const api::ObjectPtr pod = make_pod("p");
  evictor_.evict(pod, "why", now_);
  api_.accept(0, now_);
  api_.refuse(1, Reason::Conflict, now_);
  wait(seconds{1});
  show(2, pod);
  ASSERT_EQ(api_.sent.size(), 4U);
  EXPECT_EQ(api_.sent[3].request.verb, api::Verb::Delete);
  api_.accept(3, now_);
  EXPECT_EQ(writes_.pending(), 0U);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(EvictorTest, AnotherPodOfTheNameIsLeftAlone) {
  evictor_.evict(make_pod("p"), "why", now_);
  api_.accept(0, now_);
  api_.refuse(1, Reason::Conflict, now_);
  wait(seconds{1});
  api::Json replaced = make_pod("p")->document();
  api::ensure_object(replaced.as_object(), "metadata")["uid"] = "another";
  show(2, api::Object::make(api::kinds::pod(), replaced));
  EXPECT_EQ(api_.sent.size(), 3U);
  EXPECT_EQ(writes_.pending(), 0U);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(EvictorTest, APodThatConflictsAgainAndAgainIsReported) {
  const api::ObjectPtr pod = make_pod("p");
  evictor_.evict(pod, "why", now_);
  api_.accept(0, now_);
  for (std::size_t call = 1; failed_.empty() && call < 20; call += 2) {
    api_.refuse(call, Reason::Conflict, now_);
    wait(seconds{10});
    if (failed_.empty()) show(call + 1, pod);
  }
  EXPECT_EQ(failed_, std::vector<std::string>{"p"});
  EXPECT_EQ(writes_.pending(), 0U);
}

}  // namespace
}  // namespace muster::scheduler
