#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "scheduler/framework/placement_plugin.h"
#include "scheduler/framework/profile.h"
#include "scheduler/groups/cluster_model.h"

namespace muster::explain {

// The sets of nodes one of which must hold a group as a whole: the domains of its topology key, or
// those that plugins generate for it. Reads the nodes once, when it is constructed.
class GroupDomains {
 public:
  GroupDomains(scheduler::ClusterModel& model, const scheduler::GroupSpec& group);

  // The domains that a node is in, by name.
  std::vector<std::string> of(const api::Object& node) const;
  bool holds(std::string_view domain, const api::Object& node) const;

 private:
  scheduler::ClusterModel& model_;
  std::string key_;
  std::optional<scheduler::PlacementColumn> generated_;  // instead of the key
};

// The plugins that generate placements for the group; none if only its topology key confines it.
using Generator = scheduler::Profile::Entry<scheduler::PlacementGenerate>;
std::vector<Generator> generators_of(const scheduler::ClusterModel& model,
                                     const scheduler::GroupSpec& group);

// Where the pods in the tree below the group run: all domains of its topology key; of generated
// ones, which may overlap, those that hold every pod.
std::vector<std::string> domains_it_runs_in(scheduler::ClusterModel& model,
                                            const scheduler::GroupSpec& group);

}  // namespace muster::explain
