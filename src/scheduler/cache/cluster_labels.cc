// The nodes by label value and by name: label columns and the order of nodes.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/cache/cluster.h"

namespace muster::scheduler {
namespace {

// Numbers the values again, without those that no node has any more.
void forget_unused_values(LabelColumn& column, const NodeSet& alive) {
  const std::vector<std::string> before = std::exchange(column.names, {std::string()});
  column.ids.clear();
  column.index->reset();
  ++column.numbering;
  std::vector<LabelValueId> number(before.size(), LabelValueId::Absent);
  alive.for_each([&](NodeId node) {
    const LabelValueId value = column.values[node];
    if (value == LabelValueId::Absent) return;
    LabelValueId& now = number[index_of(value)];
    if (now == LabelValueId::Absent) {
      now = static_cast<LabelValueId>(column.names.size());
      column.names.push_back(before[index_of(value)]);
      column.ids.emplace(column.names.back(), now);
    }
    column.values.set(node, now);
  });
}

}  // namespace

// --- labels ---

const LabelColumn& Cluster::watch_label(std::string_view key) {
  LabelColumn& column = label_column(key);
  column.is_kept = true;
  return column;
}

Cluster::LabelHold Cluster::hold_label(std::string_view key) { return {*this, label_column(key)}; }

LabelColumn& Cluster::label_column(std::string_view key) {
  if (const auto at = labels_.find(key); at != labels_.end()) return *at->second;
  Boxed<LabelColumn> column;
  column->key = key;
  column->names.emplace_back();
  column->values.resize(rows_.size());
  LabelColumn& kept = *labels_.emplace(std::string(key), std::move(column)).first->second;
  alive_.for_each([&](NodeId node) { set_label(kept, node); });
  return kept;
}

// The node labels that are compared for a class: by its own selectors, by what it asks about other
// pods, and by what others ask about it. None if its pods no longer look for nodes: the classes
// they ask about keep those labels.
std::vector<std::string> Cluster::labels_of(const PodClass& pods) const {
  const api::PodNeeds& needs = *pods.needs;
  std::vector<std::string> keys;
  if (pods.is_counted) return keys;
  for (const auto& [key, value] : needs.node_selector) keys.push_back(key);
  const auto add_term = [&](const api::NodeSelectorTerm& term) {
    for (const api::NodeRequirement& requirement : term.expressions)
      keys.push_back(requirement.key);
  };
  for (const api::NodeSelectorTerm& term : needs.required) add_term(term);
  for (const api::PreferredNodeTerm& preferred : needs.preferred) add_term(preferred.term);
  for (const api::PodTerm& term : needs.pod_terms) keys.push_back(term.topology_key);
  for (const api::SpreadConstraint& constraint : needs.spread)
    keys.push_back(constraint.topology_key);
  if (pods.default_term)
    keys.insert(keys.end(), default_spread_keys_.begin(), default_spread_keys_.end());
  if (pods.volumes != nullptr)
    keys.insert(keys.end(), pods.volumes->label_keys.begin(), pods.volumes->label_keys.end());
  for (const TermId id : pods.matches)
    if (const std::string& key = terms_->term(id).key; !key.empty()) keys.push_back(key);
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  return keys;
}

void Cluster::release_label(std::string_view key) {
  const auto at = labels_.find(key);
  if (--*at->second->users == 0 && !at->second->is_kept) labels_.erase(at);
}

const LabelColumn& Cluster::label(std::string_view key) const {
  const auto at = labels_.find(key);
  CHECK_THAT(at != labels_.end(), "label {} is not watched", key);
  return *at->second;
}

void Cluster::set_label(LabelColumn& column, NodeId node) {
  fill_label(column, node, api::lookup(node_object(node)->meta().labels, column.key));
}

void Cluster::fill_label(LabelColumn& column, NodeId node, const std::string* value) {
  LabelValueId after = LabelValueId::Absent;
  if (value != nullptr) {
    auto at = column.ids.find(*value);
    if (at == column.ids.end()) {
      // At least half of them are unused.
      if (column.names.size() > 2 * node_count_ + 64) forget_unused_values(column, alive_);
      at = column.ids.emplace(*value, static_cast<LabelValueId>(column.names.size())).first;
      column.names.push_back(*value);
    }
    after = at->second;
  }
  const LabelValueId before = column.values.set(node, after);
  if (*column.index && before != after) index_value(**column.index, node, before, after);
}

// A row without a node has no value: it leaves its list when the node is removed.
void Cluster::index_value(LabelColumn::Index& index, NodeId node, LabelValueId before,
                          LabelValueId after) {
  if (before != LabelValueId::Absent) {
    std::vector<NodeId>& list = index.nodes[index_of(before)];
    const NodeId last = list.back();
    list[index.position[node]] = last;
    index.position[last] = index.position[node];
    list.pop_back();
  }
  if (after == LabelValueId::Absent) return;
  if (index.nodes.size() <= index_of(after)) index.nodes.resize(index_of(after) + 1);
  std::vector<NodeId>& list = index.nodes[index_of(after)];
  index.position.resize(std::max(index.position.padded(), index_of(node) + 1));
  index.position[node] = static_cast<std::uint32_t>(list.size());
  list.push_back(node);
}

std::span<const NodeId> Cluster::nodes_with(const LabelColumn& column, LabelValueId value) {
  LabelColumn& mine = *labels_.find(column.key)->second;
  CHECK(&mine == &column);
  if (!*mine.index) {
    LabelColumn::Index& made = mine.index->emplace();
    made.nodes.resize(mine.names.size());
    made.position.resize(rows_.size());
    alive_.for_each(
        [&](NodeId node) { index_value(made, node, LabelValueId::Absent, mine.values[node]); });
  }
  const LabelColumn::Index& index = **mine.index;
  if (value == LabelValueId::Absent || index.nodes.size() <= index_of(value)) return {};
  return index.nodes[index_of(value)];
}

// --- order ---

const Column<std::uint32_t>& Cluster::ranks() const {
  if (order_stale_ || !unranked_.empty()) sort_names();
  return ranks_;
}

NodeId Cluster::node_at(std::uint32_t rank) const {
  if (order_stale_ || !unranked_.empty()) sort_names();
  return by_rank_[rank];
}

void Cluster::sort_names() const {
  const auto by_name = [this](NodeId a, NodeId b) { return node_name(a) < node_name(b); };
  // A row may have been freed and taken by another node since: those are in `unranked_` too. Their
  // old place in the order is found by the rank they had, which no longer counts.
  std::ranges::sort(unranked_);
  const auto gone = std::ranges::unique(unranked_);
  unranked_.erase(gone.begin(), gone.end());
  std::erase_if(unranked_, [this](NodeId node) { return !alive_.contains(node); });
  std::erase_if(by_rank_, [this](NodeId node) {
    return !alive_.contains(node) || std::ranges::binary_search(unranked_, node);
  });
  // A list of nodes comes in the order of names, and comparing them is what sorting costs.
  if (!std::ranges::is_sorted(unranked_, by_name)) std::ranges::sort(unranked_, by_name);
  const auto middle = static_cast<std::ptrdiff_t>(by_rank_.size());
  by_rank_.insert(by_rank_.end(), unranked_.begin(), unranked_.end());
  std::ranges::inplace_merge(by_rank_, by_rank_.begin() + middle, by_name);
  unranked_.clear();
  order_stale_ = false;
  for (std::uint32_t rank = 0; rank < by_rank_.size(); ++rank) ranks_[by_rank_[rank]] = rank;
}

}  // namespace muster::scheduler
