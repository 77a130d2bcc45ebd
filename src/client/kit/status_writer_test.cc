#include "client/kit/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/kit/fake_api_testing.h"

namespace muster::client {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class StatusWriterTest : public ::testing::Test {
 protected:
  void write(const api::ObjectPtr& object, const std::string& message,
             const api::Condition* current = nullptr) {
    writer_.write(
        object, current,
        {.type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = message},
        now_);
    writer_.run(now_);
  }

  Time now_{seconds{1'000'000'000}};
  FakeApi api_;
  StatusWriter writer_{{.in_flight_max = 2}, api_.calls};
  api::ObjectPtr pod_ = make_pod("p");
};

TEST_F(StatusWriterTest, PatchesTheStatusStrategically) {
  write(pod_, "0/5 nodes are available: 5 Insufficient cpu.");
  ASSERT_EQ(api_.sent.size(), 1U);
  const api::Request& request = api_.sent[0].request;
  EXPECT_EQ(request.verb, api::Verb::Patch);
  EXPECT_EQ(request.subresource, "status");
  EXPECT_EQ(request.patch_type, api::PatchType::StrategicMerge);
  EXPECT_EQ(
      api_.body(0),
      R"({"metadata":{"uid":"uid-p"},"status":{"conditions":[{"type":"PodScheduled",)"
      R"("observedGeneration":3,"status":"False","lastTransitionTime":"2001-09-09T01:46:40Z",)"
      R"("reason":"Unschedulable","message":"0/5 nodes are available: 5 Insufficient cpu."}]}})");
}

TEST_F(StatusWriterTest, WritesNothingThatTheObjectSaysAlready) {
  const api::Condition current{.type = "PodScheduled",
                               .status = "False",
                               .reason = "Unschedulable",
                               .message = "same",
                               .observed_generation = 3};
  write(pod_, "same", &current);
  EXPECT_TRUE(api_.sent.empty());
  write(pod_, "other", &current);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.body(0).find("lastTransitionTime"), std::string::npos)
      << "the status did not change";
}

TEST_F(StatusWriterTest, SaysThatItSawANewerGeneration) {
  const api::Condition current{.type = "PodScheduled",
                               .status = "False",
                               .reason = "Unschedulable",
                               .message = "same",
                               .observed_generation = 2};
  write(pod_, "same", &current);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_NE(api_.body(0).find("\"observedGeneration\":3"), std::string::npos);
}

TEST_F(StatusWriterTest, WithdrawsWhatGivesThatReasonAndNothingElse) {
  const api::Condition current{
      .type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = "m"};
  writer_.withdraw(pod_, "PodScheduled", &current, "Invalid");
  writer_.withdraw(pod_, "PodScheduled", nullptr, "Unschedulable");
  writer_.run(now_);
  EXPECT_TRUE(api_.sent.empty());
  writer_.withdraw(pod_, "PodScheduled", &current, "Unschedulable");
  writer_.run(now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.body(0), R"({"metadata":{"uid":"uid-p"},"status":{"conditions":[)"
                          R"({"$patch":"delete","type":"PodScheduled"}]}})");
}

TEST_F(StatusWriterTest, WithdrawsWhatIsStillOnItsWay) {
  write(pod_, "1");
  writer_.withdraw(pod_, "PodScheduled", nullptr, "Unschedulable");
  writer_.run(now_);
  ASSERT_EQ(api_.sent.size(), 1U) << "one call per object";
  api_.accept(0, now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_NE(api_.body(1).find("\"$patch\":\"delete\""), std::string::npos);
}

TEST_F(StatusWriterTest, KeepsOneCallPerObjectAndTheNewestBehindIt) {
  write(pod_, "1");
  write(pod_, "2");
  write(pod_, "3");
  EXPECT_EQ(api_.sent.size(), 1U);
  api_.accept(0, now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_NE(api_.body(1).find(R"("message":"3")"), std::string::npos);
  EXPECT_EQ(api_.body(1).find("lastTransitionTime"), std::string::npos);
  write(pod_, "3");
  api_.accept(1, now_);
  write(pod_, "3");
  EXPECT_EQ(api_.sent.size(), 2U) << "written, although the watch has not shown it yet";
}

TEST_F(StatusWriterTest, BelievesTheWatchAgainAfterTheEcho) {
  write(pod_, "1");
  api_.accept(0, now_);
  writer_.observed("uid-p");
  EXPECT_EQ(writer_.pending(), 0U);
  write(pod_, "2");
  writer_.observed("uid-p");
  api_.accept(1, now_);
  EXPECT_EQ(writer_.pending(), 0U) << "the echo may be faster than the answer";
}

TEST_F(StatusWriterTest, RetriesConflictsAndGivesUpOnTheGone) {
  write(pod_, "1");
  api_.refuse(0, Reason::Conflict, now_);
  write(pod_, "2");
  ASSERT_TRUE(writer_.next_deadline());
  now_ = *writer_.next_deadline();
  writer_.run(now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_NE(api_.body(1).find(R"("message":"2")"), std::string::npos);
  EXPECT_NE(api_.body(1).find("lastTransitionTime"), std::string::npos)
      << "the first was never written";
  api_.refuse(1, Reason::NotFound, now_);
  EXPECT_EQ(writer_.pending(), 0U);
}

// T3c: a write that lost a race is sent again although nothing newer was written.
TEST_F(StatusWriterTest, SendsARefusedWriteAgainAtItsDeadline) {
  write(pod_, "1");
  api_.refuse(0, Reason::Conflict, now_);
  writer_.run(now_);
  EXPECT_EQ(api_.sent.size(), 1U) << "not before its deadline";
  ASSERT_TRUE(writer_.next_deadline());
  now_ = *writer_.next_deadline();
  writer_.run(now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(api_.body(1), api_.body(0));
  api_.accept(1, now_);
  EXPECT_EQ(writer_.next_deadline(), std::nullopt);
}

TEST_F(StatusWriterTest, ConditionsOfOneObjectDoNotDisplaceEachOther) {
  const auto write_type = [&](const std::string& type, const std::string& message) {
    writer_.write(pod_, nullptr,
                  {.type = type, .status = "True", .reason = "R", .message = message}, now_);
    writer_.run(now_);
  };
  write_type("PodScheduled", "1");
  write_type("DisruptionTarget", "2");
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_THAT(api_.body(0), HasSubstr(R"("type":"PodScheduled")"));
  EXPECT_THAT(api_.body(1), HasSubstr(R"("type":"DisruptionTarget")"));
  write_type("PodScheduled", "3");
  api_.refuse(1, Reason::Conflict, now_);
  api_.accept(0, now_);
  ASSERT_EQ(api_.sent.size(), 3U);
  EXPECT_THAT(api_.body(2), HasSubstr(R"("message":"3")"));
  api_.accept(2, now_);
  writer_.observed("uid-p");
  EXPECT_EQ(writer_.pending(), 1U) << "the other one was refused and waits";
  now_ = *writer_.next_deadline();
  writer_.run(now_);
  ASSERT_EQ(api_.sent.size(), 4U);
  EXPECT_EQ(api_.body(3), api_.body(1));
  writer_.forget("uid-p");
  api_.accept(3, now_);
  EXPECT_EQ(writer_.pending(), 0U);
}

TEST_F(StatusWriterTest, ACompanionGoesIntoTheSameCallAndIsRemovedByIt) {
  const api::Condition scheduled{
      .type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = "m"};
  const auto write_with = [&](const std::string& reason) {
    api::Condition companion;
    companion.type = "x/WaitsFor";
    if (!reason.empty()) companion = {"x/WaitsFor", "True", reason, "why"};
    writer_.write(pod_, nullptr, scheduled, {nullptr, companion}, now_);
    writer_.run(now_);
  };
  write_with("Node");
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_THAT(api_.body(0), HasSubstr(R"("type":"PodScheduled")"));
  EXPECT_THAT(
      api_.body(0),
      HasSubstr(R"({"type":"x/WaitsFor","observedGeneration":3,"status":"True",)"
                R"("lastTransitionTime":"2001-09-09T01:46:40Z","reason":"Node","message":"why"})"));
  api_.accept(0, now_);
  write_with("Node");
  EXPECT_EQ(api_.sent.size(), 1U) << "both say so already";
  write_with("Siblings");
  ASSERT_EQ(api_.sent.size(), 2U) << "one has changed";
  EXPECT_EQ(api_.body(1).find("lastTransitionTime"), std::string::npos) << "its status has not";
  api_.accept(1, now_);
  write_with("");
  ASSERT_EQ(api_.sent.size(), 3U);
  EXPECT_THAT(api_.body(2), HasSubstr(R"({"$patch":"delete","type":"x/WaitsFor"})"));
}

TEST_F(StatusWriterTest, WhatTheObjectDoesNotSayIsNotRemoved) {
  api::Condition companion;
  companion.type = "x/WaitsFor";
  writer_.write(pod_, nullptr,
                {.type = "PodScheduled", .status = "False", .reason = "r", .message = "m"},
                {nullptr, companion}, now_);
  writer_.run(now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.body(0).find("WaitsFor"), std::string::npos);
}

TEST_F(StatusWriterTest, DropsWhatWaitsForAPodThatIsPlaced) {
  write(pod_, "1");
  write(pod_, "2");
  writer_.forget("uid-p");
  api_.accept(0, now_);
  EXPECT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(writer_.pending(), 0U);
}

TEST_F(StatusWriterTest, ForgetsARefusedWriteAndItsDeadline) {
  write(pod_, "1");
  api_.refuse(0, Reason::Conflict, now_);
  ASSERT_TRUE(writer_.next_deadline());
  const Time deadline = *writer_.next_deadline();
  writer_.forget("uid-p");
  EXPECT_EQ(writer_.pending(), 0U);
  ASSERT_EQ(writer_.next_deadline(), std::nullopt);
  writer_.run(deadline);
  EXPECT_EQ(api_.sent.size(), 1U);
}

TEST_F(StatusWriterTest, KeepsABoundedNumberUnderWay) {
  for (const char* name : {"a", "b", "c"}) write(make_pod(name), "m");
  EXPECT_EQ(api_.sent.size(), 2U);
  api_.accept(1, now_);
  EXPECT_EQ(api_.sent.size(), 3U);
}

TEST_F(StatusWriterTest, SaysAnythingThatIsDifferent) {
  const api::Condition current{.type = "PodScheduled",
                               .status = "False",
                               .reason = "Unschedulable",
                               .message = "m",
                               .observed_generation = 3};
  const auto says = [&](const std::string& status, const std::string& reason,
                        const std::string& message) {
    FakeApi api;
    StatusWriter writer({}, api.calls);
    writer.write(pod_, &current,
                 {.type = "PodScheduled", .status = status, .reason = reason, .message = message},
                 now_);
    writer.run(now_);
    return !api.sent.empty();
  };
  EXPECT_FALSE(says("False", "Unschedulable", "m"));
  EXPECT_TRUE(says("True", "Unschedulable", "m"));
  EXPECT_TRUE(says("False", "Scheduled", "m"));
  EXPECT_TRUE(says("False", "Unschedulable", "n"));
}

TEST_F(StatusWriterTest, ATransitionIsAChangeOfTheStatus) {
  const api::Condition current{
      .type = "PodScheduled", .status = "True", .reason = "Scheduled", .message = "m"};
  write(pod_, "m", &current);
  EXPECT_THAT(api_.body(0), HasSubstr("lastTransitionTime"));
  api_.accept(0, now_);
  now_ += seconds{5};
  writer_.write(pod_, nullptr,
                {.type = "PodScheduled", .status = "True", .reason = "r", .message = "m"}, now_);
  writer_.run(now_);
  EXPECT_THAT(api_.body(1), HasSubstr(R"("lastTransitionTime":"2001-09-09T01:46:45Z")"));
}

// A write that waits when the object turns out to be another one's business is dropped; if it
// becomes ours again meanwhile, it is written.
TEST_F(StatusWriterTest, WhatWasForgottenDuringACallMayBeWrittenAgain) {
  write(pod_, "1");
  writer_.forget("uid-p");
  write(pod_, "1");
  EXPECT_EQ(api_.sent.size(), 1U);
  api_.accept(0, now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_THAT(api_.body(1), HasSubstr(R"("message":"1")"));
  api_.accept(1, now_);
  writer_.observed("uid-p");
  EXPECT_EQ(writer_.pending(), 0U);
}

TEST_F(StatusWriterTest, WithdrawsNothingElseThatIsOnItsWay) {
  write(pod_, "1");
  writer_.withdraw(pod_, "PodScheduled", nullptr, "SchedulerError");
  writer_.withdraw(pod_, "PodReady", nullptr, "Unschedulable");
  api_.accept(0, now_);
  writer_.run(now_);
  EXPECT_EQ(api_.sent.size(), 1U);
}

TEST_F(StatusWriterTest, GivesUpAfterFourTriesUnlessSomethingNewIsSaid) {
  write(pod_, "1");
  const auto refuse_last = [&] {
    api_.refuse(api_.sent.size() - 1, Reason::Conflict, now_);
    if (!writer_.next_deadline()) return false;
    now_ = *writer_.next_deadline();
    writer_.run(now_);
    return true;
  };
  EXPECT_TRUE(refuse_last() && refuse_last() && refuse_last());
  EXPECT_EQ(api_.sent.size(), 4U);
  EXPECT_FALSE(refuse_last());
  EXPECT_EQ(writer_.pending(), 0U);
  write(pod_, "1");
  ASSERT_EQ(api_.sent.size(), 5U) << "nothing of it is remembered";
  write(pod_, "2");
  api_.accept(4, now_);
  EXPECT_TRUE(refuse_last() && refuse_last() && refuse_last())
      << "another one with tries of its own";
}

TEST_F(StatusWriterTest, NewsOfOneObjectAreNotOfAnother) {
  write(pod_, "1");
  api_.accept(0, now_);
  writer_.observed("uid-q");
  writer_.forget("uid-q");
  EXPECT_EQ(writer_.pending(), 1U);
  writer_.forget("uid-p");
  EXPECT_EQ(writer_.pending(), 0U);
}

TEST_F(StatusWriterTest, WhatIsNewerThanTheEchoIsStillWritten) {
  write(pod_, "1");
  write(pod_, "2");
  writer_.observed("uid-p");
  api_.accept(0, now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(writer_.pending(), 1U);
  api_.accept(1, now_);
  EXPECT_EQ(writer_.pending(), 1U) << "the echo was of the first";
}

TEST_F(StatusWriterTest, ACompanionHasATransitionOfItsOwn) {
  const api::Condition scheduled{
      .type = "PodScheduled", .status = "False", .reason = "r", .message = "m"};
  const api::Condition before{
      .type = "x/WaitsFor", .status = "True", .reason = "Node", .message = "why"};
  const auto write_with = [&](const std::string& status, const std::string& reason) {
    api::Condition companion{
        .type = "x/WaitsFor", .status = status, .reason = reason, .message = "why"};
    writer_.write(pod_, &scheduled, scheduled, {&before, companion}, now_);
    writer_.run(now_);
  };
  write_with("True", "Siblings");
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.body(0).find("lastTransitionTime"), std::string::npos);
  api_.accept(0, now_);
  write_with("False", "Siblings");
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_THAT(api_.body(1), HasSubstr(R"("type":"x/WaitsFor","observedGeneration":3,)"
                                      R"("status":"False","lastTransitionTime":)"));
}

}  // namespace
}  // namespace muster::client
