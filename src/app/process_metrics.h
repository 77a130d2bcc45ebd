#pragma once

#include <string>

namespace muster::app {

// What the kernel says about this process, under the names that Prometheus clients use: CPU time,
// memory, open files, threads, start. Lines for /metrics; what cannot be read is left out.
std::string process_metrics();

}  // namespace muster::app
