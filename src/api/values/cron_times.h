#pragma once

#include <cstddef>
#include <optional>

#include "api/values/cron_schedule.h"
#include "api/values/time_zone.h"
#include "base/time.h"

// When a schedule runs, by the clocks of a zone: at every minute whose local time it names. A time
// that clocks skip in spring is skipped; one that they show twice in autumn runs twice.
namespace muster::api {

// The first run after this moment; nullopt if there is none within five years.
std::optional<Time> next_run(const CronSchedule& schedule, const TimeZone& zone, Time after);

// The last run in (after, until]; nullopt if there is none.
std::optional<Time> latest_run(const CronSchedule& schedule, const TimeZone& zone, Time after,
                               Time until);

// How many runs there are in (after, until]; at most `most`.
std::size_t count_runs(const CronSchedule& schedule, const TimeZone& zone, Time after, Time until,
                       std::size_t most);

}  // namespace muster::api
