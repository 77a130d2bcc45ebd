#include "scheduler/plugins/node_selector.h"

#include <algorithm>
#include <utility>

namespace muster::scheduler {

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
  for (CompiledRequirement& requirement : requirements_) {
    const LabelColumn& column = *requirement.column;
    if (std::exchange(requirement.numbering, column.numbering) != column.numbering)
      requirement.verdicts.clear();
    for (std::size_t id = requirement.verdicts.size(); id < column.names.size(); ++id)
      requirement.verdicts.push_back(
          api::matches(requirement.source, id == 0 ? nullptr : &column.names[id]));
  }
}

bool CompiledTerm::matches(NodeId node) const {
  if (never_) return false;
  for (const CompiledRequirement& requirement : requirements_)
    if (!requirement.verdicts[index_of(requirement.column->values[node])]) return false;
  return std::ranges::all_of(
      fields_, [&](const auto& r) { return matches_field(r, cluster_->node_name(node)); });
}

}  // namespace muster::scheduler
