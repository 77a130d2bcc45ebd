#include "scheduler/preemption/victims.h"

#include <algorithm>

namespace muster::scheduler {

Violations::Violations(const UnitTable& table, const DisruptionBudgets& budgets,
                       std::span<const std::uint32_t> units)
    : exceeded(units.size()) {
  if (budgets.empty()) return;
  DisruptionBudgets::Ledger ledger(budgets);
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::vector<std::string> names;
    bool any = false;
    for (const UnitTable::Pod& pod : table.pods_of(units[i])) {
      names.push_back(ledger.spend(*table.object(pod)));
      any |= !names.back().empty();
    }
    if (any) exceeded[i] = std::move(names);
  }
}

std::int64_t Violations::count(std::size_t index) const {
  return std::ranges::count_if(exceeded[index],
                               [](const std::string& name) { return !name.empty(); });
}

VictimUnit victim_of(const UnitTable& table, const Cluster& cluster, std::uint32_t unit,
                     const std::vector<std::string>& exceeded) {
  VictimUnit victim;
  if (const GroupKey* group = table.group_of(unit)) victim.group = *group;
  victim.priority = table.units()[unit].priority;
  const auto pods = table.pods_of(unit);
  for (std::size_t i = 0; i < pods.size(); ++i)
    victim.pods.push_back({table.object(pods[i]), cluster.node_name(pods[i].node),
                           exceeded.empty() ? std::string() : exceeded[i]});
  std::ranges::sort(victim.pods, {}, [](const VictimUnit::Pod& pod) {
    return std::pair(pod.pod->meta().name_space, pod.pod->meta().name);
  });
  return victim;
}

}  // namespace muster::scheduler
