#include "client/kit/event_recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::client {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class EventRecorderTest : public ::testing::Test {
 protected:
  void record(const std::string& message) {
    recorder_.record(*pod_,
                     {.type = "Warning",
                      .reason = "FailedScheduling",
                      .action = "Scheduling",
                      .message = message},
                     now_);
    recorder_.run(now_);
  }

  Time now_{seconds{1'000'000'000}};
  FakeApi api_;
  api::ObjectPtr pod_ = make_pod("p");
  EventRecorder recorder_{
      {.instance = "default-scheduler-host", .in_flight_max = 2, .queue_max = 3}, api_.calls};
};

TEST_F(EventRecorderTest, SpeaksUpstreamsWords) {
  record("0/1 nodes are available: 1 Insufficient cpu.");
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.sent[0].request.verb, api::Verb::Create);
  EXPECT_EQ(api_.sent[0].request.kind, &api::kinds::event());
  EXPECT_EQ(api_.sent[0].request.name_space, "ns");
  EXPECT_EQ(
      api_.body(0),
      R"({"metadata":{"name":"p.de0b6b3a7640000","namespace":"ns"},)"
      R"("involvedObject":{"kind":"Pod","namespace":"ns","name":"p","uid":"uid-p","apiVersion":"v1"},)"
      R"("reason":"FailedScheduling","message":"0/1 nodes are available: 1 Insufficient cpu.",)"
      R"("source":{"component":"default-scheduler"},"firstTimestamp":"2001-09-09T01:46:40Z",)"
      R"("lastTimestamp":"2001-09-09T01:46:40Z","count":1,"type":"Warning","action":"Scheduling",)"
      R"("reportingComponent":"default-scheduler","reportingInstance":"default-scheduler-host"})");
}

TEST_F(EventRecorderTest, OfObjectsWithoutANamespaceItSpeaksInTheDefaultOne) {
  const auto document =
      api::parse_json(R"({"metadata":{"name":"a-node-of-some-length","uid":"u"}})");
  const auto node = api::Object::make(api::kinds::node(), document->value);
  recorder_.record(*node, {.type = "Warning", .reason = "R", .action = "A", .message = "m"}, now_);
  recorder_.run(now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.sent[0].request.name_space, "default");
  EXPECT_NE(api_.body(0).find(R"("involvedObject":{"kind":"Node","name":"a-node-of-some-length",)"),
            std::string::npos)
      << api_.body(0);
}

// Nothing is remembered forever of objects that are gone.
TEST_F(EventRecorderTest, ForgetsWhatWasNotRepeatedForLong) {
  record("m");
  api_.accept(0, now_);
  EXPECT_EQ(recorder_.remembered(), 3U);
  now_ += std::chrono::minutes{59};
  recorder_.run(now_);
  EXPECT_EQ(recorder_.remembered(), 1U) << "the object may have its whole allowance again";
  now_ += std::chrono::minutes{1};
  recorder_.run(now_);
  EXPECT_EQ(recorder_.remembered(), 0U);
  record("m");
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(api_.sent[1].request.verb, api::Verb::Create) << "the old one has expired";
}

TEST_F(EventRecorderTest, ForgetsNothingThatIsStillToBeWritten) {
  record("m");
  now_ += std::chrono::hours{5};
  recorder_.run(now_);
  EXPECT_EQ(recorder_.remembered(), 1U);
}

TEST_F(EventRecorderTest, CountsRepeatsInOneEvent) {
  record("m");
  now_ += seconds{1};
  record("m");
  record("m");
  EXPECT_EQ(api_.sent.size(), 1U) << "while a call is under way, repeats are only counted";
  api_.accept(0, now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(api_.sent[1].request.verb, api::Verb::Patch);
  EXPECT_EQ(api_.sent[1].request.name, "p.de0b6b3a7640000");
  EXPECT_EQ(api_.body(1), R"({"count":3,"lastTimestamp":"2001-09-09T01:46:41Z"})");
  record("m");
  api_.refuse(1, Reason::NotFound, now_);
  ASSERT_EQ(api_.sent.size(), 3U);
  EXPECT_EQ(api_.sent[2].request.verb, api::Verb::Create) << "it had expired on the server";
}

// Each pod that a quota refuses has another name.
TEST_F(EventRecorderTest, ManyMessagesInOneMatterShareAnEvent) {
  for (int i = 0; i < 12; ++i) {
    record(std::to_string(i));
    api_.accept(api_.sent.size() - 1, now_);
  }
  ASSERT_EQ(api_.sent.size(), 12U);
  EXPECT_EQ(api_.sent[8].request.verb, api::Verb::Create);
  EXPECT_NE(api_.body(8).find(R"("message":"8")"), std::string::npos);
  EXPECT_EQ(api_.sent[9].request.verb, api::Verb::Create);
  EXPECT_NE(api_.body(9).find(R"("message":"(combined from similar events): 9")"),
            std::string::npos);
  EXPECT_EQ(api_.sent[11].request.verb, api::Verb::Patch);
  EXPECT_EQ(api_.body(11), R"({"count":3,"lastTimestamp":"2001-09-09T01:46:40Z",)"
                           R"("message":"(combined from similar events): 11"})");
  record("3");
  EXPECT_EQ(api_.body(12), R"({"count":2,"lastTimestamp":"2001-09-09T01:46:40Z"})")
      << "the first ones keep their own events";
  api_.accept(12, now_);
  now_ += std::chrono::minutes{11};
  record("later");
  EXPECT_NE(api_.body(13).find(R"("message":"later")"), std::string::npos);
}

TEST_F(EventRecorderTest, SilencesAnObjectThatTalksTooMuch) {
  for (int i = 0; i < 40; ++i) {
    record(std::to_string(i));
    api_.accept(api_.sent.size() - 1, now_);
  }
  EXPECT_EQ(api_.sent.size(), 25U);
  EXPECT_EQ(recorder_.dropped(), 15U);
  now_ += seconds{300};
  record("one more");
  record("but not two");
  EXPECT_EQ(api_.sent.size(), 26U);
}

TEST_F(EventRecorderTest, DropsWhatDoesNotFitTheQueue) {
  for (int i = 0; i < 8; ++i) record(std::to_string(i));
  EXPECT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(recorder_.dropped(), 3U);
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 3U);
}

TEST_F(EventRecorderTest, WhatABusyServerRefusesIsWrittenLaterWithItsRepeats) {
  record("m");
  api_.refuse(0, Reason::ServiceUnavailable, now_);
  ASSERT_TRUE(recorder_.next_deadline());
  record("m");
  ASSERT_EQ(api_.sent.size(), 1U) << "not before its time";
  now_ = *recorder_.next_deadline();
  recorder_.run(now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(api_.sent[1].request.verb, api::Verb::Create);
  EXPECT_NE(api_.body(1).find(R"("count":2)"), std::string::npos) << api_.body(1);
  api_.accept(1, now_);
  EXPECT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(recorder_.next_deadline(), std::nullopt);
}

TEST_F(EventRecorderTest, TakesAnotherNameIfTheFirstIsTaken) {
  record("m");
  api_.refuse(0, Reason::AlreadyExists, now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_NE(api_.body(1).find("p.de0b6b3a7640001"), std::string::npos);
  api_.refuse(1, Reason::Forbidden, now_);
  EXPECT_EQ(api_.sent.size(), 2U) << "a namespace that is going away takes no events";
}

// By fmt: under -O1 g++ 12 warns wrongly of array bounds where two strings of known length are
// joined.
std::string xs(int count, std::string_view end = "") {
  return fmt::format("{:x>{}}{}", "", count, end);
}

TEST(CutMessage, KeepsWholeCharactersWithin1024Bytes) {
  EXPECT_EQ(cut_message(xs(1024)), xs(1024));
  EXPECT_EQ(cut_message(xs(1025)), xs(1020, " ..."));
  EXPECT_EQ(cut_message(xs(1019, "\xC3\xA9") + xs(50)), xs(1019, " ..."));
}

TEST_F(EventRecorderTest, SaysWhoSaysItIfThatIsSomebodyElse) {
  recorder_.record(*pod_,
                   {.type = "Normal",
                    .reason = "R",
                    .action = "A",
                    .message = "m",
                    .component = "kubelet",
                    .instance = "node-1"},
                   now_);
  recorder_.run(now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_THAT(api_.body(0), HasSubstr(R"("source":{"component":"kubelet"})"));
  EXPECT_THAT(api_.body(0), HasSubstr(R"("reportingComponent":"kubelet",)"
                                      R"("reportingInstance":"node-1")"));
}

TEST_F(EventRecorderTest, NamesTheRevisionOfTheObjectIfItHasOne) {
  const auto document = api::parse_json(R"({"metadata":{"name":"n","uid":"u"}})");
  const auto node = api::Object::make(api::kinds::node(), document->value);
  node->assign_revision({77});
  recorder_.record(*node, {.type = "Normal", .reason = "R", .action = "A", .message = "m"}, now_);
  recorder_.run(now_);
  EXPECT_THAT(api_.body(0), HasSubstr(R"("apiVersion":"v1","resourceVersion":"77"})"));
}

// What differs in anything but the message is another matter.
TEST_F(EventRecorderTest, OnlyTheSameIsARepeat) {
  const EventNote note{.type = "Normal", .reason = "R", .action = "A", .message = "m"};
  std::vector<EventNote> notes(5, note);
  notes[1].type = "Warning";
  notes[2].reason = "S";
  notes[3].action = "B";
  notes[4].message = "n";
  const auto say = [&](const api::Object& about, const EventNote& what) {
    recorder_.record(about, what, now_);
    recorder_.run(now_);
    api_.accept(api_.sent.size() - 1, now_);
  };
  for (const EventNote& each : notes) say(*pod_, each);
  say(*make_pod("q"), note);
  ASSERT_EQ(api_.sent.size(), 6U);
  for (const FakeApi::Call& call : api_.sent) EXPECT_EQ(call.request.verb, api::Verb::Create);
  say(*pod_, note);
  EXPECT_EQ(api_.sent[6].request.verb, api::Verb::Patch);
}

TEST_F(EventRecorderTest, SimilarEventsAreCombinedWithinTenMinutesOfTheLast) {
  for (int i = 0; i < 9; ++i) {
    record(std::to_string(i));
    api_.accept(api_.sent.size() - 1, now_);
  }
  for (int i = 0; i < 2; ++i) {
    now_ += std::chrono::minutes{10};
    record("more");
    EXPECT_THAT(api_.body(api_.sent.size() - 1), HasSubstr("(combined from similar events): more"));
    api_.accept(api_.sent.size() - 1, now_);
  }
  now_ += std::chrono::minutes{10} + seconds{1};
  record("later");
  EXPECT_THAT(api_.body(api_.sent.size() - 1), HasSubstr(R"("message":"later")"));
}

TEST_F(EventRecorderTest, SilenceIsOfOneTypeOfOneObject) {
  for (int i = 0; i < 30; ++i) {
    record(std::to_string(i));
    if (api_.calls.under_way() > 0) api_.accept(api_.sent.size() - 1, now_);
  }
  EXPECT_EQ(api_.sent.size(), 25U);
  const EventNote normal{.type = "Normal", .reason = "R", .action = "A", .message = "m"};
  recorder_.record(*pod_, normal, now_);
  recorder_.run(now_);
  EXPECT_EQ(api_.sent.size(), 26U);
  api_.accept(25, now_);
  EventNote warning = normal;
  warning.type = "Warning";
  recorder_.record(*make_pod("q"), warning, now_);
  recorder_.run(now_);
  EXPECT_EQ(api_.sent.size(), 27U);
  api_.accept(26, now_);
  now_ += seconds{299};
  record("too soon");
  EXPECT_EQ(api_.sent.size(), 27U);
  now_ += seconds{1};
  record("in time");
  EXPECT_EQ(api_.sent.size(), 28U);
}

TEST_F(EventRecorderTest, RemembersABoundedNumberAndThoseThatWereUsedLast) {
  EventRecorder small({.remembered_max = 2}, api_.calls);
  const auto say = [&](const std::string& pod) {
    small.record(*make_pod(pod), {.type = "Normal", .reason = "R", .action = "A", .message = "m"},
                 now_);
    small.run(now_);
    api_.accept(api_.sent.size() - 1, now_);
    return api_.sent.back().request.verb;
  };
  for (const char* pod : {"a", "b"}) EXPECT_EQ(say(pod), api::Verb::Create);
  EXPECT_EQ(say("a"), api::Verb::Patch);
  EXPECT_EQ(say("c"), api::Verb::Create);
  EXPECT_EQ(small.remembered(), 6U) << "two events, two matters, two objects";
  EXPECT_EQ(say("a"), api::Verb::Patch);
  EXPECT_EQ(say("b"), api::Verb::Create) << "it was used least recently";
}

TEST_F(EventRecorderTest, GivesUpOnAServerThatRefusesItOftenEnough) {
  record("m");
  for (std::size_t call = 0; call < 3; ++call) {
    api_.refuse(call, Reason::InternalError, now_);
    ASSERT_TRUE(recorder_.next_deadline());
    now_ = *recorder_.next_deadline();
    recorder_.run(now_);
  }
  ASSERT_EQ(api_.sent.size(), 4U);
  EXPECT_EQ(recorder_.dropped(), 0U);
  api_.refuse(3, Reason::InternalError, now_);
  EXPECT_EQ(recorder_.next_deadline(), std::nullopt);
  EXPECT_EQ(recorder_.dropped(), 1U);
  record("m");
  ASSERT_EQ(api_.sent.size(), 5U);
  EXPECT_THAT(api_.body(4), HasSubstr(R"("count":2)"));
  api_.refuse(4, Reason::InternalError, now_);
  EXPECT_TRUE(recorder_.next_deadline()) << "it begins to count anew";
}

TEST_F(EventRecorderTest, ANamespaceThatIsNotThereIsNotAskedAgain) {
  record("m");
  api_.refuse(0, Reason::NotFound, now_);
  EXPECT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(recorder_.dropped(), 1U);
}

TEST_F(EventRecorderTest, NamesThatAreTakenAreTriedFourTimes) {
  record("m");
  for (std::size_t call = 0; call < 4; ++call) api_.refuse(call, Reason::AlreadyExists, now_);
  EXPECT_EQ(api_.sent.size(), 4U);
  EXPECT_EQ(recorder_.dropped(), 1U);
}

TEST_F(EventRecorderTest, ANameIsCutSoThatTheServerTakesIt) {
  const auto name_of = [&](const std::string& pod) {
    recorder_.record(*make_pod(pod),
                     {.type = "Normal", .reason = "R", .action = "A", .message = pod}, now_);
    recorder_.run(now_);
    api_.accept(api_.sent.size() - 1, now_);
    return std::string(api::find_string(api_.sent.back().request.body.at("metadata"), "name"));
  };
  const std::string longest = name_of(std::string(253, 'a'));
  EXPECT_EQ(longest.size(), 253U);
  EXPECT_EQ(longest.substr(0, 238), std::string(237, 'a') + ".");
  const std::string odd = std::string(230, 'a') + "-.-.-.-.-.-.-.-.-.b";
  EXPECT_EQ(name_of(odd).substr(0, 233), std::string(230, 'a') + ".de") << "no part ends in -";
}

TEST_F(EventRecorderTest, ARepeatThatABusyServerRefusesIsWrittenLater) {
  record("m");
  api_.accept(0, now_);
  record("m");
  api_.refuse(1, Reason::ServiceUnavailable, now_);
  EXPECT_EQ(api_.sent.size(), 2U);
  now_ = recorder_.next_deadline().value();
  recorder_.run(now_);
  ASSERT_EQ(api_.sent.size(), 3U);
  EXPECT_EQ(api_.sent[2].request.verb, api::Verb::Patch) << "the event is still there";
}

}  // namespace
}  // namespace muster::client
