#include <fmt/format.h>

#include <string>

#include "api/tables/printer.h"
#include "api/values/human_duration.h"

namespace muster::api::tables {
namespace {

constexpr Column kJobColumns[] = {
    kName,
    {.name = "Status", .description = "How far the job has come."},
    {.name = "Completions", .description = "Pods that succeeded, of those wanted."},
    {.name = "Duration", .description = "How long it has run, or ran."},
    kAge,
    {.name = "Containers", .description = "Names of its containers.", .priority = 1},
    {.name = "Images", .description = "Images of its containers.", .priority = 1},
    {.name = "Selector", .description = "Labels of its pods.", .priority = 1},
};

constexpr Column kCronJobColumns[] = {
    kName,
    {.name = "Schedule", .description = "When it runs."},
    {.name = "Timezone", .description = "In which time zone."},
    {.name = "Suspend", .type = "boolean", .description = "Whether it rests."},
    {.name = "Active", .type = "integer", .description = "Jobs that run now."},
    {.name = "Last Schedule", .description = "Time since it last ran."},
    kAge,
    {.name = "Containers", .description = "Names of its containers.", .priority = 1},
    {.name = "Images", .description = "Images of its containers.", .priority = 1},
    {.name = "Selector", .description = "Labels of its pods.", .priority = 1},
};
constexpr Column kJobSetColumns[] = {
    kName,
    {.name = "TerminalState", .description = "How it ended."},
    {.name = "Restarts", .description = "How often it was started again."},
    {.name = "Completed", .description = "Whether it has completed."},
    {.name = "Suspended", .description = "Whether it rests."},
    {.name = "Ready", .description = "Jobs that are ready or have succeeded, of those wanted."},
    kAge,
};
constexpr Column kLeaderWorkerSetColumns[] = {
    kName,
    {.name = "Ready", .type = "integer", .description = "Groups that are ready."},
    {.name = "Desired", .type = "integer", .description = "Groups wanted."},
    {.name = "Up-to-date", .type = "integer", .description = "Groups of the newest template."},
    kAge,
};

std::string_view job_status(const Object& object, const Json& status) {
  for (const std::string_view type : {"Complete", "Failed"})
    if (condition_is_true(status, type)) return type;
  if (object.meta().deletion_time) return "Terminating";
  for (const std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"})
    if (condition_is_true(status, type)) return type;
  return "Running";
}

std::string completions_text(const Json& spec, const Json& status) {
  const std::int64_t succeeded = integer(status, "succeeded");
  if (is_set(spec, "completions"))
    return fmt::format("{}/{}", succeeded, integer(spec, "completions"));
  const std::int64_t parallelism = integer(spec, "parallelism");
  if (parallelism > 1) return fmt::format("{}/1 of {}", succeeded, parallelism);
  return fmt::format("{}/1", succeeded);
}

std::string duration_text(const Json& status, Time now) {
  const std::optional<Time> start = time(status, "startTime");
  if (!start) return "";
  return human_duration(time(status, "completionTime").value_or(now) - *start);
}

void print_job(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& status = part(document, "status");
  const JsonArray& containers = list(part(part(spec, "template"), "spec"), "containers");
  cells.text(object.meta().name);
  cells.text(job_status(object, status));
  cells.text(completions_text(spec, status));
  cells.text(duration_text(status, cells.now()));
  cells.age(object.meta().creation_time);
  cells.text(joined(containers, "name"));
  cells.text(joined(containers, "image"));
  cells.text(selector_text(find(spec, "selector")));
}

std::string_view switch_text(const Json& spec, std::string_view member) {
  if (!is_set(spec, member)) return "<unset>";
  return truth(spec, member) ? "True" : "False";
}

void print_cron_job(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& status = part(document, "status");
  const Json& job = part(part(spec, "jobTemplate"), "spec");
  const JsonArray& containers = list(part(part(job, "template"), "spec"), "containers");
  const std::optional<Time> last = time(status, "lastScheduleTime");
  cells.text(object.meta().name);
  cells.text(find_string(spec, "schedule"));
  cells.text_or(find_string(spec, "timeZone"), "<none>");
  cells.text(switch_text(spec, "suspend"));
  cells.number(static_cast<std::int64_t>(list(status, "active").size()));
  cells.text(last ? cells.age_text(last) : "<none>");
  cells.age(object.meta().creation_time);
  cells.text(joined(containers, "name"));
  cells.text(joined(containers, "image"));
  cells.text(selector_text(find(job, "selector")));
}

// "2/4" of the Jobs of a JobSet.
std::string ready_jobs(const Json& spec, const Json& status) {
  std::int64_t wanted = 0, ready = 0;
  for (const Json& job : list(spec, "replicatedJobs"))
    wanted += is_set(job, "replicas") ? integer(job, "replicas") : 1;
  for (const Json& job : list(status, "replicatedJobsStatus"))
    ready += integer(job, "ready") + integer(job, "succeeded");
  return fmt::format("{}/{}", ready, wanted);
}

// These two are custom resources upstream: cells stay empty where there is nothing to read.
void print_job_set(const Object& object, const Json& document, Cells& cells) {
  const Json& status = part(document, "status");
  const Json* completed = condition(status, "Completed");
  const Json& suspend = part(part(document, "spec"), "suspend");
  cells.text(object.meta().name);
  cells.text(find_string(status, "terminalState"));
  cells.text(std::to_string(integer(status, "restarts")));
  cells.text(completed == nullptr ? std::string_view() : find_string(*completed, "status"));
  cells.text(suspend.is_null() ? "" : to_text(suspend));
  cells.text(ready_jobs(part(document, "spec"), status));
  cells.age(object.meta().creation_time);
}

void print_leader_worker_set(const Object& object, const Json& document, Cells& cells) {
  const Json& status = part(document, "status");
  cells.text(object.meta().name);
  cells.number(integer(status, "readyReplicas"));
  cells.number(integer(part(document, "spec"), "replicas"));
  cells.number(integer(status, "updatedReplicas"));
  cells.age(object.meta().creation_time);
}

}  // namespace

std::span<const Printer> batch_printers() {
  static constexpr Printer kPrinters[] = {
      {"batch", "Job", kJobColumns, print_job},
      {"batch", "CronJob", kCronJobColumns, print_cron_job},
      {"jobset.x-k8s.io", "JobSet", kJobSetColumns, print_job_set},
      {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", kLeaderWorkerSetColumns,
       print_leader_worker_set},
  };
  return kPrinters;
}

}  // namespace muster::api::tables
