#include "scheduler/groups/disruption_budgets.h"

#include <algorithm>

#include "api/views/budget_view.h"

namespace muster::scheduler {

void DisruptionBudgets::put(const api::ObjectPtr& budget) {
  by_namespace_[budget->meta().name_space][budget->meta().name] = budget;
}

void DisruptionBudgets::remove(const api::Object& budget) {
  const auto at = by_namespace_.find(budget.meta().name_space);
  if (at == by_namespace_.end()) return;
  at->second.erase(budget.meta().name);
  if (at->second.empty()) by_namespace_.erase(at);
}

// As upstream counts: budgets are asked in turn, and none after the first that is exceeded.
std::string DisruptionBudgets::Ledger::spend(const api::Object& pod) {
  const api::ObjectMeta& meta = pod.meta();
  const auto at = budgets_.by_namespace_.find(meta.name_space);
  if (at == budgets_.by_namespace_.end() || meta.labels.empty()) return {};
  for (const auto& [name, budget] : at->second) {
    const auto& view = budget->view<api::BudgetView>();
    // Of an eviction an empty selector selects everything, of a preemption nothing.
    if (!view.selector || view.selector->selects_everything() || !view.selects(meta.labels))
      continue;
    if (std::ranges::binary_search(view.disrupted, meta.name)) continue;
    if (++spent_[budget.get()] > view.disruptions_allowed) return meta.name_space + "/" + name;
  }
  return {};
}

}  // namespace muster::scheduler
