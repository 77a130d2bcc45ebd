#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// A moment in UTC, and a span of time. Components are given the time; they never ask for it.
using Time = std::chrono::sys_time<std::chrono::microseconds>;
using Duration = std::chrono::microseconds;

// Where the time comes from. Only app/ and sim/ implement it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override;
};

// "2006-01-02T15:04:05Z": whole seconds, as Kubernetes writes Time.
std::string format_time(Time time);
// "2006-01-02T15:04:05.000000Z": as Kubernetes writes MicroTime.
std::string format_micro_time(Time time);
// Any RFC 3339 text, with fractions (cut to microseconds) and offsets; nullopt if it is not.
std::optional<Time> parse_time(std::string_view text);

}  // namespace muster
