#include "scheduler/cache/cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/cache/lasting_taints.h"

namespace muster::scheduler {
namespace {

const api::NodeView& node_view(const api::Object& node) { return node.view<api::NodeView>(); }

}  // namespace

Cluster::Cluster() { intern_taints({}); }

Cluster::~Cluster() = default;
Cluster::Cluster(const Cluster&) = default;

Cluster Cluster::fork() const { return *this; }

// --- rows ---

bool Cluster::find_node(std::string_view name, NodeId& node) const {
  const auto at = row_by_name_.find(name);
  if (at == row_by_name_.end() || !alive_.contains(at->second)) return false;
  node = at->second;
  return true;
}

bool Cluster::has_node(std::string_view name) const {
  NodeId node{};
  return find_node(name, node);
}

NodeId Cluster::row_of(std::string_view name) {
  if (const auto at = row_by_name_.find(name); at != row_by_name_.end()) return at->second;
  // A pod may name any node. More rows make all that is derived from them be made again, so that
  // there are some for the next such pods.
  if (free_rows_.empty()) add_rows(rows_.size() / 4 + 16);
  const NodeId node = free_rows_.back();
  free_rows_.pop_back();
  rows_[index_of(node)] = {.name = std::string(name), .node = nullptr, .pods = 0, .used = true};
  row_by_name_.emplace(std::string(name), node);
  return node;
}

// The first of them is the next to be used.
void Cluster::add_rows(std::size_t more) {
  const std::size_t before = rows_.size();
  rows_.resize(before + more);
  for (std::size_t row = rows_.size(); row > before; --row)
    free_rows_.push_back(static_cast<NodeId>(row - 1));
  grow(rows_.size());
}

void Cluster::release_row_if_unused(NodeId node) {
  Row& row = rows_[index_of(node)];
  if (row.node != nullptr || row.pods > 0) return;
  resources_.for_each([&](const ResourceColumns& columns) {
    CHECK_THAT(columns.requested[node] == 0, "{} {}", row.name, columns.name);
  });
  row_by_name_.erase(row_by_name_.find(row.name));
  row = {};
  free_rows_.push_back(node);
}

void Cluster::grow(std::size_t rows) {
  alive_.resize(rows);
  unschedulable_.resize(rows);
  resources_.grow(rows);
  for (Column<std::int64_t>* column : {&nonzero_cpu_, &nonzero_memory_, &pod_slots_, &pods_on_})
    column->resize(rows);
  taint_set_.resize(rows);
  ranks_.resize(rows);
  for (const auto& [key, column] : labels_) column->values.resize(rows);
  log_.grow(rows);
  followed_->splits.grow(rows);
}

// --- nodes ---

void Cluster::set_node(const api::ObjectPtr& object) {
  release_idle_for_room();
  if (free_rows_.empty() && !row_by_name_.contains(object->meta().name)) add_rows(1);
  const NodeId node = row_of(object->meta().name);
  Row& row = rows_[index_of(node)];
  const api::ObjectPtr before = std::exchange(row.node, object);
  const api::NodeView& view = node_view(*object);
  bool node_changed = false;
  bool labels_changed = false;
  if (before == nullptr) {
    alive_.insert(node);
    ++node_count_;
    unranked_.push_back(node);
    ++order_epoch_;
    node_changed = labels_changed = true;
  } else {
    const api::NodeView& old = node_view(*before);
    labels_changed = before->meta().labels != object->meta().labels;
    node_changed = labels_changed || old.unschedulable != view.unschedulable ||
                   old.taints != view.taints || old.declared_features != view.declared_features;
  }
  if (labels_changed) ++label_epoch_;
  if (before != nullptr && node_view(*before).taints != view.taints &&
      lasting_taints(node_view(*before).taints) != lasting_taints(view.taints))
    ++taint_epoch_;
  if (node_changed) {
    unschedulable_.set(node, view.unschedulable);
    set_taints(node, view.taints);
    if (labels_changed)
      for (const auto& [key, column] : labels_) set_label(*column, node);
  }
  const bool amounts_changed = before == nullptr ||
                               node_view(*before).allocatable != view.allocatable ||
                               node_view(*before).allocatable_pods != view.allocatable_pods;
  if (amounts_changed)
    set_allocatable(node, before == nullptr ? nullptr : &node_view(*before), &view);
  // Even if unchanged: the only node that is left with an image defines the image's size.
  const std::uint64_t image_changes = image_changes_;
  set_images(node, before == nullptr ? nullptr : &node_view(*before), &view);
  const bool images_changed = image_changes_ != image_changes;
  if (node_changed)
    log_.add(node, RowLog::What::Node);
  else if (amounts_changed || images_changed)
    log_.add(node, RowLog::What::Usage);
  if (before == nullptr)
    for (const api::ObjectPtr& attachment : volumes_.attachments_to(object->meta().name))
      set_attachment(*attachment);
}

void Cluster::remove_node(std::string_view name) {
  NodeId node{};
  if (!find_node(name, node)) return;
  const api::ObjectPtr before = std::exchange(rows_[index_of(node)].node, nullptr);
  set_images(node, &node_view(*before), nullptr);
  alive_.remove(node);
  --node_count_;
  order_stale_ = true;
  ++order_epoch_;
  ++label_epoch_;
  unschedulable_.remove(node);
  taint_set_[node] = TaintSetId{};
  set_allocatable(node, &node_view(*before), nullptr);
  for (const auto& [key, column] : labels_) fill_label(*column, node, nullptr);
  for (const api::ObjectPtr& attachment : volumes_.attachments_to(name))
    drop_attachment(attachment->meta().name);
  log_.add(node, RowLog::What::Node);
  release_row_if_unused(node);
}

void Cluster::set_allocatable(NodeId node, const api::NodeView* before,
                              const api::NodeView* after) {
  static const api::Amounts kNothing;
  pod_slots_[node] = after == nullptr ? 0 : after->allocatable_pods;
  find_classes_again(resources_.set_offer(node, before == nullptr ? kNothing : before->allocatable,
                                          after == nullptr ? kNothing : after->allocatable));
  // Fewer idle columns lower the limit; release_idle() raises it again.
  idle_max_ = std::min(idle_max_, kIdleMax + resources_.idle());
  if (resources_.idle() > idle_max_) release_idle();
}

// What some pods use has columns from now on: they are of other classes, which count it there.
void Cluster::find_classes_again(const std::set<NodeId>& rows) {
  if (!followed_->on) return;
  const auto has_columns = [this](std::string_view name) {
    ResourceId id{};
    return find_resource(name, id);
  };
  for (const NodeId row : rows)
    for (const api::ObjectPtr& pod : rows_[index_of(row)].held) {
      PodRecord& record = pods_.find(std::string_view(pod->meta().uid))->second;
      // Logged, since by now there may be room for what it asks, or none for what it matches.
      if (std::ranges::any_of(pod_class(record.pods).missing, has_columns))
        reclass_and_log(record, counted_class_of(record.pod).id);
    }
}

// Columns that no node offers are kept for classes, and classes not only for pods that are there:
// some only save work. They go when there are many, so that the work they save is done again once
// for many columns.
void Cluster::release_idle() {
  for (const auto& [key, derived] : *derived_)
    if (derived != nullptr) derived->release_idle();
  for (const ClassId id : followed_->log.clear()) release_class(id);
  idle_max_ = kIdleMax + resources_.idle();
}

// After pods were refused, as far as classes that only save work are the reason. Those who count
// pods begin again then, so this is not done for each pod that is refused.
void Cluster::release_idle_for_room() {
  constexpr std::uint64_t kChanges = 1024;
  if (short_of_room_->empty() || log_.end() < *let_go_again_) return;
  release_idle();
  short_of_room_->clear();
  *let_go_again_ = log_.end() + kChanges;
}

std::unique_ptr<Cluster::Derived>& Cluster::derived(const void* key) {
  const auto at = std::ranges::find(*derived_, key, [](const auto& entry) { return entry.first; });
  return at != derived_->end() ? at->second : derived_->emplace_back(key, nullptr).second;
}

// --- taints ---

void Cluster::set_taints(NodeId node, const std::vector<api::Taint>& taints) {
  // At least half of them are unused.
  if (taint_sets_.size() > 2 * node_count_ + 64) forget_unused_taint_sets();
  taint_set_[node] = intern_taints(taints);
}

TaintSetId Cluster::intern_taints(const std::vector<api::Taint>& taints) {
  if (const auto at = taint_set_ids_.find(taints); at != taint_set_ids_.end()) return at->second;
  const auto id = static_cast<TaintSetId>(taint_sets_.size());
  taint_sets_.push_back(taints);
  taint_set_ids_.emplace(taints, id);
  return id;
}

// Rows without a node have the empty list, which always has the first number.
void Cluster::forget_unused_taint_sets() {
  const std::vector<std::vector<api::Taint>> before = std::exchange(taint_sets_, {});
  taint_set_ids_.clear();
  ++taint_numbering_;
  intern_taints({});
  alive_.for_each(
      [&](NodeId node) { taint_set_[node] = intern_taints(before[index_of(taint_set_[node])]); });
}

}  // namespace muster::scheduler
