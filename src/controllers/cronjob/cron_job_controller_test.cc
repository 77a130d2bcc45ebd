#include "controllers/cronjob/cron_job_controller.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "api/reading.h"
#include "controllers/cronjob/cron_world_testing.h"

namespace muster::controllers {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(CronJob, StartsAJobAtEachTime) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  world.advance(minutes{4});
  EXPECT_EQ(world.jobs(), Names{});
  world.advance(minutes{7});
  EXPECT_EQ(world.jobs(), (Names{at(5), at(10)}));
  EXPECT_EQ(world.active(), (Names{at(5), at(10)}));
  EXPECT_EQ(api::find_string(world.status(), "lastScheduleTime"), "2026-01-01T00:10:00Z");
  EXPECT_EQ(world.events, (Names{"SuccessfulCreate: Created job " + at(5),
                                 "SuccessfulCreate: Created job " + at(10)}));
}

TEST(CronJob, ItsJobsAreMadeFromTheTemplate) {
  CronWorld world(R"({"schedule":"30 9 * * *","timeZone":"Asia/Tokyo"})");
  world.advance(minutes{31});
  ASSERT_EQ(world.jobs(), Names{at(30)});
  EXPECT_EQ(api::to_text(api::part_of(world.job(at(30)), "spec")),
            R"({"parallelism":2,"template":{"metadata":{},"spec":{}}})");
  const Json& metadata = api::part_of(world.job(at(30)), "metadata");
  EXPECT_EQ(api::to_text(api::part_of(metadata, "labels")), R"({"app":"x"})");
  EXPECT_EQ(api::to_text(api::part_of(metadata, "annotations")),
            R"({"batch.kubernetes.io/cronjob-scheduled-timestamp":"2026-01-01T09:30:00+09:00"})");
  EXPECT_EQ(api::to_text(api::part_of(metadata, "ownerReferences")),
            R"([{"apiVersion":"batch/v1","kind":"CronJob","name":"tick","uid":"cron-uid",)"
            R"("controller":true,"blockOwnerDeletion":true}])");
}

TEST(CronJob, KeepsAsManyFinishedJobsAsItIsTold) {
  CronWorld world(
      R"({"schedule":"* * * * *","successfulJobsHistoryLimit":2,"failedJobsHistoryLimit":1})");
  for (int minute = 1; minute <= 8; ++minute) {
    world.advance(minutes{1} + (minute == 1 ? seconds{1} : seconds{0}));
    world.finish(at(minute), minute % 2 == 0 ? "Failed" : "Complete");
  }
  EXPECT_EQ(world.jobs(), (Names{at(5), at(7), at(8)}));
  EXPECT_EQ(world.active(), Names{});
  EXPECT_EQ(api::find_string(world.status(), "lastSuccessfulTime"), "2026-01-01T00:07:01Z");
  EXPECT_NE(std::ranges::find(world.events, "SawCompletedJob: Saw completed job: " + at(2) +
                                                ", condition: Failed"),
            world.events.end());
  EXPECT_NE(std::ranges::find(world.events, "SuccessfulDelete: Deleted job " + at(1)),
            world.events.end());
}

TEST(CronJob, AJobThatNeverStartedIsKeptAsTheYoungest) {
  CronWorld world(R"({"schedule":"* * * * *","failedJobsHistoryLimit":1})");
  world.advance(minutes{2} + seconds{1});
  world.forget_start(at(1));
  world.finish(at(1), "Failed");
  world.finish(at(2), "Failed");
  EXPECT_EQ(world.jobs(), Names{at(1)});
}

TEST(CronJob, ForbidWaitsForTheOneThatRuns) {
  CronWorld world(R"({"schedule":"*/5 * * * *","concurrencyPolicy":"Forbid"})");
  world.advance(minutes{12});
  EXPECT_EQ(world.jobs(), Names{at(5)});
  EXPECT_EQ(world.events.back(),
            "JobAlreadyActive: Not starting job because prior execution is running and concurrency "
            "policy is Forbid");
  world.finish(at(5));
  EXPECT_EQ(world.jobs(), (Names{at(5), at(10)})) << "late, as nothing forbids that";
}

TEST(CronJob, ForbidWithADeadlineSkipsWhatIsTooLate) {
  CronWorld world(
      R"({"schedule":"*/5 * * * *","concurrencyPolicy":"Forbid","startingDeadlineSeconds":60})");
  world.advance(minutes{12});
  world.finish(at(5));
  EXPECT_EQ(world.jobs(), Names{at(5)});
  EXPECT_NE(
      std::ranges::find(world.events,
                        "MissSchedule: Missed scheduled time to start a job: 2026-01-01T00:10:00Z"),
      world.events.end());
  world.advance(minutes{4});
  EXPECT_EQ(world.jobs(), (Names{at(5), at(15)}));
}

TEST(CronJob, ReplaceDeletesTheOneThatRuns) {
  CronWorld world(R"({"schedule":"*/5 * * * *","concurrencyPolicy":"Replace"})");
  world.advance(minutes{11});
  EXPECT_EQ(world.jobs(), Names{at(10)});
  EXPECT_EQ(world.active(), Names{at(10)});
  EXPECT_EQ(world.events, (Names{"SuccessfulCreate: Created job " + at(5),
                                 "SuccessfulDelete: Deleted job " + at(5),
                                 "SuccessfulCreate: Created job " + at(10)}));
}

TEST(CronJob, ReplaceStartsNothingBesideAJobThatCannotBeDeleted) {
  CronWorld world(R"({"schedule":"*/5 * * * *","concurrencyPolicy":"Replace"})");
  world.advance(minutes{6});
  world.refuse_deletions();
  world.advance(minutes{5});
  EXPECT_EQ(world.jobs(), Names{at(5)});
  EXPECT_EQ(world.events.back(), "FailedDelete: Deleted job: no");
}

TEST(CronJob, MakesUpForTheLatestOfManyMissedTimesOnly) {
  CronWorld world(R"({"schedule":"*/5 * * * *","suspend":true})");
  world.advance(minutes{63});
  EXPECT_EQ(world.jobs(), Names{});
  world.edit("suspend", Json(false));
  EXPECT_EQ(world.jobs(), Names{at(60)});
  world.edit("suspend", Json(true));
  world.advance(minutes{600});
  EXPECT_EQ(world.jobs(), Names{at(60)});
  world.edit("suspend", Json(false));
  EXPECT_EQ(world.jobs(), (Names{at(60), at(660)}));
  EXPECT_NE(std::ranges::find_if(
                world.events,
                [](const std::string& event) { return event.starts_with("TooManyMissedTimes"); }),
            world.events.end());
}

TEST(CronJob, ADeadlineForgetsWhatIsLongPast) {
  CronWorld world(R"({"schedule":"0 * * * *","suspend":true,"startingDeadlineSeconds":30})");
  world.advance(minutes{90});
  world.edit("suspend", Json(false));
  EXPECT_EQ(world.jobs(), Names{});
  world.advance(minutes{31});
  EXPECT_EQ(world.jobs(), Names{at(120)});
}

TEST(CronJob, ARestartStartsNothingTwice) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  world.advance(minutes{6});
  const auto events = world.events.size();
  world.restart();
  world.advance(minutes{2});
  EXPECT_EQ(world.jobs(), Names{at(5)});
  EXPECT_EQ(world.active(), Names{at(5)});
  EXPECT_EQ(world.events.size(), events);
  world.advance(minutes{3});
  EXPECT_EQ(world.jobs(), (Names{at(5), at(10)}));
}

TEST(CronJob, AJobThatExistsAlreadyHasStarted) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  world.advance(minutes{6});
  const auto events = world.events.size();
  world.lose_status();
  world.restart();
  world.advance(minutes{2});
  EXPECT_EQ(world.jobs(), Names{at(5)});
  EXPECT_EQ(world.active(), Names{at(5)});
  EXPECT_EQ(api::find_string(world.status(), "lastScheduleTime"), "2026-01-01T00:05:00Z");
  EXPECT_EQ(world.events.size(), events) << world.events.back();
}

TEST(CronJob, ARefusedCreationIsTriedAgain) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  world.refuse(make_error(Reason::InternalError, "no"));
  world.advance(minutes{6});
  EXPECT_EQ(world.jobs(), Names{});
  ASSERT_FALSE(world.events.empty());
  EXPECT_EQ(world.events.front(), "FailedCreate: Error creating job: no");
  world.refuse(std::nullopt);
  world.advance(minutes{3});
  EXPECT_EQ(world.jobs(), Names{at(5)});
}

TEST(CronJob, SaysWhatItCannotUnderstand) {
  EXPECT_TRUE(CronWorld(R"({"schedule":"often"})")
                  .events.at(0)
                  .starts_with("UnparseableSchedule: unparseable schedule: \"often\" : "));
  EXPECT_EQ(CronWorld(R"({"schedule":"* * * * *","timeZone":"Mars/Base"})").events.at(0),
            "UnknownTimeZone: invalid timeZone: \"Mars/Base\": unknown time zone Mars/Base");
}

TEST(CronJob, NoticesWhenAJobGoesMissing) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  world.advance(minutes{6});
  world.lose(at(5));
  EXPECT_EQ(world.active(), Names{});
  EXPECT_EQ(world.events.back(), "MissingJob: Active job went missing: " + at(5));
}

TEST(CronJob, ReadsAZoneInFrontOfOldSchedules) {
  CronWorld world(R"({"schedule":"TZ=Asia/Tokyo 30 9 * * *"})");
  world.advance(minutes{31});
  EXPECT_EQ(world.jobs(), Names{at(30)});
}

}  // namespace
}  // namespace muster::controllers
