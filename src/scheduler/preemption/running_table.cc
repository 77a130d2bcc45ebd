#include "scheduler/preemption/running_table.h"

#include "api/views/pod_facts.h"

namespace muster::scheduler {
namespace {

constexpr char kKey = 0;

std::string key_of(std::string_view name_space, std::string_view name) {
  std::string key;
  key.reserve(name_space.size() + 1 + name.size());
  return key.append(name_space).append(1, '/').append(name);
}

}  // namespace

RunningTable& RunningTable::of(Cluster& cluster) {
  std::unique_ptr<Cluster::Derived>& kept = cluster.derived(&kKey);
  if (kept == nullptr) kept = std::make_unique<RunningTable>(cluster);
  auto& table = static_cast<RunningTable&>(*kept);
  table.catch_up();
  return table;
}

void RunningTable::catch_up() {
  cluster_.follow_pods();
  const RowLog& log = cluster_.log();
  const RowLog& splits = cluster_.split_log();
  if (rows_.size() < cluster_.rows()) rows_.resize(cluster_.rows());
  if (!built_ || !log.reaches(seen_) || !splits.reaches(splits_seen_)) {
    for (std::size_t row = 0; row < cluster_.rows(); ++row) fill(static_cast<NodeId>(row));
    built_ = true;
    seen_ = log.end();
    splits_seen_ = splits.end();
    return;
  }
  for (; seen_ < log.end(); ++seen_)
    if (!log.is_outdated(seen_)) fill(log.at(seen_).node);
  for (; splits_seen_ < splits.end(); ++splits_seen_)
    if (!splits.is_outdated(splits_seen_)) fill(splits.at(splits_seen_).node);
}

// The new slots take hold of their classes before the old ones let go.
void RunningTable::fill(NodeId node) {
  ++rows_read_;
  std::vector<Slot> slots;
  slots.reserve(cluster_.pods_at(node).size());
  for (const api::ObjectPtr& pod : cluster_.pods_at(node)) {
    const api::PodView& view = api::view_of(pod);
    const PodClass& pods = cluster_.followed_class(pod->meta().uid);
    cluster_.retain_class(pods.id);
    slots.push_back({.pods = pods.id,
                     .priority = view.priority,
                     .leaf = leaf_of(*pod, view.scheduling_group),
                     .terminating = api::is_terminating(pod),
                     .start = view.start_time});
    ++by_priority_[view.priority];
    ++leaves_[slots.back().leaf].members;
  }
  clear(node);
  rows_[index_of(node)] = std::move(slots);
}

void RunningTable::clear(NodeId node) {
  for (const Slot& slot : rows_[index_of(node)]) {
    cluster_.release_class(slot.pods);
    const auto at = by_priority_.find(slot.priority);
    if (--at->second == 0) by_priority_.erase(at);
    Leaf& leaf = leaves_[slot.leaf];
    if (--leaf.members > 0 || slot.leaf == kAlone) continue;
    leaf_ids_.erase(key_of(leaf.name_space, leaf.name));
    free_leaves_.push_back(slot.leaf);
  }
}

RunningTable::LeafId RunningTable::leaf_of(const api::Object& pod, const std::string& group) {
  if (group.empty()) return kAlone;
  const std::string& name_space = pod.meta().name_space;
  const auto [at, is_new] = leaf_ids_.try_emplace(key_of(name_space, group), LeafId{0});
  if (!is_new) return at->second;
  LeafId id = 0;
  if (free_leaves_.empty()) {
    id = static_cast<LeafId>(leaves_.size());
    leaves_.emplace_back();
  } else {
    id = free_leaves_.back();
    free_leaves_.pop_back();
  }
  leaves_[id] = {.name_space = name_space, .name = group};
  return at->second = id;
}

}  // namespace muster::scheduler
