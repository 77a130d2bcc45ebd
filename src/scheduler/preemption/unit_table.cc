#include "scheduler/preemption/unit_table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "api/views/pod_facts.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;

// How highly a unit is regarded beside others of its priority.
int rank_of(const UnitTable::Unit& unit) {
  if (!unit.group) return 1;
  return unit.group->kind == GroupKind::CompositePodGroup ? 3 : 2;
}

bool is_stuck(const ObjectPtr& pod, Time now, Duration patience) {
  const api::ObjectMeta& meta = pod->meta();
  const Time asked = *meta.deletion_time - std::chrono::seconds{meta.deletion_grace_s.value_or(0)};
  return now - asked >= patience;
}

}  // namespace

UnitHome find_home(const ClusterModel& model, const GroupKey& leaf) {
  UnitHome home;
  GroupKey key = leaf;
  for (std::size_t level = 0; level < kTreeDepthMax; ++level) {
    const GroupSpec* group = model.forest().find(key);
    if (group == nullptr) break;
    home.is_known = true;
    home.priority = group->priority;
    if (group->disrupted_together) home.unit = key;
    if (group->parent.empty()) break;
    key = {GroupKind::CompositePodGroup, key.name_space, group->parent};
  }
  return home;
}

UnitTable::UnitTable(ClusterModel& model, const Options& options)
    : model_(model), options_(options) {
  const RunningTable& table = RunningTable::of(model.cluster());
  // Nobody is lower. (Members have the priority of their root, or their tree is invalid.)
  if (table.by_priority().empty() || table.by_priority().begin()->first >= options.priority) return;
  collect(table);
  list_by_unit();
  list_by_row();
}

UnitTable::Home UnitTable::home_of(const RunningTable::Leaf& leaf) const {
  Home home;
  if (!model_.options().gates.on(api::Gate::GenericWorkload)) return home;
  const UnitHome found = find_home(model_, {GroupKind::PodGroup, leaf.name_space, leaf.name});
  home.priority = found.priority;
  home.unit = found.unit;
  home.is_candidate = found.is_known && home.priority < options_.priority;
  if (!found.is_known) home.number = UINT32_MAX;
  return home;
}

void UnitTable::collect(const RunningTable& table) {
  std::vector<Home> homes(table.leaves().size());
  for (std::size_t leaf = 1; leaf < homes.size(); ++leaf)
    if (table.leaves()[leaf].members > 0) homes[leaf] = home_of(table.leaves()[leaf]);
  std::map<GroupKey, std::uint32_t> together;  // units of groups
  Cluster& cluster = model_.cluster();
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const auto node = static_cast<NodeId>(row);
    first_leaving_in_.push_back(static_cast<std::uint32_t>(leaving_.size()));
    if (!cluster.nodes().contains(node)) continue;
    const auto slots = table.at(node);
    for (std::uint32_t position = 0; position < slots.size(); ++position) {
      const RunningTable::Slot& slot = slots[position];
      Home& home = homes[slot.leaf];
      const bool is_member = slot.leaf != RunningTable::kAlone && home.number != UINT32_MAX;
      if (is_member ? !home.is_candidate : slot.priority >= options_.priority) continue;
      Pod pod{node, position, &cluster.pod_class(slot.pods), 0};
      if (slot.terminating) {
        if (!is_stuck(object(pod), options_.now, options_.patience)) leaving_.push_back(pod);
        continue;
      }
      std::optional<Time> start = slot.start;
      if (!start) start = api::view_of(object(pod)).start_time;
      const Time started = start.value_or(options_.now);
      if (is_member && home.unit && home.number == 0)
        home.number = together.try_emplace(*home.unit, static_cast<std::uint32_t>(units_.size()))
                          .first->second +
                      1;
      if (is_member && home.unit) {
        pod.unit = home.number - 1;
      } else {
        pod.unit = static_cast<std::uint32_t>(units_.size());
      }
      if (pod.unit == units_.size())
        units_.push_back({.priority = is_member ? home.priority : slot.priority,
                          .group = is_member ? home.unit : std::nullopt,
                          .is_member = is_member,
                          .start = started});
      Unit& unit = units_[pod.unit];
      ++unit.count;
      unit.start = std::min(unit.start, started);
      pods_.push_back(pod);
    }
  }
  first_leaving_in_.push_back(static_cast<std::uint32_t>(leaving_.size()));
}

void UnitTable::list_by_unit() {
  std::uint32_t next = 0;
  for (Unit& unit : units_) {
    unit.first = next;
    next += unit.count;
  }
  std::vector<std::uint32_t> filled(units_.size(), 0);
  std::vector<Pod> sorted(pods_.size());
  for (const Pod& pod : pods_) sorted[units_[pod.unit].first + filled[pod.unit]++] = pod;
  pods_ = std::move(sorted);
}

void UnitTable::list_by_row() {
  const std::size_t rows = model_.cluster().rows();
  first_in_row_.assign(rows + 1, 0);
  for (const Pod& pod : pods_) ++first_in_row_[index_of(pod.node) + 1];
  for (std::size_t row = 0; row < rows; ++row) first_in_row_[row + 1] += first_in_row_[row];
  by_row_.resize(pods_.size());
  std::vector<std::uint32_t> next(first_in_row_.begin(), first_in_row_.end() - 1);
  for (std::uint32_t p = 0; p < pods_.size(); ++p) by_row_[next[index_of(pods_[p].node)]++] = p;
}

std::span<const std::uint32_t> UnitTable::on(NodeId node) const {
  if (first_in_row_.empty()) return {};
  const std::size_t row = index_of(node);
  return std::span(by_row_).subspan(first_in_row_[row],
                                    first_in_row_[row + 1] - first_in_row_[row]);
}

std::span<const UnitTable::Pod> UnitTable::leaving_on(NodeId node) const {
  if (first_leaving_in_.empty()) return {};
  const std::size_t row = index_of(node);
  return std::span(leaving_).subspan(first_leaving_in_[row],
                                     first_leaving_in_[row + 1] - first_leaving_in_[row]);
}

bool UnitTable::is_more_important(std::uint32_t a, std::uint32_t b) const {
  const Unit& x = units_[a];
  const Unit& y = units_[b];
  if (x.priority != y.priority) return x.priority > y.priority;
  if (rank_of(x) != rank_of(y)) return rank_of(x) > rank_of(y);
  if (x.count != y.count) return x.count > y.count;
  if (x.start != y.start) return x.start < y.start;
  if (x.group != y.group) return x.group < y.group;
  if (a == b) return false;
  const api::ObjectMeta& first = object(pods_of(a).front())->meta();
  const api::ObjectMeta& second = object(pods_of(b).front())->meta();
  return std::tie(first.name_space, first.name) < std::tie(second.name_space, second.name);
}

bool UnitTable::is_more_important_upstream(std::uint32_t a, std::uint32_t b) const {
  const Unit& x = units_[a];
  const Unit& y = units_[b];
  const auto rank = [](const Unit& unit) {
    return unit.is_member ? std::max(2, rank_of(unit)) : 1;
  };
  if (x.priority == y.priority && rank(x) != rank(y)) return rank(x) > rank(y);
  return is_more_important(a, b);
}

const Cost& UnitTable::cost(std::uint32_t unit) const {
  if (costs_.empty()) costs_.resize(units_.size());
  Cost& cost = costs_[unit];
  if (cost.pods > 0) return cost;
  const Unit& it = units_[unit];
  cost.priorities.emplace_back(it.priority, it.count);
  cost.pods = it.count;
  cost.groups = it.group ? 1 : 0;
  for (const Pod& pod : pods_of(unit)) {
    const auto started = api::view_of(object(pod)).start_time;
    if (started && *started < options_.now) cost.lost += options_.now - *started;
  }
  return cost;
}

}  // namespace muster::scheduler
