#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/views/job_view.h"
#include "workload/job.h"

namespace muster::controllers {

// The existing objects that schedule the pods of a Job together.
struct GroupingState {
  const api::ObjectMeta& meta;  // the Job's
  const api::JobView& job;
  workload::JobGrouping grouping;
  // Those that refer to the Job, or to the owner of a delegated one.
  std::vector<api::ObjectPtr> workloads = {};
  std::vector<api::ObjectPtr> groups = {};  // PodGroups that the Job controls
  bool has_pods = false;
  bool has_ungrouped_pods = false;
  bool has_unended_pods = false;
};

// The next step towards it. Steps are taken one by one, each once the effect of the one before has
// been seen, so that after a restart the controller continues where it was.
//
//   Workload ──▶ PodGroup ──▶ pods     (a Job that starts)
//   pods gone ──▶ PodGroup deleted     (a Job that is suspended; the Workload stays)
struct GroupingStep {
  enum class What : std::uint8_t {
    Go,  // pods can be made, in `group` if there is one
    CreateWorkload,
    CreateGroup,     // from `object`, a Workload
    ResizeWorkload,  // `object` gets `minimum`
    ResizeGroup,
    DeleteGroup,  // `object`
    Wait,         // until the group of an earlier run is gone
    Blocked,      // says why in reason and message; no pod is made
  };
  What what = What::Go;
  api::ObjectPtr group = nullptr;
  api::ObjectPtr object = nullptr;
  std::string template_name = {};  // to resize
  std::int32_t minimum = 1;
  std::string reason = {};
  std::string message = {};
};

GroupingStep next_grouping_step(const GroupingState& state);

// Whether no group can have the priority class of the Job's pods. Such pods run by themselves
// unless the Job asks for more.
bool is_beyond_groups(const api::JobView& job);

}  // namespace muster::controllers
