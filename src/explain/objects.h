#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/object.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/groups/cluster_model.h"

namespace muster::explain {

// The objects of a cluster that matter for placing pods: the lists a user may read.
struct Objects {
  std::vector<api::ObjectPtr> nodes;
  std::vector<api::ObjectPtr> pods;
  std::vector<api::ObjectPtr> groups;  // PodGroups and CompositePodGroups
  std::vector<api::ObjectPtr> workloads = {};
  std::vector<api::ObjectPtr> storage = {};     // claims, volumes and what describes them
  std::vector<api::ObjectPtr> namespaces = {};  // pods may be selected by their labels
  std::string workloads_unread = {};  // why there are no Workloads, if they could not be listed
  Time read_at = {};
};

// The model that a scheduler would have if its watches had just delivered these objects.
std::unique_ptr<scheduler::ClusterModel> model_of(const Objects& objects,
                                                  const scheduler::Profiles& profiles,
                                                  const scheduler::ModelOptions& options);

// A hypothetical change of one object: added (no `before`), changed, or removed (no `after`).
struct Edit {
  api::ObjectPtr before;
  api::ObjectPtr after;
};
using Edits = std::vector<Edit>;

// Makes a change, or undoes it.
void apply(scheduler::ClusterModel& model, const Edits& edits);
void revert(scheduler::ClusterModel& model, const Edits& edits);

}  // namespace muster::explain
