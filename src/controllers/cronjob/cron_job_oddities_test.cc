#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "api/reading.h"
#include "controllers/cronjob/cron_job_controller.h"
#include "controllers/cronjob/cron_world_testing.h"

namespace muster::controllers {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;

std::ptrdiff_t count_of(const CronWorld& world, std::string_view reason) {
  return std::ranges::count_if(world.events,
                               [&](const std::string& event) { return event.starts_with(reason); });
}

TEST(CronJob, AJobThatTheFeedDoesNotShowYetIsActiveForAMinute) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  world.hide_jobs();
  world.advance(minutes{5} + seconds{30});
  EXPECT_EQ(world.active(), Names{at(5)});
  world.edit("suspend", Json(true));
  EXPECT_EQ(world.active(), Names{at(5)});
  world.advance(minutes{1});
  world.edit("suspend", Json(false));
  EXPECT_EQ(world.active(), Names{});
  EXPECT_EQ(world.events.back(), "MissingJob: Active job went missing: " + at(5));
}

TEST(CronJob, ARunStartsUntilItsDeadlineAndNotAfter) {
  const auto jobs_at = [](Duration late) {
    CronWorld world(R"({"schedule":"0 * * * *","suspend":true,"startingDeadlineSeconds":30})");
    world.advance(minutes{60} + late);
    world.edit("suspend", Json(false));
    return world.jobs();
  };
  EXPECT_EQ(jobs_at(seconds{30}), Names{at(60)});
  EXPECT_EQ(jobs_at(seconds{31}), Names{});
}

TEST(CronJob, MoreThanAHundredMissedRunsAreTooMany) {
  const auto too_many = [](int missed, std::string_view more = "") {
    CronWorld world(fmt::format(R"({{"schedule":"* * * * *","suspend":true{}}})", more));
    world.advance(minutes{missed});
    world.edit("suspend", Json(false));
    EXPECT_EQ(world.jobs(), Names{at(missed)}) << "it starts all the same";
    return count_of(world, "TooManyMissedTimes");
  };
  EXPECT_EQ(too_many(100), 0);
  EXPECT_EQ(too_many(101), 1);
  EXPECT_EQ(too_many(300, R"(,"startingDeadlineSeconds":600)"), 0) << "older ones do not count";
}

TEST(CronJob, WhyARunDoesNotStartIsSaidOncePerRun) {
  CronWorld forbids(R"({"schedule":"*/5 * * * *","concurrencyPolicy":"Forbid"})");
  forbids.advance(minutes{11});
  forbids.edit("successfulJobsHistoryLimit", Json(5));
  forbids.edit("successfulJobsHistoryLimit", Json(6));
  EXPECT_EQ(count_of(forbids, "JobAlreadyActive"), 1);
  CronWorld late(R"({"schedule":"0 * * * *","suspend":true,"startingDeadlineSeconds":30})");
  late.advance(minutes{70});
  late.edit("suspend", Json(false));
  late.edit("successfulJobsHistoryLimit", Json(6));
  EXPECT_EQ(count_of(late, "MissSchedule"), 1);
}

TEST(CronJob, NothingIsSaidOfAFailureInANamespaceThatEnds) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  Error error = make_error(Reason::Forbidden, "no");
  error.causes.push_back({.type = "NamespaceTerminating", .field = "", .message = ""});
  world.refuse(error);
  world.advance(minutes{6});
  EXPECT_EQ(world.events, Names{});
}

TEST(CronJob, WhoIsBeingDeletedStartsNothing) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  world.edit_metadata("deletionTimestamp", Json("2026-01-01T00:01:00Z"));
  world.advance(minutes{6});
  EXPECT_EQ(world.jobs(), Names{});
}

TEST(CronJob, AJobThatItDidNotMakeIsSaidAndNotActive) {
  CronWorld world(R"({"schedule":"0 0 1 1 *"})");
  world.add_job("stranger");
  EXPECT_EQ(world.active(), Names{});
  EXPECT_EQ(
      world.events,
      Names{"UnexpectedJob: Saw a job that the controller did not create or forgot: stranger"});
}

TEST(CronJob, TheLatestSuccessIsKeptInWhateverOrderJobsEnd) {
  CronWorld world(R"({"schedule":"* * * * *","successfulJobsHistoryLimit":9})");
  world.advance(minutes{2} + seconds{1});
  world.finish(at(2));
  EXPECT_EQ(api::find_string(world.status(), "lastSuccessfulTime"), "2026-01-01T00:02:01Z");
  world.advance(seconds{10});
  world.finish(at(1), "Failed");
  EXPECT_EQ(api::find_string(world.status(), "lastSuccessfulTime"), "2026-01-01T00:02:01Z");
  EXPECT_EQ(
      count_of(world, "SawCompletedJob: Saw completed job: " + at(2) + ", condition: Complete"), 1);
  world.lose(at(2));
  EXPECT_EQ(api::find_string(world.status(), "lastSuccessfulTime"), "2026-01-01T00:02:01Z")
      << "the Job is gone, its success was";
}

TEST(CronJob, WithoutHistoryEveryEndedJobIsDeleted) {
  CronWorld world(
      R"({"schedule":"* * * * *","successfulJobsHistoryLimit":0,"failedJobsHistoryLimit":0})");
  world.advance(minutes{2} + seconds{1});
  world.finish(at(1));
  world.finish(at(2), "Failed");
  EXPECT_EQ(world.jobs(), Names{});
  EXPECT_EQ(count_of(world, "SuccessfulDelete"), 2);
}

TEST(CronJob, OneThatWasMadeAgainKnowsNothingOfTheOneBefore) {
  CronWorld world(R"({"schedule":"*/5 * * * *"})");
  world.advance(minutes{6});
  ASSERT_EQ(world.active(), Names{at(5)});
  world.edit("suspend", Json(true));
  world.lose_status();
  world.edit_metadata("uid", Json("another"));
  EXPECT_EQ(world.active(), Names{});
  EXPECT_EQ(world.status(), Json(nullptr)) << "and not when the other one ran";
}

}  // namespace
}  // namespace muster::controllers
