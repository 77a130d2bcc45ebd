#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/compiled_manifest.h"
#include "workload/job.h"

// Files of manifests, compiled without a server: what Muster would make of them.
namespace muster::workload {

struct ManifestOptions {
  std::string name_space = "default";  // of objects that name none
  JobOptions jobs = {};
};

// Reads YAML or JSON, one or more documents, with the names of 1.37 or of the proposals before it.
// Jobs, the Jobs of CronJobs, JobSets and LeaderWorkerSets become a Workload and its groups,
// Workloads the groups of their templates; other kinds stay as they are. Invalid names the
// document, the field and what is wrong, in the server's words.
Result<CompiledManifest> compile_manifest(std::string_view text, const ManifestOptions& options);

// The name given to the compiled Job of a CronJob: real ones end in the time of their run.
std::string run_of_cron_job(std::string_view cron_job);

// As a file for kubectl: YAML documents, the links as comments; a List in JSON with member `links`;
// or a drawing of what belongs to what.
std::string print_yaml(const CompiledManifest& manifest);
std::string print_json(const CompiledManifest& manifest);
std::string print_tree(const CompiledManifest& manifest);

}  // namespace muster::workload
