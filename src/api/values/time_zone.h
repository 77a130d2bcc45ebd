#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster::api {

// What clocks show in one time zone, at any moment. A value, read once from a file of the IANA
// database; asking it costs a search among the changes of the clock.
class TimeZone {
 public:
  TimeZone() = default;  // UTC

  // From the bytes of a TZif file, version 2 or later. BadRequest if they are not one.
  static Result<TimeZone> parse(std::string_view bytes);

  // How far clocks are ahead of UTC, and until when that holds.
  struct Span {
    std::chrono::seconds offset{};
    Time until = Time::max();
  };
  Span at(Time time) const;

 private:
  // When clocks change in years after the last recorded change: the Sunday that POSIX calls M3.5.0.
  struct YearlyChange {
    unsigned month = 1;
    unsigned week = 1;  // 5: the last
    unsigned weekday = 0;
    std::chrono::seconds time{};  // after midnight, by the clock before the change
    Time in(std::chrono::year year, std::chrono::seconds offset_before) const;
  };
  struct Summer {
    std::chrono::seconds offset{};
    YearlyChange begin, end;
  };
  // "CET-1CEST,M3.5.0,M10.5.0/3". What cannot be read leaves the zone without summer time.
  void read_rule(std::string_view text);
  static std::optional<YearlyChange> read_change(std::string_view& text);
  Span by_rule(Time time) const;

  struct Change {
    Time at;
    std::chrono::seconds offset;
  };
  std::chrono::seconds first_offset_{};  // before the first change
  std::vector<Change> changes_;          // in order
  std::chrono::seconds standard_{};      // after the last change
  std::optional<Summer> summer_;         // after the last change
};

// Finds a zone by its IANA name; NotFound if there is none.
using FindTimeZone = std::function<Result<TimeZone>(const std::string& name)>;
// Reads the database of the machine (/usr/share/zoneinfo), each zone when it is first asked for.
Result<TimeZone> read_system_time_zone(const std::string& name);

// "2026-03-29T03:30:00+02:00": the moment as clocks of the zone show it.
std::string format_local_time(Time time, const TimeZone& zone);

}  // namespace muster::api
