#pragma once

#include <map>
#include <string>

#include "api/object.h"
#include "scheduler/groups/workload_forest.h"

namespace muster::scheduler {

// The templates of a Workload as a tree: what groups made from them must look like.
struct WorkloadTemplates {
  struct Template {
    GroupKind kind = GroupKind::PodGroup;
    std::string parent;  // name of the template above it; empty: a root
    friend bool operator==(const Template&, const Template&) = default;
  };
  std::map<std::string, Template> templates;

  static WorkloadTemplates read(const api::Object& workload);
  friend bool operator==(const WorkloadTemplates&, const WorkloadTemplates&) = default;
};

// How the group differs from the template it names, naming the group; empty if it does not. Only
// kind and nesting are compared: a group's scheduling fields are its own. `parent` is the group
// above, null for a root.
std::string template_fault(const GroupSpec& group, const GroupSpec* parent,
                           const WorkloadTemplates& workload);

}  // namespace muster::scheduler
