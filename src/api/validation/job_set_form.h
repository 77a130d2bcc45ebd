#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace muster::api {

// In which groups the Jobs of a JobSet are scheduled: the combined effect of spec.scheduling, the
// `scheduling` of its Job templates and exclusive placement. Both the API's rules and the builder
// of Workloads start from it. Refers to the document it was read from.
//
//   level 1, alone          one group of pods for the whole set
//   entries (level 2)       one group of pods for each, or with `job` one for each Job
//   templates               one group for each Job whose template says `scheduling`
//   level 1 and parts       a group of groups around them
struct JobSetForm {
  // One of spec.replicatedJobs.
  struct Job {
    std::string_view name;
    std::int64_t replicas = 1;
    std::int64_t pods = 1;  // of each Job, at a time
    std::string_view priority_class = {};
    const Json* scheduling = nullptr;     // in its template; may be null
    bool names_group = false;             // its pods name a group of the user's
    std::string_view exclusive = {};      // label of the domains that it wants for itself
    std::vector<std::size_t> after = {};  // those that must come first

    bool runs() const { return replicas > 0 && pods > 0; }
  };
  // What is scheduled as one below the whole: the Jobs of some replicatedJobs.
  struct Part {
    std::vector<std::size_t> jobs = {};  // indexes of JobSetForm::jobs
    const Json* whole = nullptr;         // settings for it as a whole; may be null
    const Json* each = nullptr;          // settings for each of its Jobs; may be null
    std::string whole_path = {};
    std::string each_path = {};
    bool per_job = false;    // each Job is a group of its own
    bool composite = false;  // these are below a group of groups
    bool gang = true;        // the policy if none is set
  };
  enum class Source : std::uint8_t { None, Level1, Entries, Templates };

  Source source = Source::None;
  bool in_turn = false;          // not all Jobs start at once
  bool root = false;             // a group of groups around all parts
  const Json* level1 = nullptr;  // spec.scheduling; may be null
  std::vector<Job> jobs = {};
  std::vector<Part> parts = {};

  bool grouped() const { return source != Source::None; }
  // Jobs of a part, pods of a part.
  std::int64_t count_jobs(const Part& part) const;
  std::int64_t count_pods(const Part& part) const;
  // Groups directly below the root.
  std::int64_t count_children() const;
  // Without pods nothing is scheduled.
  bool runs(const Part& part) const { return count_pods(part) > 0; }
};

JobSetForm read_job_set_form(const Json& set);

// Whether a block of scheduling says anything about the group itself.
bool says_group(const Json* block);

inline constexpr std::string_view kExclusiveTopologyAnnotation =
    "alpha.jobset.sigs.k8s.io/exclusive-topology";
// The label of the domains that each Job of a template wants for itself; empty if none.
std::string_view exclusive_topology(const Json& set, const Json& job_template);

// Who makes the groups of Jobs: "centralized" (the default) is the JobSet's controller, "delegated"
// the Job's.
inline constexpr std::string_view kGroupManagementAnnotation =
    "scheduling.muster.dev/group-management";
bool delegates_groups(const Json& set);

}  // namespace muster::api
