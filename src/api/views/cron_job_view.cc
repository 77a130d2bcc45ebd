#include "api/views/cron_job_view.h"

#include <algorithm>
#include <string_view>

#include "api/reading.h"

namespace muster::api {
namespace {

// "TZ=Europe/Berlin 0 9 * * *": how zones were named before there was a field for them.
void split_zone(CronJobView& view) {
  const std::string_view text = view.schedule;
  for (const std::string_view prefix : {"TZ=", "CRON_TZ="}) {
    if (!text.starts_with(prefix)) continue;
    const std::size_t space = std::min(text.find(' '), text.size());
    if (view.zone.empty()) view.zone = text.substr(prefix.size(), space - prefix.size());
    const std::size_t rest = text.find_first_not_of(' ', space);
    view.schedule = rest == std::string_view::npos ? std::string() : std::string(text.substr(rest));
    return;
  }
}

CronJobView::Concurrency read_concurrency(std::string_view policy) {
  if (policy == "Forbid") return CronJobView::Concurrency::Forbid;
  if (policy == "Replace") return CronJobView::Concurrency::Replace;
  return CronJobView::Concurrency::Allow;
}

}  // namespace

std::unique_ptr<CronJobView> CronJobView::read(const Object& cron_job) {
  const Json document = cron_job.document();
  auto view = std::make_unique<CronJobView>();
  const Json& spec = part_of(document, "spec");
  view->schedule = find_string(spec, "schedule");
  view->zone = find_string(spec, "timeZone");
  split_zone(*view);
  if (const auto deadline = find_integer(spec, "startingDeadlineSeconds"))
    // More than a century is no deadline, and less fits into any sum of times.
    view->starting_deadline =
        std::chrono::seconds{std::clamp<std::int64_t>(*deadline, 0, 100LL * 366 * 86'400)};
  view->concurrency = read_concurrency(find_string(spec, "concurrencyPolicy"));
  view->suspend = find_true(spec, "suspend");
  view->successful_kept = find_integer(spec, "successfulJobsHistoryLimit").value_or(3);
  view->failed_kept = find_integer(spec, "failedJobsHistoryLimit").value_or(1);
  const Json& status = part_of(document, "status");
  for (const Json& job : elements(status, "active"))
    view->active.push_back({.name = std::string(find_string(job, "name")),
                            .uid = std::string(find_string(job, "uid"))});
  view->last_schedule = parse_time(find_string(status, "lastScheduleTime"));
  view->last_success = parse_time(find_string(status, "lastSuccessfulTime"));
  return view;
}

}  // namespace muster::api
