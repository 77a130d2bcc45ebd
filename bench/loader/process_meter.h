#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace muster::loader {

// What the server's processes have used so far; zero where they are not on this machine.
struct Usage {
  double cpu_s = 0;
  std::uint64_t rss_bytes = 0;
};
Usage usage_of(const std::vector<pid_t>& pids);

// The same for the loader itself.
double own_cpu_s();

}  // namespace muster::loader
