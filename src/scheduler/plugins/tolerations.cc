#include "scheduler/plugins/tolerations.h"

#include <algorithm>

namespace muster::scheduler {

bool tolerates(const api::Toleration& toleration, const api::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != effect_name(taint.effect)) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  switch (toleration.op) {
    case api::TolerationOperator::Equal: return toleration.value == taint.value;
    case api::TolerationOperator::Exists: return true;
    case api::TolerationOperator::Other: break;
  }
  return false;
}

bool tolerates(const std::vector<api::Toleration>& tolerations, const api::Taint& taint) {
  return std::ranges::any_of(tolerations,
                             [&](const auto& toleration) { return tolerates(toleration, taint); });
}

bool repels(const std::vector<api::Taint>& taints,
            const std::vector<api::Toleration>& tolerations) {
  return std::ranges::any_of(taints, [&](const api::Taint& taint) {
    return (taint.effect == api::TaintEffect::NoSchedule ||
            taint.effect == api::TaintEffect::NoExecute) &&
           !tolerates(tolerations, taint);
  });
}

}  // namespace muster::scheduler
