#include "scheduler/plugins/node_selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace muster::scheduler {
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

bool is_valid(const api::NodeRequirement& requirement) {
  switch (requirement.op) {
    case api::SelectorOperator::In:
    case api::SelectorOperator::NotIn: return !requirement.values.empty();
    case api::SelectorOperator::Exists:
    case api::SelectorOperator::DoesNotExist: return requirement.values.empty();
    case api::SelectorOperator::Gt:
    case api::SelectorOperator::Lt:
      return requirement.values.size() == 1 && parse_int(requirement.values.front()).has_value();
    case api::SelectorOperator::Invalid: break;
  }
  return false;
}

// Fields know the node's name only, and exactly one value of it.
bool is_valid_field(const api::NodeRequirement& requirement) {
  return requirement.key == "metadata.name" && requirement.values.size() == 1 &&
         (requirement.op == api::SelectorOperator::In ||
          requirement.op == api::SelectorOperator::NotIn);
}

bool matches_field(const api::NodeRequirement& requirement, std::string_view name) {
  return (requirement.values.front() == name) == (requirement.op == api::SelectorOperator::In);
}

// An invalid requirement makes its term match nothing, and so does having none.
bool can_match(const api::NodeSelectorTerm& term) {
  return (!term.expressions.empty() || !term.fields.empty()) &&
         std::ranges::all_of(term.expressions, is_valid) &&
         std::ranges::all_of(term.fields, is_valid_field);
}

}  // namespace

bool matches(const api::NodeRequirement& requirement, const std::string* value) {
  const auto listed = [&] {
    return value != nullptr &&
           std::ranges::find(requirement.values, *value) != requirement.values.end();
  };
  switch (requirement.op) {
    case api::SelectorOperator::In: return listed();
    case api::SelectorOperator::NotIn: return !listed();
    case api::SelectorOperator::Exists: return value != nullptr;
    case api::SelectorOperator::DoesNotExist: return value == nullptr;
    case api::SelectorOperator::Gt:
    case api::SelectorOperator::Lt: {
      if (value == nullptr || requirement.values.empty()) return false;
      const auto have = parse_int(*value);
      const auto bound = parse_int(requirement.values.front());
      if (!have || !bound) return false;
      return requirement.op == api::SelectorOperator::Gt ? *have > *bound : *have < *bound;
    }
    case api::SelectorOperator::Invalid: break;
  }
  return false;
}

bool matches(const api::NodeSelectorTerm& term, std::string_view name,
             const api::StringPairs& labels) {
  return can_match(term) &&
         std::ranges::all_of(
             term.expressions,
             [&](const auto& r) { return matches(r, api::lookup(labels, r.key)); }) &&
         std::ranges::all_of(term.fields, [&](const auto& r) { return matches_field(r, name); });
}

bool matches_selection(const api::PodNeeds& needs, std::string_view name,
                       const api::StringPairs& labels) {
  for (const auto& [key, wanted] : needs.node_selector) {
    const std::string* value = api::lookup(labels, key);
    if (value == nullptr || *value != wanted) return false;
  }
  return !needs.has_required || std::ranges::any_of(needs.required, [&](const auto& term) {
    return matches(term, name, labels);
  });
}

CompiledTerm::CompiledTerm(const api::NodeSelectorTerm& term, const Cluster& cluster)
    : cluster_(&cluster), fields_(term.fields), never_(!can_match(term)) {
  if (never_) return;
  for (const api::NodeRequirement& requirement : term.expressions) add(requirement);
  refresh();
}

CompiledTerm::CompiledTerm(const api::StringPairs& pairs, const Cluster& cluster)
    : cluster_(&cluster) {
  for (const auto& [key, value] : pairs) add({key, api::SelectorOperator::In, {value}});
  refresh();
}

void CompiledTerm::add(const api::NodeRequirement& requirement) {
  requirements_.push_back({requirement, &cluster_->label(requirement.key), {}});
}

void CompiledTerm::refresh() {
  for (CompiledRequirement& requirement : requirements_)
    for (std::size_t id = requirement.verdicts.size(); id < requirement.column->names.size(); ++id)
      requirement.verdicts.push_back(scheduler::matches(
          requirement.source, id == 0 ? nullptr : &requirement.column->names[id]));
}

bool CompiledTerm::matches(NodeId node) const {
  if (never_) return false;
  for (const CompiledRequirement& requirement : requirements_)
    if (!requirement.verdicts[index_of(requirement.column->values[node])]) return false;
  return std::ranges::all_of(
      fields_, [&](const auto& r) { return matches_field(r, cluster_->node_name(node)); });
}

}  // namespace muster::scheduler
