#include "api/views/condition.h"

namespace muster::api {

std::vector<Condition> read_conditions(const Json& document) {
  std::vector<Condition> conditions;
  const Json* status = find(document, "status");
  const JsonArray* entries = status == nullptr ? nullptr : find_array(*status, "conditions");
  if (entries == nullptr) return conditions;
  conditions.reserve(entries->size());
  for (const Json& entry : *entries) {
    const Json* generation = find(entry, "observedGeneration");
    conditions.push_back(
        {std::string(find_string(entry, "type")), std::string(find_string(entry, "status")),
         std::string(find_string(entry, "reason")), std::string(find_string(entry, "message")),
         generation != nullptr && generation->is_int64() ? generation->get_int64() : 0});
  }
  return conditions;
}

const Condition* lookup(const std::vector<Condition>& conditions, std::string_view type) {
  for (const Condition& condition : conditions)
    if (condition.type == type) return &condition;
  return nullptr;
}

}  // namespace muster::api
