#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/request.h"
#include "api/values/time_zone.h"
#include "api/views/cron_job_view.h"

// The requests of the CronJob controller.
namespace muster::controllers {

const api::Kind& cron_job_kind();
const api::Kind& job_kind();

inline constexpr std::string_view kScheduledAnnotation =
    "batch.kubernetes.io/cronjob-scheduled-timestamp";

// <cronjob>-<minutes since 1970 of the run>.
std::string job_name(const api::Object& cron_job, Time run);
// The Job of a run, from the template, owned by the CronJob.
api::Request create_job_request(const api::Object& cron_job, Time run, const api::TimeZone& zone);

struct CronJobStatus {
  std::vector<api::CronJobView::ActiveJob> active;
  std::optional<Time> last_schedule;
  std::optional<Time> last_success;
};
api::Request status_request(const api::Object& cron_job, const CronJobStatus& status);

}  // namespace muster::controllers
