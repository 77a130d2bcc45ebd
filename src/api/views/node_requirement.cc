#include "api/views/node_requirement.h"

namespace muster::api {

SelectorOperator selector_operator(std::string_view name) {
  if (name == "In") return SelectorOperator::In;
  if (name == "NotIn") return SelectorOperator::NotIn;
  if (name == "Exists") return SelectorOperator::Exists;
  if (name == "DoesNotExist") return SelectorOperator::DoesNotExist;
  if (name == "Gt") return SelectorOperator::Gt;
  if (name == "Lt") return SelectorOperator::Lt;
  return SelectorOperator::Invalid;
}

std::vector<NodeRequirement> read_requirements(const Json& term, std::string_view member) {
  std::vector<NodeRequirement> requirements;
  const JsonArray* entries = find_array(term, member);
  if (entries == nullptr) return requirements;
  for (const Json& entry : *entries) {
    NodeRequirement& read = requirements.emplace_back();
    read.key = find_string(entry, "key");
    read.op = selector_operator(find_string(entry, "operator"));
    if (const JsonArray* values = find_array(entry, "values"))
      for (const Json& value : *values)
        if (value.is_string()) read.values.emplace_back(std::string_view(value.get_string()));
  }
  return requirements;
}

}  // namespace muster::api
