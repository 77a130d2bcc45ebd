#pragma once

#include <cstdint>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/object.h"
#include "base/result.h"
#include "workload/builder.h"
#include "workload/delegation.h"

// Jobs (batch/v1) as workloads. `job` is a Job's document with metadata and spec.
namespace muster::workload {

struct JobOptions {
  api::Gates gates = {};
  // False: only Jobs with spec.scheduling are grouped.
  bool group_all = true;
  // Gangs for Indexed Jobs that say nothing and run all their pods at once (completions =
  // parallelism > 1).
  bool gang_for_indexed = false;
};

// Who makes the scheduling objects of a Job.
enum class JobRole : std::uint8_t {
  Ungrouped,  // nobody: its pods are scheduled one by one, or are in a group of their own choice
  Root,       // the Job's controller makes Workload and PodGroup
  Delegated,  // the owner made the Workload, the Job's controller makes the PodGroup
};
struct JobGrouping {
  JobRole role = JobRole::Ungrouped;
  Delegation delegation = {};  // of a delegated Job
};
// The part of the spec that decides the role.
struct JobFacts {
  bool says_scheduling = false;  // spec.scheduling
  bool pods_name_group = false;  // spec.template.spec.schedulingGroup: the user groups the pods
};
JobFacts job_facts(const api::Json& job);
// A Job of a CronJob is a root; a Job of anybody else is delegated if it carries the annotation
// scheduling.k8s.io/group-template-name, and ungrouped otherwise.
JobGrouping grouping_of(const api::ObjectMeta& meta, const JobFacts& facts,
                        const JobOptions& options);

// The one item of a Job: Basic unless the user asks for a gang, whose minimum follows parallelism
// unless it is given; the priority class of its pods.
Item job_item(const api::Json& job, const JobOptions& options);

// The minimum of a gang of this Job: the one given, otherwise parallelism, at least 1.
std::int32_t job_gang_minimum(const api::Json& job);

// The Workload of a root Job and the PodGroup of its one template; documents for create requests.
// `workload` is what the API returned, with its uid: the PodGroup is owned by both.
Result<api::Json> job_workload(const api::Json& job, const JobOptions& options);
Result<api::Json> job_pod_group(const api::Json& job, const api::Json& workload);

// The PodGroup of a delegated Job, from a template at any depth of its owner's Workload. It is
// owned by the Job alone and has a name of its own, so that Jobs of one template do not collide.
Result<api::Json> delegated_pod_group(const api::Json& job, const Delegation& delegation,
                                      const api::Json& workload);

}  // namespace muster::workload
