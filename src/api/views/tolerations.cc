#include "api/views/tolerations.h"

#include <algorithm>

namespace muster::api {

Toleration read_toleration(const Json& entry) {
  const std::string_view op = find_string(entry, "operator");
  return {std::string(find_string(entry, "key")),
          op.empty() || op == "Equal" ? TolerationOperator::Equal
          : op == "Exists"            ? TolerationOperator::Exists
                                      : TolerationOperator::Other,
          std::string(find_string(entry, "value")), std::string(find_string(entry, "effect"))};
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != effect_name(taint.effect)) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  switch (toleration.op) {
    case TolerationOperator::Equal: return toleration.value == taint.value;
    case TolerationOperator::Exists: return true;
    case TolerationOperator::Other: break;
  }
  return false;
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations,
                             [&](const auto& toleration) { return tolerates(toleration, taint); });
}

bool repels(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations) {
  return std::ranges::any_of(taints, [&](const Taint& taint) {
    return (taint.effect == TaintEffect::NoSchedule || taint.effect == TaintEffect::NoExecute) &&
           !tolerates(tolerations, taint);
  });
}

}  // namespace muster::api
