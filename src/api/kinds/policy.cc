#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

std::vector<Kind> policy_kinds() {
  Kind budget = plain_kind({.group = "policy", .version = "v1", .package = "policy/v1"},
                           "PodDisruptionBudget", "poddisruptionbudgets");
  budget.short_names = {"pdb"};
  budget.subresources = {status_part(budget)};
  budget.unconditional_update = false;
  budget.keeps_generation = true;
  return {budget};
}

}  // namespace muster::api::kinds
