#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "controllers/controllers_testing.h"
#include "controllers/cronjob/cron_job_controller.h"
#include "controllers/cronjob/cron_job_requests.h"

// For this room's tests only.
namespace muster::controllers {

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
    api::JsonObject& status = api::ensure_object(jobs_.at(name).as_object(), "status");
    status["conditions"] = api::JsonArray{api::JsonObject{{"type", condition}, {"status", "True"}}};
    if (condition == "Complete") status["completionTime"] = format_time(now_);
    show(job_kind(), jobs_.at(name), Type::Modified);
    settle();
  }
  // Of the CronJob's metadata.
  void edit_metadata(std::string_view member, const api::Json& value) {
    cron_job_.as_object()["metadata"].as_object()[member] = value;
    show(cron_job_kind(), cron_job_, Type::Modified);
    settle();
  }
  // A Job of the CronJob that somebody else made.
  void add_job(const std::string& name) {
    jobs_[name] = api::parse_json(fmt::format(
                                      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"u-{0}",
        "ownerReferences":[{{"apiVersion":"batch/v1","kind":"CronJob","name":"tick",
        "uid":"cron-uid","controller":true}}]}}}})",
                                      name))
                      ->value;
    show(job_kind(), jobs_.at(name), Type::Added);
    settle();
  }
  // As if it had never been started.
  void forget_start(const std::string& name) {
    jobs_.at(name).as_object()["status"].as_object().erase("startTime");
  }
  void edit(std::string_view member, const api::Json& value) {
    cron_job_.as_object()["spec"].as_object()[member] = value;
    show(cron_job_kind(), cron_job_, Type::Modified);
    settle();
  }
  void lose(const std::string& name) {
    const api::Json job = jobs_.at(name);
    jobs_.erase(name);
    show(job_kind(), job, Type::Deleted);
    settle();
  }
  // Creations fail with this until told otherwise.
  void refuse(std::optional<Error> error) { refusal_ = std::move(error); }
  void refuse_deletions() { keeps_jobs_ = true; }
  // The feed does not show Jobs that are made from now on.
  void hide_jobs() { hides_jobs_ = true; }
  // As if the controller had stopped before it could write its status.
  void lose_status() { cron_job_.as_object().erase("status"); }

  // Names of the Jobs there are: minutes since the start of the test.
  std::vector<std::string> jobs() const {
    std::vector<std::string> out;
    for (const auto& [name, job] : jobs_) out.push_back(name);
    return out;
  }
  const api::Json& job(const std::string& name) const { return jobs_.at(name); }
  api::Json status() const { return api::part_of(cron_job_, "status"); }
  std::vector<std::string> active() const {
    std::vector<std::string> out;
    const api::Json status_now = status();
    for (const api::Json& each : api::elements(status_now, "active"))
      out.emplace_back(api::find_string(each, "name"));
    return out;
  }
  // "reason: message" of each event, in order.
  std::vector<std::string> events;

  static std::string name_at(std::chrono::minutes since_start) {
    const auto minute =
        std::chrono::floor<std::chrono::minutes>(kStart.time_since_epoch()) + since_start;
    return fmt::format("tick-{}", minute.count());
  }

  static constexpr Time kStart{std::chrono::seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

 private:
  static api::Json document(std::string_view spec) {
    api::Json parsed = api::parse_json(spec)->value;
    api::JsonObject& members = parsed.as_object();
    if (!members.contains("jobTemplate"))
      members["jobTemplate"] =
          api::JsonObject{{"metadata", api::JsonObject{{"labels", api::JsonObject{{"app", "x"}}}}},
                          {"spec", api::JsonObject{{"parallelism", 2}}}};
    return api::JsonObject{
        {"metadata", api::JsonObject{{"name", "tick"},
                                     {"namespace", "ns"},
                                     {"uid", "cron-uid"},
                                     {"creationTimestamp", format_time(kStart)}}},
        {"spec", std::move(parsed)}};
  }

  void show(const api::Kind& kind, const api::Json& document, Type type) {
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
      const api::Json job = jobs_.at(request.name);
      jobs_.erase(request.name);
      show(job_kind(), job, Type::Deleted);
      return api::Answer{.what = api::StatusAnswer{}, .warnings = {}};
    }
    EXPECT_EQ(request.subresource, "status");
    api::JsonObject& status = api::ensure_object(cron_job_.as_object(), "status");
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
    api::Json job = request.body;
    api::JsonObject& metadata = job.as_object()["metadata"].as_object();
    const std::string name(api::text_of(metadata["name"]));
    if (jobs_.contains(name)) return fail(Reason::AlreadyExists, "jobs.batch \"{}\" exists", name);
    metadata["uid"] = fmt::format("uid-{}", ++uids_);
    api::ensure_object(job.as_object(), "status")["startTime"] = format_time(now_);
    jobs_.emplace(name, job);
    if (!hides_jobs_) show(job_kind(), job, Type::Added);
    return api::Answer{.what = api::ObjectAnswer{.object = api::Object::make(job_kind(), job),
                                                 .revision = {},
                                                 .created = true},
                       .warnings = {}};
  }

  Time now_ = kStart;
  api::Json cron_job_;
  std::map<std::string, api::Json> jobs_;
  std::optional<Error> refusal_;
  bool keeps_jobs_ = false;
  bool hides_jobs_ = false;
  std::vector<std::pair<api::Request, std::uint64_t>> sent_;
  std::unique_ptr<CronJobController> controller_;
  int uids_ = 0;
};

using Names = std::vector<std::string>;
inline std::string at(int minute) { return CronWorld::name_at(std::chrono::minutes{minute}); }

}  // namespace muster::controllers
