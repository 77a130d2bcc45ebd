#include "api/selectors.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace muster::api {
namespace {

std::string text_or_empty(const Json& value) {
  const auto* text = value.if_string();
  return text == nullptr ? std::string() : std::string(*text);
}

Result<LabelRequirement> read_expression(const Json& expression) {
  const std::string_view word = find_string(expression, "operator");
  const auto op = label_operator_named(word);
  if (!op) return fail(Reason::BadRequest, "\"{}\" is not a valid label selector operator", word);
  std::vector<std::string> values;
  if (const JsonArray* list = find_array(expression, "values"))
    for (const Json& value : *list) values.push_back(text_or_empty(value));
  return LabelRequirement::make(std::string(find_string(expression, "key")), *op,
                                std::move(values));
}

}  // namespace

Result<LabelSelector> read_label_selector(const Json* selector) {
  if (selector == nullptr || !selector->is_object()) return LabelSelector::nothing();
  std::vector<LabelRequirement> requirements;
  if (const JsonObject* labels = find_object(*selector, "matchLabels"))
    for (const auto& label : *labels)
      requirements.push_back(TRY(LabelRequirement::make(
          std::string(label.key()), LabelOperator::Equals, {text_or_empty(label.value())})));
  if (const JsonArray* expressions = find_array(*selector, "matchExpressions"))
    for (const Json& expression : *expressions)
      requirements.push_back(TRY(read_expression(expression)));
  return LabelSelector(std::move(requirements));
}

StringPairs read_labels(const Json* metadata) {
  StringPairs out;
  const JsonObject* labels = metadata == nullptr ? nullptr : find_object(*metadata, "labels");
  if (labels == nullptr) return out;
  for (const auto& label : *labels)
    out.emplace_back(std::string(label.key()), text_or_empty(label.value()));
  std::ranges::sort(out);
  return out;
}

}  // namespace muster::api
