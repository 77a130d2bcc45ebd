#include "api/views/node_selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace muster::api {
namespace {

// Go's strconv.ParseInt(text, 10, 64): an optional sign, then digits.
std::optional<std::int64_t> parse_int(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool is_valid(const NodeRequirement& requirement) {
  switch (requirement.op) {
    case SelectorOperator::In:
    case SelectorOperator::NotIn: return !requirement.values.empty();
    case SelectorOperator::Exists:
    case SelectorOperator::DoesNotExist: return requirement.values.empty();
    case SelectorOperator::Gt:
    case SelectorOperator::Lt:
      return requirement.values.size() == 1 && parse_int(requirement.values.front()).has_value();
    case SelectorOperator::Invalid: break;
  }
  return false;
}

// Fields know the node's name only, and exactly one value of it.
bool is_valid_field(const NodeRequirement& requirement) {
  return requirement.key == "metadata.name" && requirement.values.size() == 1 &&
         (requirement.op == SelectorOperator::In || requirement.op == SelectorOperator::NotIn);
}

}  // namespace

bool matches_field(const NodeRequirement& requirement, std::string_view name) {
  return (requirement.values.front() == name) == (requirement.op == SelectorOperator::In);
}

bool can_match(const NodeSelectorTerm& term) {
  return (!term.expressions.empty() || !term.fields.empty()) &&
         std::ranges::all_of(term.expressions, is_valid) &&
         std::ranges::all_of(term.fields, is_valid_field);
}

bool matches(const NodeRequirement& requirement, const std::string* value) {
  const auto listed = [&] {
    return value != nullptr &&
           std::ranges::find(requirement.values, *value) != requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOperator::In: return listed();
    case SelectorOperator::NotIn: return !listed();
    case SelectorOperator::Exists: return value != nullptr;
    case SelectorOperator::DoesNotExist: return value == nullptr;
    case SelectorOperator::Gt:
    case SelectorOperator::Lt: {
      if (value == nullptr || requirement.values.empty()) return false;
      const auto have = parse_int(*value);
      const auto bound = parse_int(requirement.values.front());
      if (!have || !bound) return false;
      return requirement.op == SelectorOperator::Gt ? *have > *bound : *have < *bound;
    }
    case SelectorOperator::Invalid: break;
  }
  return false;
}

bool matches(const NodeSelectorTerm& term, std::string_view name, const StringPairs& labels) {
  return can_match(term) &&
         std::ranges::all_of(term.expressions,
                             [&](const auto& r) { return matches(r, lookup(labels, r.key)); }) &&
         std::ranges::all_of(term.fields, [&](const auto& r) { return matches_field(r, name); });
}

bool matches_selection(const PodNeeds& needs, std::string_view name, const StringPairs& labels) {
  for (const auto& [key, wanted] : needs.node_selector) {
    const std::string* value = lookup(labels, key);
    if (value == nullptr || *value != wanted) return false;
  }
  return !needs.has_required || std::ranges::any_of(needs.required, [&](const auto& term) {
    return matches(term, name, labels);
  });
}

}  // namespace muster::api
