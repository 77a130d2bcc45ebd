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
    writer.write(
        object, current,
        {.type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = message},
        now);
    writer.run(now);
  }

  Time now{seconds{1'000'000'000}};
  FakeApi api;
  StatusWriter writer{{.in_flight_max = 2}, api.calls};
  api::ObjectPtr pod = make_pod("p");
};

TEST_F(StatusWriterTest, PatchesTheStatusStrategically) {
  write(pod, "0/5 nodes are available: 5 Insufficient cpu.");
  ASSERT_EQ(api.sent.size(), 1U);
  const api::Request& request = api.sent[0].request;
  EXPECT_EQ(request.verb, api::Verb::Patch);
  EXPECT_EQ(request.subresource, "status");
  EXPECT_EQ(request.patch_type, api::PatchType::StrategicMerge);
  EXPECT_EQ(
      api.body(0),
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
  write(pod, "same", &current);
  EXPECT_TRUE(api.sent.empty());
  write(pod, "other", &current);
  ASSERT_EQ(api.sent.size(), 1U);
  EXPECT_EQ(api.body(0).find("lastTransitionTime"), std::string::npos)
      << "the status did not change";
}

TEST_F(StatusWriterTest, SaysThatItSawANewerGeneration) {
  const api::Condition current{.type = "PodScheduled",
                               .status = "False",
                               .reason = "Unschedulable",
                               .message = "same",
                               .observed_generation = 2};
  write(pod, "same", &current);
  ASSERT_EQ(api.sent.size(), 1U);
  EXPECT_NE(api.body(0).find("\"observedGeneration\":3"), std::string::npos);
}

TEST_F(StatusWriterTest, WithdrawsWhatGivesThatReasonAndNothingElse) {
  const api::Condition current{
      .type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = "m"};
  writer.withdraw(pod, "PodScheduled", &current, "Invalid");
  writer.withdraw(pod, "PodScheduled", nullptr, "Unschedulable");
  writer.run(now);
  EXPECT_TRUE(api.sent.empty());
  writer.withdraw(pod, "PodScheduled", &current, "Unschedulable");
  writer.run(now);
  ASSERT_EQ(api.sent.size(), 1U);
  EXPECT_EQ(api.body(0), R"({"metadata":{"uid":"uid-p"},"status":{"conditions":[)"
                         R"({"$patch":"delete","type":"PodScheduled"}]}})");
}

TEST_F(StatusWriterTest, WithdrawsWhatIsStillOnItsWay) {
  write(pod, "1");
  writer.withdraw(pod, "PodScheduled", nullptr, "Unschedulable");
  writer.run(now);
  ASSERT_EQ(api.sent.size(), 1U) << "one call per object";
  api.accept(0, now);
  ASSERT_EQ(api.sent.size(), 2U);
  EXPECT_NE(api.body(1).find("\"$patch\":\"delete\""), std::string::npos);
}

TEST_F(StatusWriterTest, KeepsOneCallPerObjectAndTheNewestBehindIt) {
  write(pod, "1");
  write(pod, "2");
  write(pod, "3");
  EXPECT_EQ(api.sent.size(), 1U);
  api.accept(0, now);
  ASSERT_EQ(api.sent.size(), 2U);
  EXPECT_NE(api.body(1).find(R"("message":"3")"), std::string::npos);
  EXPECT_EQ(api.body(1).find("lastTransitionTime"), std::string::npos);
  write(pod, "3");
  api.accept(1, now);
  write(pod, "3");
  EXPECT_EQ(api.sent.size(), 2U) << "written, although the watch has not shown it yet";
}

TEST_F(StatusWriterTest, BelievesTheWatchAgainAfterTheEcho) {
  write(pod, "1");
  api.accept(0, now);
  writer.observed("uid-p");
  EXPECT_EQ(writer.pending(), 0U);
  write(pod, "2");
  writer.observed("uid-p");
  api.accept(1, now);
  EXPECT_EQ(writer.pending(), 0U) << "the echo may be faster than the answer";
}

TEST_F(StatusWriterTest, RetriesConflictsAndGivesUpOnTheGone) {
  write(pod, "1");
  api.refuse(0, Reason::Conflict, now);
  write(pod, "2");
  ASSERT_TRUE(writer.next_deadline());
  now = *writer.next_deadline();
  writer.run(now);
  ASSERT_EQ(api.sent.size(), 2U);
  EXPECT_NE(api.body(1).find(R"("message":"2")"), std::string::npos);
  EXPECT_NE(api.body(1).find("lastTransitionTime"), std::string::npos)
      << "the first was never written";
  api.refuse(1, Reason::NotFound, now);
  EXPECT_EQ(writer.pending(), 0U);
}

// T3c: a write that lost a race is sent again although nothing newer was written.
TEST_F(StatusWriterTest, SendsARefusedWriteAgainAtItsDeadline) {
  write(pod, "1");
  api.refuse(0, Reason::Conflict, now);
  writer.run(now);
  EXPECT_EQ(api.sent.size(), 1U) << "not before its deadline";
  ASSERT_TRUE(writer.next_deadline());
  now = *writer.next_deadline();
  writer.run(now);
  ASSERT_EQ(api.sent.size(), 2U);
  EXPECT_EQ(api.body(1), api.body(0));
  api.accept(1, now);
  EXPECT_EQ(writer.next_deadline(), std::nullopt);
}

TEST_F(StatusWriterTest, ConditionsOfOneObjectDoNotDisplaceEachOther) {
  const auto write_type = [&](const std::string& type, const std::string& message) {
    writer.write(pod, nullptr, {.type = type, .status = "True", .reason = "R", .message = message},
                 now);
    writer.run(now);
  };
  write_type("PodScheduled", "1");
  write_type("DisruptionTarget", "2");
  ASSERT_EQ(api.sent.size(), 2U);
  EXPECT_THAT(api.body(0), HasSubstr(R"("type":"PodScheduled")"));
  EXPECT_THAT(api.body(1), HasSubstr(R"("type":"DisruptionTarget")"));
  write_type("PodScheduled", "3");
  api.refuse(1, Reason::Conflict, now);
  api.accept(0, now);
  ASSERT_EQ(api.sent.size(), 3U);
  EXPECT_THAT(api.body(2), HasSubstr(R"("message":"3")"));
  api.accept(2, now);
  writer.observed("uid-p");
  EXPECT_EQ(writer.pending(), 1U) << "the other one was refused and waits";
  now = *writer.next_deadline();
  writer.run(now);
  ASSERT_EQ(api.sent.size(), 4U);
  EXPECT_EQ(api.body(3), api.body(1));
  writer.forget("uid-p");
  api.accept(3, now);
  EXPECT_EQ(writer.pending(), 0U);
}

TEST_F(StatusWriterTest, DropsWhatWaitsForAPodThatIsPlaced) {
  write(pod, "1");
  write(pod, "2");
  writer.forget("uid-p");
  api.accept(0, now);
  EXPECT_EQ(api.sent.size(), 1U);
  EXPECT_EQ(writer.pending(), 0U);
}

TEST_F(StatusWriterTest, KeepsABoundedNumberUnderWay) {
  for (const char* name : {"a", "b", "c"}) write(make_pod(name), "m");
  EXPECT_EQ(api.sent.size(), 2U);
  api.accept(1, now);
  EXPECT_EQ(api.sent.size(), 3U);
}

}  // namespace
}  // namespace muster::client
