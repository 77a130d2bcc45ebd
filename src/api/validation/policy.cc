#include <algorithm>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/placement_rules.h"

namespace muster::api::rules {

void validate_disruption_budget(const Json& now, const Json*, FieldErrors& errors) {
  const FieldPath path("spec");
  const Json& spec = part_of(now, "spec");
  const Json* available = find_set(spec, "minAvailable");
  const Json* unavailable = find_set(spec, "maxUnavailable");
  if (available != nullptr && unavailable != nullptr)
    errors.invalid(path, spec, "minAvailable and maxUnavailable cannot be both set");
  for (const std::string_view member : {"minAvailable", "maxUnavailable"}) {
    const Json* amount = find_set(spec, member);
    if (amount == nullptr) continue;
    const FieldPath here = path.child(member);
    validate_amount(*amount, here, errors);
    validate_at_most_all(*amount, here, errors);
  }
  validate_label_selector(find_set(spec, "selector"), path.child("selector"), errors);
  constexpr std::string_view kPolicies[] = {"AlwaysAllow", "IfHealthyBudget"};
  const Json* policy = find_set(spec, "unhealthyPodEvictionPolicy");
  if (policy != nullptr && std::ranges::find(kPolicies, text_of(*policy)) == std::end(kPolicies))
    errors.not_supported(path.child("unhealthyPodEvictionPolicy"), text_of(*policy), kPolicies);
}

}  // namespace muster::api::rules
