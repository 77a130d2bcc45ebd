#include "app/process_metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace muster::app {
namespace {

// The fields of /proc/self/stat after the name of the program, which may hold blanks.
std::vector<std::string> stat_fields() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

// When the machine started, in seconds since 1970.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word)
    if (word == "btime" && file >> seconds) return seconds;
  return std::nullopt;
}

void add(std::string& out, std::string_view name, std::string_view type, std::string_view help,
         double value) {
  out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3:.17g}\n", name, help, type, value);
}

}  // namespace

std::string process_metrics() {
  std::string out;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    add(out, "process_cpu_seconds_total", "counter", "CPU time of the process in seconds.",
        seconds(usage.ru_utime) + seconds(usage.ru_stime));
  }
  // Positions as proc(5) numbers them, less the two that come before the name's end.
  const std::vector<std::string> stat = stat_fields();
  const auto number = [&](std::size_t field) {
    return std::strtod(stat[field - 3].c_str(), nullptr);
  };
  if (stat.size() > 21) {
    add(out, "process_threads", "gauge", "Threads of the process.", number(20));
    add(out, "process_virtual_memory_bytes", "gauge", "Address space of the process.", number(23));
    add(out, "process_resident_memory_bytes", "gauge", "Memory of the process.",
        number(24) * static_cast<double>(sysconf(_SC_PAGESIZE)));
    if (const std::optional<double> boot = boot_time())
      add(out, "process_start_time_seconds", "gauge", "When the process started, since 1970.",
          *boot + number(22) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (!error)
    add(out, "process_open_fds", "gauge", "Open files and sockets.",
        static_cast<double>(std::distance(files, std::filesystem::directory_iterator())));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
    add(out, "process_max_fds", "gauge", "Files and sockets that may be open.",
        static_cast<double>(limit.rlim_cur));
  return out;
}

}  // namespace muster::app
