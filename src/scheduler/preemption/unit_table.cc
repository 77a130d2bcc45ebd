#include "scheduler/preemption/unit_table.h"

#include <algorithm>
#include <tuple>

#include "api/views/pod_facts.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;

constexpr Time kUnknown = Time::max();

bool is_stuck(const ObjectPtr& pod, Time now, Duration patience) {
  const api::ObjectMeta& meta = pod->meta();
  const Time asked = *meta.deletion_time - std::chrono::seconds{meta.deletion_grace_s.value_or(0)};
  return now - asked >= patience;
}

}  // namespace

UnitTable::UnitTable(ClusterModel& model, const Options& options)
    : model_(model), options_(options) {
  const RunningTable& table = RunningTable::of(model.cluster());
  // Nobody is lower. (Members have the priority of their root, or their tree is invalid.)
  const auto& priorities = table.by_priority();
  if (priorities.empty() || priorities.begin()->first >= options.priority) return;
  std::size_t lower = 0;
  for (auto at = priorities.begin(); at != priorities.end() && at->first < options.priority; ++at)
    lower += at->second;
  pods_.reserve(lower);
  units_.reserve(lower);
  collect(table, find_homes(model, table));
  list_by_unit();
  list_by_row();
}

std::uint32_t UnitTable::unit_of(const RunningTable::Slot& slot, const UnitHome& home) {
  const auto next = static_cast<std::uint32_t>(units_.size());
  std::uint32_t group = 0;
  if (home.is_known && home.unit) {
    const auto [at, is_new] = unit_of_group_.try_emplace(*home.unit, next);
    if (!is_new) return at->second;
    groups_.push_back(*home.unit);
    group = static_cast<std::uint32_t>(groups_.size());
  }
  units_.push_back({.priority = home.is_known ? home.priority : slot.priority,
                    .group = group,
                    .is_member = home.is_known});
  return next;
}

void UnitTable::collect(const RunningTable& table, std::span<const UnitHome> homes) {
  Cluster& cluster = model_.cluster();
  // Members of one leaf often stand side by side: its unit is looked up once.
  std::vector<std::uint32_t> units(homes.size(), UINT32_MAX);
  first_leaving_in_.reserve(cluster.rows() + 1);
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const auto node = static_cast<NodeId>(row);
    first_leaving_in_.push_back(static_cast<std::uint32_t>(leaving_.size()));
    if (!cluster.nodes().contains(node)) continue;
    const auto slots = table.at(node);
    for (std::uint32_t position = 0; position < slots.size(); ++position) {
      const RunningTable::Slot& slot = slots[position];
      const UnitHome& home = homes[slot.leaf];
      if (!is_lower(slot, home, options_.priority)) continue;
      Pod pod{node, position, &cluster.pod_class(slot.pods), 0};
      if (slot.terminating) {
        if (!is_stuck(object(pod), options_.now, options_.patience)) leaving_.push_back(pod);
        continue;
      }
      std::uint32_t& known = units[slot.leaf];
      pod.unit = known != UINT32_MAX ? known : unit_of(slot, home);
      if (home.is_known && home.unit) known = pod.unit;
      ++units_[pod.unit].count;
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
  if (units_.size() == pods_.size()) return;  // one each, in this order
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

// How highly a unit is regarded beside others of its priority.
int UnitTable::rank_of(std::uint32_t unit) const {
  const GroupKey* const group = group_of(unit);
  if (group == nullptr) return 1;
  return group->kind == GroupKind::CompositePodGroup ? 3 : 2;
}

Time UnitTable::start(std::uint32_t unit) const {
  if (starts_.empty()) starts_.resize(units_.size(), kUnknown);
  Time& start = starts_[unit];
  if (start != kUnknown) return start;
  for (const Pod& pod : pods_of(unit))
    start = std::min(start, api::view_of(object(pod)).start_time.value_or(options_.now));
  return start;
}

bool UnitTable::is_more_important(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return false;
  const Unit& x = units_[a];
  const Unit& y = units_[b];
  if (x.priority != y.priority) return x.priority > y.priority;
  if (x.group != 0 || y.group != 0) {
    if (rank_of(a) != rank_of(b)) return rank_of(a) > rank_of(b);
    if (x.count != y.count) return x.count > y.count;
  }
  if (const Time first = start(a), second = start(b); first != second) return first < second;
  if (x.group != 0) return *group_of(a) < *group_of(b);
  const api::ObjectMeta& first = object(pods_of(a).front())->meta();
  const api::ObjectMeta& second = object(pods_of(b).front())->meta();
  return std::tie(first.name_space, first.name) < std::tie(second.name_space, second.name);
}

bool UnitTable::is_more_important_upstream(std::uint32_t a, std::uint32_t b) const {
  const auto rank = [this](std::uint32_t unit) {
    return units_[unit].is_member ? std::max(2, rank_of(unit)) : 1;
  };
  if (units_[a].priority == units_[b].priority && rank(a) != rank(b)) return rank(a) > rank(b);
  return is_more_important(a, b);
}

// Of a group it is asked for each of its nodes.
Duration UnitTable::lost_by(std::uint32_t unit) const {
  const auto known = units_[unit].group == 0 ? lost_.end() : lost_.find(unit);
  if (known != lost_.end()) return known->second;
  Duration lost = Duration::zero();
  for (const Pod& pod : pods_of(unit)) {
    const auto started = api::view_of(object(pod)).start_time;
    if (started && *started < options_.now) lost += options_.now - *started;
  }
  if (units_[unit].group != 0) lost_.emplace(unit, lost);
  return lost;
}

void UnitTable::add_cost(std::uint32_t unit, Cost& to) const {
  to.add_pods(units_[unit].priority, units_[unit].count);
  to.groups += units_[unit].group != 0 ? 1 : 0;
  to.lost += lost_by(unit);
}

}  // namespace muster::scheduler
