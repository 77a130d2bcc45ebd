#include "scheduler/preemption/unit_home.h"

namespace muster::scheduler {

UnitHome find_home(const ClusterModel& model, const GroupKey& leaf) {
  UnitHome home;
  GroupKey key = leaf;
  for (std::size_t level = 0; level < kTreeDepthMax; ++level) {
    const GroupSpec* group = model.forest().find(key);
    if (group == nullptr) break;
    home.is_known = true;
    home.priority = group->priority;
    if (group->disrupted_together) home.unit = key;
    if (group->parent.empty()) break;
    key = {GroupKind::CompositePodGroup, key.name_space, group->parent};
  }
  return home;
}

std::vector<UnitHome> find_homes(const ClusterModel& model, const RunningTable& table) {
  std::vector<UnitHome> homes(table.leaves().size());
  if (!model.options().gates.on(api::Gate::GenericWorkload)) return homes;
  for (std::size_t leaf = 1; leaf < homes.size(); ++leaf)
    if (const RunningTable::Leaf& it = table.leaves()[leaf]; it.members > 0)
      homes[leaf] = find_home(model, {GroupKind::PodGroup, it.name_space, it.name});
  return homes;
}

}  // namespace muster::scheduler
