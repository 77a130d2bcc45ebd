#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/condition.h"
#include "api/views/job_set_view.h"
#include "base/result.h"
#include "controllers/jobset/child_jobs.h"
#include "workload/job_set.h"

namespace muster::controllers {

// The Workload that a set asks for. Its cost grows with the set, so it is made once per version of
// the spec.
struct CompiledWorkload {
  explicit CompiledWorkload(const workload::JobSetMapping& mapping);
  Result<api::Json> document;  // null if the set asks for none
  api::ObjectPtr object;       // of the document; null without one
};

// What there is of the Workload and the groups of a JobSet.
struct GroupsState {
  const workload::JobSetMapping& mapping;
  const CompiledWorkload& compiled;
  const api::JobSetView& set;
  std::string_view uid;
  const ChildJobs& jobs;
  std::vector<api::ObjectPtr> groups = {};  // of both kinds, that the set controls
  // The object of a name, no matter who owns it; null if there is none.
  std::function<api::ObjectPtr(const api::Kind& kind, std::string_view name)> find = nullptr;
};

// The next steps towards what there should be. Each level is made when the one above has been seen,
// and deleted when the one below has gone:
//
//   Workload ──▶ root ──▶ groups of groups ──▶ groups of pods ──▶ Jobs    (a set that runs)
//   pods gone ──▶ groups of pods ──▶ groups of groups ──▶ root ──▶ Workload   (one that rests)
struct GroupsStep {
  bool ready = false;                      // everything is there: Jobs can be made, and run
  std::optional<api::Json> workload = {};  // to be made
  std::vector<workload::JobSetMapping::Group> create = {};
  std::vector<api::ObjectPtr> remove = {};
  struct Resize {
    api::ObjectPtr object;
    api::Json patch;
  };
  std::vector<Resize> resize = {};
  std::optional<api::Condition> blocked = {};  // why there is no progress
};

// How many groups are made in one step, how many are resized and how many deleted: whatever a set
// asks for, a step costs the existing groups and these.
inline constexpr std::size_t kGroupChangesMax = 500;

GroupsStep next_groups_step(const GroupsState& state);

}  // namespace muster::controllers
