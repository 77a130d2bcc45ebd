#include "process_meter.h"

#include <fmt/format.h>
#include <time.h>  // NOLINT: clock_gettime is POSIX, not C++
#include <unistd.h>

#include <fstream>

namespace muster::loader {
namespace {

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

Usage usage_of(const std::vector<pid_t>& pids) {
  Usage usage;
  for (const pid_t pid : pids) {
    // Another process's CPU clock counts nanoseconds, where /proc/PID/stat counts hundredths.
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &time) == 0)
      usage.cpu_s += seconds(time);
    std::ifstream file(fmt::format("/proc/{}/statm", pid));
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    if (file >> total >> resident)
      usage.rss_bytes += resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return usage;
}

double own_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return seconds(time);
}

}  // namespace muster::loader
