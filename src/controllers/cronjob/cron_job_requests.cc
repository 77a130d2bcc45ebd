#include "controllers/cronjob/cron_job_requests.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "api/reading.h"
#include "base/check.h"
#include "client/client.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

const api::Kind& batch_kind(std::string_view name) {
  const api::Kind* kind = api::find_kind("batch", name);
  CHECK(kind != nullptr);
  return *kind;
}

Json owner_reference(const api::Object& cron_job) {
  return JsonObject{{"apiVersion", "batch/v1"},     {"kind", "CronJob"},
                    {"name", cron_job.meta().name}, {"uid", cron_job.meta().uid},
                    {"controller", true},           {"blockOwnerDeletion", true}};
}

Json time_or_null(const std::optional<Time>& time) {
  return time ? Json(format_time(*time)) : Json(nullptr);
}

}  // namespace

const api::Kind& cron_job_kind() {
  static const api::Kind& kKind = batch_kind("CronJob");
  return kKind;
}

const api::Kind& job_kind() {
  static const api::Kind& kKind = batch_kind("Job");
  return kKind;
}

std::string job_name(const api::Object& cron_job, Time run) {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(run.time_since_epoch());
  return fmt::format("{}-{}", cron_job.meta().name, minutes.count());
}

api::Request create_job_request(const api::Object& cron_job, Time run, const api::TimeZone& zone) {
  const Json document = cron_job.document();
  const Json& from = api::part_of(api::part_of(document, "spec"), "jobTemplate");
  const Json& metadata = api::part_of(from, "metadata");
  JsonObject annotations = api::members(metadata, "annotations");
  annotations[kScheduledAnnotation] = api::format_local_time(run, zone);
  JsonObject made{{"name", job_name(cron_job, run)},
                  {"namespace", cron_job.meta().name_space},
                  {"labels", api::members(metadata, "labels")},
                  {"annotations", std::move(annotations)},
                  {"ownerReferences", JsonArray{owner_reference(cron_job)}}};
  return client::create_request(
      job_kind(), cron_job.meta().name_space,
      JsonObject{{"metadata", std::move(made)}, {"spec", api::part_of(from, "spec")}});
}

api::Request status_request(const api::Object& cron_job, const CronJobStatus& status) {
  JsonArray active;
  for (const api::CronJobView::ActiveJob& job : status.active)
    active.push_back(JsonObject{{"apiVersion", "batch/v1"},
                                {"kind", "Job"},
                                {"name", job.name},
                                {"namespace", cron_job.meta().name_space},
                                {"uid", job.uid}});
  JsonObject body{{"active", active.empty() ? Json(nullptr) : Json(std::move(active))},
                  {"lastScheduleTime", time_or_null(status.last_schedule)},
                  {"lastSuccessfulTime", time_or_null(status.last_success)}};
  // The uid makes it a conflict on a namesake.
  return client::patch_request(cron_job_kind(), cron_job.meta().name_space, cron_job.meta().name,
                               "status", api::PatchType::Merge,
                               JsonObject{{"metadata", JsonObject{{"uid", cron_job.meta().uid}}},
                                          {"status", std::move(body)}});
}

}  // namespace muster::controllers
