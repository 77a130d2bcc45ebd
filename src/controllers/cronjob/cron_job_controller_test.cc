#include "controllers/cronjob/cron_job_controller.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "controllers/controllers_testing.h"
#include "controllers/cronjob/cron_job_requests.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonObject;
using std::chrono::minutes;
using std::chrono::seconds;

// A controller and the part of an API that it talks to, under virtual time: what it sends is done
// at once and shown to it at once, unless a test says otherwise.
class CronWorld {
 public:
  explicit CronWorld(std::string_view spec) : cron_job_(document(spec)) {
    restart();
    show(cron_job_kind(), cron_job_, Type::Added);
    settle();
  }

  // Another process: knows nothing but what is stored.
  void restart() {
    controller_ = std::make_unique<CronJobController>(
        api::read_system_time_zone,
        client::ComponentContext{.send = [this](api::Request request, std::uint64_t ticket) {
          sent_.emplace_back(std::move(request), ticket);
        }});
    if (!jobs_.empty() || now_ != kStart) {
      show(cron_job_kind(), cron_job_, Type::Added);
      for (const auto& [name, job] : jobs_) show(job_kind(), job, Type::Added);
    }
    controller_->apply(client::Synced{}, now_);
  }

  void advance(Duration duration) {
    const Time end = now_ + duration;
    settle();
    for (auto next = controller_->next_deadline(); next && *next <= end;
         next = controller_->next_deadline()) {
      now_ = std::max(now_, *next);
      settle();
    }
    now_ = end;
  }

  void finish(const std::string& name, std::string_view condition = "Complete") {
    JsonObject& status = api::ensure_object(jobs_.at(name).as_object(), "status");
    status["conditions"] = api::JsonArray{JsonObject{{"type", condition}, {"status", "True"}}};
    if (condition == "Complete") status["completionTime"] = format_time(now_);
    show(job_kind(), jobs_.at(name), Type::Modified);
    settle();
  }
  // As if it had never been started.
  void forget_start(const std::string& name) {
    jobs_.at(name).as_object()["status"].as_object().erase("startTime");
  }
  void edit(std::string_view member, const Json& value) {
    cron_job_.as_object()["spec"].as_object()[member] = value;
    show(cron_job_kind(), cron_job_, Type::Modified);
    settle();
  }
  void lose(const std::string& name) {
    const Json job = jobs_.at(name);
    jobs_.erase(name);
    show(job_kind(), job, Type::Deleted);
    settle();
  }
  // Creations fail with this until told otherwise.
  void refuse(std::optional<Error> error) { refusal_ = std::move(error); }
  void refuse_deletions() { keeps_jobs_ = true; }
  // As if the controller had stopped before it could write its status.
  void lose_status() { cron_job_.as_object().erase("status"); }

  // Names of the Jobs there are: minutes since the start of the test.
  std::vector<std::string> jobs() const {
    std::vector<std::string> out;
    for (const auto& [name, job] : jobs_) out.push_back(name);
    return out;
  }
  const Json& job(const std::string& name) const { return jobs_.at(name); }
  Json status() const { return api::part_of(cron_job_, "status"); }
  std::vector<std::string> active() const {
    std::vector<std::string> out;
    const Json status_now = status();
    for (const Json& each : api::elements(status_now, "active"))
      out.emplace_back(api::find_string(each, "name"));
    return out;
  }
  // "reason: message" of each event, in order.
  std::vector<std::string> events;

  static std::string name_at(minutes since_start) {
    const auto minute = std::chrono::floor<minutes>(kStart.time_since_epoch()) + since_start;
    return fmt::format("tick-{}", minute.count());
  }

  static constexpr Time kStart{seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

 private:
  static Json document(std::string_view spec) {
    Json parsed = api::parse_json(spec)->value;
    JsonObject& members = parsed.as_object();
    if (!members.contains("jobTemplate"))
      members["jobTemplate"] =
          JsonObject{{"metadata", JsonObject{{"labels", JsonObject{{"app", "x"}}}}},
                     {"spec", JsonObject{{"parallelism", 2}}}};
    return JsonObject{{"metadata", JsonObject{{"name", "tick"},
                                              {"namespace", "ns"},
                                              {"uid", "cron-uid"},
                                              {"creationTimestamp", format_time(kStart)}}},
                      {"spec", std::move(parsed)}};
  }

  void show(const api::Kind& kind, const Json& document, Type type) {
    controller_->apply(client::Event{.type = type, .object = api::Object::make(kind, document)},
                       now_);
  }

  void settle() {
    for (;;) {
      const std::size_t done = controller_->run_once(now_, 100);
      const auto sent = std::exchange(sent_, {});
      if (done == 0 && sent.empty()) return;
      for (const auto& [request, ticket] : sent)
        controller_->apply(client::Called{.ticket = ticket, .outcome = answer(request)}, now_);
    }
  }

  client::Outcome answer(const api::Request& request) {
    if (request.kind == &api::kinds::event()) {
      if (request.verb == api::Verb::Create)
        events.push_back(fmt::format("{}: {}", api::find_string(request.body, "reason"),
                                     api::find_string(request.body, "message")));
      return api::Answer{.what = api::StatusAnswer{}, .warnings = {}};
    }
    if (request.verb == api::Verb::Create) return create(request);
    if (request.verb == api::Verb::Delete) {
      EXPECT_EQ(request.remove.propagation_policy, "Background");
      if (!jobs_.contains(request.name)) return fail(Reason::NotFound, "gone");
      if (keeps_jobs_) return fail(Reason::Forbidden, "no");
      const Json job = jobs_.at(request.name);
      jobs_.erase(request.name);
      show(job_kind(), job, Type::Deleted);
      return api::Answer{.what = api::StatusAnswer{}, .warnings = {}};
    }
    EXPECT_EQ(request.subresource, "status");
    JsonObject& status = api::ensure_object(cron_job_.as_object(), "status");
    for (const auto& member : api::members(request.body, "status"))
      if (member.value().is_null())
        status.erase(member.key());
      else
        status[member.key()] = member.value();
    show(cron_job_kind(), cron_job_, Type::Modified);
    return api::Answer{.what = api::StatusAnswer{}, .warnings = {}};
  }

  client::Outcome create(const api::Request& request) {
    if (refusal_) return fail(*refusal_);
    Json job = request.body;
    JsonObject& metadata = job.as_object()["metadata"].as_object();
    const std::string name(api::text_of(metadata["name"]));
    if (jobs_.contains(name)) return fail(Reason::AlreadyExists, "jobs.batch \"{}\" exists", name);
    metadata["uid"] = fmt::format("uid-{}", ++uids_);
    api::ensure_object(job.as_object(), "status")["startTime"] = format_time(now_);
    jobs_.emplace(name, job);
    show(job_kind(), job, Type::Added);
    return api::Answer{.what = api::ObjectAnswer{.object = api::Object::make(job_kind(), job),
                                                 .revision = {},
                                                 .created = true},
                       .warnings = {}};
  }

  Time now_ = kStart;
  Json cron_job_;
  std::map<std::string, Json> jobs_;
  std::optional<Error> refusal_;
  bool keeps_jobs_ = false;
  std::vector<std::pair<api::Request, std::uint64_t>> sent_;
  std::unique_ptr<CronJobController> controller_;
  int uids_ = 0;
};

using Names = std::vector<std::string>;
std::string at(int minute) { return CronWorld::name_at(minutes{minute}); }

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
