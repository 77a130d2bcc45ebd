#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/job.h"
#include "api/validation/job_rules.h"
#include "api/validation/object_meta.h"
#include "api/values/cron_schedule.h"
#include "api/values/time_zones.h"

namespace muster::api {
namespace {

constexpr std::size_t kCronJobNameMax = 52;  // leaves room for the minute in a Job's name
const FieldPath kSpec("spec");

const Json& template_spec(const Json& cron_job) {
  return part_of(part_of(part_of(cron_job, "spec"), "jobTemplate"), "spec");
}

// A schedule that named its zone before there was a field for that may go on doing so.
void validate_schedule(const Json& spec, const Json* old_spec, FieldErrors& errors) {
  const auto names_zone = [](std::string_view schedule) {
    return schedule.find("TZ") != std::string_view::npos;
  };
  const FieldPath path = kSpec.child("schedule");
  const std::string_view schedule = find_string(spec, "schedule");
  if (schedule.empty()) return errors.required(path);
  const bool zoned = schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=");
  const std::string_view times =
      zoned ? schedule.substr(std::min(schedule.find(' ') + 1, schedule.size())) : schedule;
  if (const auto parsed = CronSchedule::parse(times); !parsed)
    errors.invalid(path, schedule, parsed.error().message);
  if (!names_zone(schedule)) return;
  if (old_spec == nullptr || !names_zone(find_string(*old_spec, "schedule")))
    errors.invalid(path, schedule,
                   "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  else if (find_set(spec, "timeZone") != nullptr)
    errors.invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
}

bool is_local(std::string_view name) {
  constexpr std::string_view kLocal = "local";
  return std::ranges::equal(name, kLocal, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

void validate_time_zone(const Json& spec, FieldErrors& errors) {
  const Json* zone = find_set(spec, "timeZone");
  if (zone == nullptr) return;
  const FieldPath path = kSpec.child("timeZone");
  const std::string_view name = text_of(*zone);
  if (name.empty())
    errors.invalid(path, name, "timeZone must be nil or non-empty string");
  else if (is_local(name))
    errors.invalid(path, name,
                   "timeZone must be an explicit time zone as defined in "
                   "https://www.iana.org/time-zones");
  else if (!is_time_zone(name))
    errors.invalid(path, name, fmt::format("unknown time zone {}", name));
}

void validate_cron_job_spec(const Json& now, const Json* old, const Gates& gates,
                            FieldErrors& errors) {
  constexpr std::string_view kPolicies[] = {"Allow", "Forbid", "Replace"};
  const Json& spec = part_of(now, "spec");
  const Json* before = old == nullptr ? nullptr : &part_of(*old, "spec");
  validate_schedule(spec, before, errors);
  not_negative(spec, {"startingDeadlineSeconds"}, kSpec, errors);
  if (before == nullptr || !same_meaning(find(spec, "timeZone"), find(*before, "timeZone")))
    validate_time_zone(spec, errors);
  validate_required_word(spec, "concurrencyPolicy", kPolicies, kSpec, errors);
  const FieldPath job_path("spec.jobTemplate.spec");
  const Json& job = template_spec(now);
  validate_job_spec(job, job_path, errors);
  if (find_set(job, "selector") != nullptr)
    errors.invalid(job_path.child("selector"), part_of(job, "selector"),
                   "`selector` will be auto-generated");
  if (find_true(job, "manualSelector")) {
    constexpr std::string_view kUnset[] = {"nil", "false"};
    errors.not_supported(job_path.child("manualSelector"), Json(true), kUnset);
  }
  not_negative(spec, {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"}, kSpec, errors);
  validate_job_scheduling(job, old == nullptr ? nullptr : &template_spec(*old), JobForm::Template,
                          gates, job_path, errors);
}

}  // namespace

void default_cron_job(JsonObject& document) {
  JsonObject& spec = ensure_object(document, "spec");
  JsonObject& job_template = ensure_object(spec, "jobTemplate");
  default_job_spec(ensure_object(job_template, "spec"));
}

void drop_disabled_cron_job_fields(Json& now, const Json* old, const Gates& gates) {
  Json* job_template = ensure_object(now.get_object(), "spec").if_contains("jobTemplate");
  if (job_template == nullptr || !job_template->is_object()) return;
  drop_disabled_job_fields(
      *job_template, old == nullptr ? nullptr : &part_of(part_of(*old, "spec"), "jobTemplate"),
      gates);
}

FieldErrors validate_cron_job(const Json& cron_job, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta(cron_job, {}, errors);
  validate_cron_job_spec(cron_job, nullptr, gates, errors);
  const std::string_view name = find_string(part_of(cron_job, "metadata"), "name");
  if (name.size() > kCronJobNameMax)
    errors.invalid(FieldPath("metadata.name"), name,
                   fmt::format("must be no more than {} characters", kCronJobNameMax));
  return errors;
}

FieldErrors validate_cron_job_update(const Json& now, const Json& old, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_cron_job_spec(now, &old, gates, errors);
  return errors;
}

}  // namespace muster::api
