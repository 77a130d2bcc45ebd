#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "base/time.h"

namespace muster::api {

// The fields of a CronJob that its controller reads; the template of its Jobs is read from the
// document when one is made.
struct CronJobView : View {
  static std::unique_ptr<CronJobView> read(const Object& cron_job);

  enum class Concurrency : std::uint8_t { Allow, Forbid, Replace };
  struct ActiveJob {
    std::string name;
    std::string uid;
  };

  std::string schedule;  // without the zone that old ones name in front
  std::string zone;      // empty: UTC
  std::optional<std::chrono::seconds> starting_deadline;
  Concurrency concurrency = Concurrency::Allow;
  bool suspend = false;
  std::int64_t successful_kept = 3;
  std::int64_t failed_kept = 1;

  std::vector<ActiveJob> active;
  std::optional<Time> last_schedule;
  std::optional<Time> last_success;
};

}  // namespace muster::api
