#pragma once

#include <string>

#include "workload/job.h"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}  // namespace CLI

namespace muster::app {

// Which Jobs are grouped, and how, if they do not say so themselves.
struct JobFlags {
  std::string workloads = "all";
  std::string gang_default = "none";
};
void add_job_flags(CLI::App& verb, JobFlags& flags);
workload::JobOptions job_options(const JobFlags& flags);

}  // namespace muster::app
