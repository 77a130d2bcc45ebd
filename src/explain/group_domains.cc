#include "explain/group_domains.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/views/pod_view.h"

namespace muster::explain {

using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::GroupSpec;
using scheduler::NodeId;
using scheduler::PlacementColumn;

std::vector<Generator> generators_of(const ClusterModel& model, const GroupSpec& group) {
  if (group.placements.empty()) return {};
  const scheduler::Profile* const profile =
      model.profiles().find(model.scheduler_name_of(group.key));
  if (profile == nullptr) return {};
  std::vector<Generator> found;
  for (const Generator& entry : profile->placement_generators())
    if (!entry.plugin->placements_of(group).empty()) found.push_back(entry);
  if (std::ranges::all_of(found, [](const Generator& one) { return one.plugin->is_label(); }))
    found.clear();
  return found;
}

GroupDomains::GroupDomains(ClusterModel& model, const GroupSpec& group)
    : model_(model), key_(group.topology_key) {
  for (const Generator& entry : generators_of(model, group)) {
    PlacementColumn column =
        entry.plugin->generate(entry.plugin->placements_of(group), model.cluster());
    generated_ = generated_ ? intersect(*generated_, column, model.cluster()) : std::move(column);
  }
}

std::vector<std::string> GroupDomains::of(const api::Object& node) const {
  if (!generated_) {
    const std::string* value = api::lookup(node.meta().labels, key_);
    return value == nullptr ? std::vector<std::string>{} : std::vector<std::string>{*value};
  }
  NodeId id{};
  if (!model_.cluster().find_node(node.meta().name, id)) return {};
  std::vector<std::string> names;
  for (const PlacementColumn::Placement placement : generated_->at(id))
    names.push_back(generated_->names()[placement]);
  return names;
}

bool GroupDomains::holds(std::string_view domain, const api::Object& node) const {
  const std::vector<std::string> names = of(node);
  return std::ranges::find(names, domain) != names.end();
}

std::vector<std::string> domains_it_runs_in(ClusterModel& model, const GroupSpec& group) {
  if (!group.is_confined()) return {};
  const GroupDomains domains(model, group);
  const bool may_overlap = !generators_of(model, group).empty();
  std::set<std::string> found;
  bool is_first = true;
  model.forest().each_leaf(group.key, [&](const GroupKey& leaf) {
    for (const api::ObjectPtr& pod : model.members(leaf, scheduler::PodRole::Running)) {
      const api::ObjectPtr node = model.node(pod->view<api::PodView>().node_name);
      if (node == nullptr) continue;
      const std::vector<std::string> here = domains.of(*node);
      if (is_first || !may_overlap)
        found.insert(here.begin(), here.end());
      else
        std::erase_if(found, [&here](const std::string& name) {
          return std::ranges::find(here, name) == here.end();
        });
      is_first = false;
    }
  });
  return {found.begin(), found.end()};
}

}  // namespace muster::explain
