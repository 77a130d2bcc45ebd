#include "app/job_flags.h"

#include <CLI/CLI.hpp>

namespace muster::app {

void add_job_flags(CLI::App& verb, JobFlags& flags) {
  verb.add_option("--job-workloads", flags.workloads,
                  "Which Jobs get a Workload and a PodGroup: all, or those with spec.scheduling")
      ->check(CLI::IsMember({"all", "requested"}))
      ->capture_default_str();
  verb.add_option(
          "--job-gang-default", flags.gang_default,
          "Which Jobs without spec.scheduling are gangs: none, or Indexed ones that run all "
          "their pods at once")
      ->check(CLI::IsMember({"none", "indexed"}))
      ->capture_default_str();
}

workload::JobOptions job_options(const JobFlags& flags) {
  workload::JobOptions options;
  options.group_all = flags.workloads == "all";
  options.gang_for_indexed = flags.gang_default == "indexed";
  return options;
}

}  // namespace muster::app
