#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace muster::api {

// When a CronJob runs: five fields of a crontab line, or a descriptor such as @daily or
// @every 1h30m.
class CronSchedule {
 public:
  // BadRequest in the words of upstream's parser.
  static Result<CronSchedule> parse(std::string_view text);

  // Of the fields, the values that match, one bit each. Sunday is 0.
  std::uint64_t minutes() const { return minutes_; }
  std::uint64_t hours() const { return hours_; }
  std::uint64_t days() const { return days_; }
  std::uint64_t months() const { return months_; }
  std::uint64_t weekdays() const { return weekdays_; }
  // Whether day of month and day of week are both restricted, so that either will do.
  bool either_day() const { return days_restricted_ && weekdays_restricted_; }
  // Set for @every: nothing else counts.
  Duration every() const { return every_; }

 private:
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t weekdays_ = 0;
  bool days_restricted_ = false;
  bool weekdays_restricted_ = false;
  Duration every_{};
};

}  // namespace muster::api
