#include "scheduler/cache/cluster.h"

#include <algorithm>
#include <utility>

#include "api/views/pod_view.h"
#include "base/check.h"

namespace muster::scheduler {
namespace {

std::string group_key(std::string_view name_space, std::string_view group) {
  std::string key;
  key.reserve(name_space.size() + 1 + group.size());
  key.append(name_space).append(1, '/').append(group);
  return key;
}

const api::PodView& pod_view(const api::Object& pod) { return pod.view<api::PodView>(); }
const api::NodeView& node_view(const api::Object& node) { return node.view<api::NodeView>(); }

// Visits every resource an amount names: visit(name, value), zeros of scalars included.
template <typename Visit>
void for_each_resource(const api::Amounts& amounts, Visit&& visit) {
  visit("cpu", amounts.cpu_milli);
  visit("memory", amounts.memory);
  visit("ephemeral-storage", amounts.ephemeral_storage);
  for (const auto& [name, amount] : amounts.scalars) visit(std::string_view(name), amount);
}

}  // namespace

Cluster::Cluster() {
  for (const std::string_view name : {"cpu", "memory", "ephemeral-storage"}) resource_id(name);
  intern_taints({});
}

Cluster::~Cluster() = default;

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
  NodeId node{};
  if (free_rows_.empty()) {
    node = static_cast<NodeId>(rows_.size());
    rows_.emplace_back();
    grow(rows_.size());
  } else {
    node = free_rows_.back();
    free_rows_.pop_back();
  }
  rows_[index_of(node)] = {.name = std::string(name), .node = nullptr, .pods = 0, .used = true};
  row_by_name_.emplace(std::string(name), node);
  return node;
}

void Cluster::release_row_if_unused(NodeId node) {
  Row& row = rows_[index_of(node)];
  if (row.node != nullptr || row.pods > 0) return;
  for (const auto& columns : resources_)
    CHECK_THAT(columns->requested[node] == 0, "{} {}", row.name, columns->name);
  row_by_name_.erase(row_by_name_.find(row.name));
  row = {};
  free_rows_.push_back(node);
}

void Cluster::grow(std::size_t rows) {
  alive_.resize(rows);
  unschedulable_.resize(rows);
  for (const auto& columns : resources_) {
    columns->allocatable.resize(rows);
    columns->requested.resize(rows);
  }
  for (Column<std::int64_t>* column : {&nonzero_cpu_, &nonzero_memory_, &pod_slots_, &pods_on_})
    column->resize(rows);
  taint_set_.resize(rows);
  ranks_.resize(rows);
  for (const auto& [key, column] : labels_) column->values.resize(rows);
  log_.grow(rows);
}

ResourceId Cluster::resource_id(std::string_view name) {
  if (const auto at = resource_ids_.find(name); at != resource_ids_.end()) return at->second;
  const auto id = static_cast<ResourceId>(resources_.size());
  auto columns = std::make_unique<ResourceColumns>();
  columns->name = name;
  columns->insufficient = "Insufficient " + columns->name;
  columns->allocatable.resize(rows_.size());
  columns->requested.resize(rows_.size());
  resources_.push_back(std::move(columns));
  resource_ids_.emplace(std::string(name), id);
  return id;
}

bool Cluster::find_resource(std::string_view name, ResourceId& id) const {
  const auto at = resource_ids_.find(name);
  if (at == resource_ids_.end()) return false;
  id = at->second;
  return true;
}

// --- nodes ---

void Cluster::set_node(const api::ObjectPtr& object) {
  const NodeId node = row_of(object->meta().name);
  Row& row = rows_[index_of(node)];
  const api::ObjectPtr before = std::exchange(row.node, object);
  const api::NodeView& view = node_view(*object);
  bool shape_changed = false;
  bool labels_changed = false;
  if (before == nullptr) {
    alive_.insert(node);
    ++node_count_;
    unranked_.push_back(node);
    ++order_epoch_;
    shape_changed = labels_changed = true;
  } else {
    const api::NodeView& old = node_view(*before);
    labels_changed = before->meta().labels != object->meta().labels;
    shape_changed =
        labels_changed || old.unschedulable != view.unschedulable || old.taints != view.taints;
  }
  if (labels_changed) ++label_epoch_;
  if (shape_changed) {
    unschedulable_.set(node, view.unschedulable);
    taint_set_[node] = intern_taints(view.taints);
    if (labels_changed)
      for (const auto& [key, column] : labels_) set_label(*column, node);
  }
  const bool amounts_changed = before == nullptr ||
                               node_view(*before).allocatable != view.allocatable ||
                               node_view(*before).allocatable_pods != view.allocatable_pods;
  if (amounts_changed) set_allocatable(node, view);
  if (shape_changed)
    log_shape(node);
  else if (amounts_changed)
    log_.add(node, RowLog::What::Usage);
}

void Cluster::remove_node(std::string_view name) {
  NodeId node{};
  if (!find_node(name, node)) return;
  rows_[index_of(node)].node = nullptr;
  alive_.remove(node);
  --node_count_;
  order_stale_ = true;
  ++order_epoch_;
  ++label_epoch_;
  unschedulable_.remove(node);
  taint_set_[node] = TaintSetId{};
  clear_allocatable(node);
  for (const auto& [key, column] : labels_) fill_label(*column, node, nullptr);
  log_shape(node);
  release_row_if_unused(node);
}

void Cluster::log_shape(NodeId node) {
  ++shape_epoch_;
  log_.add(node, RowLog::What::Shape);
}

void Cluster::set_allocatable(NodeId node, const api::NodeView& view) {
  clear_allocatable(node);
  for_each_resource(view.allocatable, [&](std::string_view name, std::int64_t amount) {
    ResourceColumns& columns = *resources_[index_of(resource_id(name))];
    columns.allocatable[node] = amount;
    columns.allocatable_max = std::max(columns.allocatable_max, amount);
  });
  pod_slots_[node] = view.allocatable_pods;
}

void Cluster::clear_allocatable(NodeId node) {
  for (const auto& columns : resources_) columns->allocatable[node] = 0;
  pod_slots_[node] = 0;
}

TaintSetId Cluster::intern_taints(const std::vector<api::Taint>& taints) {
  if (const auto at = taint_set_ids_.find(taints); at != taint_set_ids_.end()) return at->second;
  const auto id = static_cast<TaintSetId>(taint_sets_.size());
  taint_sets_.push_back(taints);
  taint_set_ids_.emplace(taints, id);
  return id;
}

// --- labels ---

const LabelColumn& Cluster::watch_label(std::string_view key) {
  if (const auto at = labels_.find(key); at != labels_.end()) return *at->second;
  auto column = std::make_unique<LabelColumn>();
  column->key = key;
  column->names.emplace_back();
  column->values.resize(rows_.size());
  LabelColumn& kept = *labels_.emplace(std::string(key), std::move(column)).first->second;
  alive_.for_each([&](NodeId node) { set_label(kept, node); });
  return kept;
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
  if (value == nullptr) {
    column.values[node] = LabelValueId::Absent;
    return;
  }
  auto at = column.ids.find(*value);
  if (at == column.ids.end()) {
    at = column.ids.emplace(*value, static_cast<LabelValueId>(column.names.size())).first;
    column.names.push_back(*value);
  }
  column.values[node] = at->second;
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

// --- pods ---

void Cluster::set_pod(const api::ObjectPtr& pod) {
  const api::PodView& view = pod_view(*pod);
  const std::string_view uid = pod->meta().uid;
  if (view.is_terminal()) {
    erase_pod(uid);
    if (view.phase == "Succeeded" && !view.scheduling_group.empty())
      insert_pod({.pod = pod, .node = NodeId{}, .standing = Standing::Succeeded, .assumed = false});
    return;
  }
  if (view.node_name.empty()) return;
  const NodeId node = row_of(view.node_name);
  if (const auto known = pods_.find(uid);
      known != pods_.end() && counts_alike(known->second, *pod, node)) {
    // Nothing that is counted changed: only the object is replaced, and with it the key's memory.
    PodRecord record = std::move(known->second);
    pods_.erase(known);
    record.pod = pod;
    record.assumed = false;
    pods_.emplace(pod->meta().uid, std::move(record));
    return;
  }
  erase_pod(uid);
  insert_pod(
      {.pod = pod, .node = row_of(view.node_name), .standing = Standing::Holds, .assumed = false});
}

bool Cluster::counts_alike(const PodRecord& known, const api::Object& pod, NodeId node) const {
  if (known.standing != Standing::Holds || known.node != node) return false;
  const api::PodView& before = pod_view(*known.pod);
  const api::PodView& after = pod_view(pod);
  return before.needs.usage == after.needs.usage &&
         before.needs.nonzero_cpu_milli == after.needs.nonzero_cpu_milli &&
         before.needs.nonzero_memory == after.needs.nonzero_memory &&
         before.needs.host_ports == after.needs.host_ports &&
         before.scheduling_group == after.scheduling_group &&
         known.pod->meta().deletion_time.has_value() == pod.meta().deletion_time.has_value();
}

void Cluster::remove_pod(std::string_view uid) { erase_pod(uid); }

void Cluster::assume(const api::ObjectPtr& pod, std::string_view node) {
  insert_pod({.pod = pod, .node = row_of(node), .standing = Standing::Holds, .assumed = true});
}

void Cluster::forget(std::string_view uid) {
  if (is_assumed(uid)) erase_pod(uid);
}

bool Cluster::is_assumed(std::string_view uid) const {
  const auto at = pods_.find(uid);
  return at != pods_.end() && at->second.assumed;
}

void Cluster::insert_pod(PodRecord record) {
  const api::ObjectMeta& meta = record.pod->meta();
  const auto [at, is_new] = pods_.try_emplace(meta.uid, std::move(record));
  CHECK_THAT(is_new, "pod {} holds a node already", api::key_text(meta));
  count_pod(at->second, 1);
  count_member(at->second, 1);
}

void Cluster::erase_pod(std::string_view uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  const PodRecord record = std::move(at->second);  // keeps the memory of the key until the end
  pods_.erase(at);
  count_pod(record, -1);
  count_member(record, -1);
  if (record.standing == Standing::Holds) release_row_if_unused(record.node);
}

void Cluster::count_pod(const PodRecord& record, std::int64_t sign) {
  if (record.standing != Standing::Holds) return;
  const NodeId node = record.node;
  const api::PodNeeds& needs = pod_view(*record.pod).needs;
  resources_[index_of(ResourceId::Cpu)]->requested[node] += sign * needs.usage.cpu_milli;
  resources_[index_of(ResourceId::Memory)]->requested[node] += sign * needs.usage.memory;
  resources_[index_of(ResourceId::EphemeralStorage)]->requested[node] +=
      sign * needs.usage.ephemeral_storage;
  for (const auto& [name, amount] : needs.usage.scalars)
    resources_[index_of(resource_id(name))]->requested[node] += sign * amount;
  nonzero_cpu_[node] += sign * needs.nonzero_cpu_milli;
  nonzero_memory_[node] += sign * needs.nonzero_memory;
  if (!needs.host_ports.empty()) count_ports(needs.host_ports, node, sign);
  pods_on_[node] += sign;
  rows_[index_of(node)].pods += static_cast<std::int32_t>(sign);
  CHECK(pods_on_[node] >= 0);
  log_.add(node, RowLog::What::Usage);
}

void Cluster::count_class(const PodClass& pods, NodeId node, std::int64_t sign) {
  for (const PodClass::Want& taken : pods.usage)
    resources_[index_of(taken.resource)]->requested[node] += sign * taken.amount;
  nonzero_cpu_[node] += sign * pods.needs->nonzero_cpu_milli;
  nonzero_memory_[node] += sign * pods.needs->nonzero_memory;
  if (!pods.needs->host_ports.empty()) count_ports(pods.needs->host_ports, node, sign);
  pods_on_[node] += sign;
}

std::span<const api::HostPort> Cluster::ports_on(NodeId node) const {
  const auto at = ports_.find(static_cast<std::uint32_t>(node));
  return at == ports_.end() ? std::span<const api::HostPort>()
                            : std::span<const api::HostPort>(at->second);
}

void Cluster::count_ports(const std::vector<api::HostPort>& ports, NodeId node, std::int64_t sign) {
  const auto row = static_cast<std::uint32_t>(node);
  std::vector<api::HostPort>& held = ports_[row];
  for (const api::HostPort& port : ports) {
    if (sign > 0) {
      held.push_back(port);
      continue;
    }
    const auto at = std::ranges::find(held, port);
    CHECK(at != held.end());
    held.erase(at);
  }
  if (held.empty()) ports_.erase(row);
}

void Cluster::count_member(const PodRecord& record, std::int32_t sign) {
  const api::PodView& view = pod_view(*record.pod);
  if (view.scheduling_group.empty()) return;
  const api::ObjectMeta& meta = record.pod->meta();
  const std::string key = group_key(meta.name_space, view.scheduling_group);
  GroupMembers& group = members_[key];
  if (record.standing == Standing::Succeeded) {
    group.succeeded += sign;
  } else if (!meta.deletion_time) {
    group.running_total += sign;
    std::int32_t& here = group.running[record.node];
    here += sign;
    if (here == 0) group.running.erase(record.node);
  }
  if (group.running_total == 0 && group.succeeded == 0) members_.erase(key);
}

const GroupMembers* Cluster::members(std::string_view name_space, std::string_view group) const {
  const auto at = members_.find(group_key(name_space, group));
  return at == members_.end() ? nullptr : &at->second;
}

// --- classes ---

const PodClass& Cluster::class_of(const api::ObjectPtr& pod) {
  const api::PodView& view = pod_view(*pod);
  std::vector<ClassId>& candidates = classes_by_hash_[view.needs_hash];
  for (const ClassId id : candidates)
    if (*classes_[index_of(id)]->needs == view.needs) return *classes_[index_of(id)];

  auto made = std::make_unique<PodClass>();
  made->sample = pod;
  made->needs = &view.needs;
  for_each_resource(view.needs.requests, [&](std::string_view name, std::int64_t amount) {
    if (amount > 0) made->wants.push_back({resource_id(name), amount});
  });
  for_each_resource(view.needs.usage, [&](std::string_view name, std::int64_t amount) {
    if (amount != 0) made->usage.push_back({resource_id(name), amount});
  });
  for (const auto& [key, value] : view.needs.node_selector) watch_label(key);
  const auto watch_term = [&](const api::NodeSelectorTerm& term) {
    for (const api::NodeRequirement& requirement : term.expressions) watch_label(requirement.key);
  };
  for (const api::NodeSelectorTerm& term : view.needs.required) watch_term(term);
  for (const api::PreferredNodeTerm& preferred : view.needs.preferred) watch_term(preferred.term);

  if (free_classes_.empty()) {
    made->id = static_cast<ClassId>(classes_.size());
    classes_.emplace_back();
  } else {
    made->id = free_classes_.back();
    free_classes_.pop_back();
  }
  candidates.push_back(made->id);
  std::unique_ptr<PodClass>& slot = classes_[index_of(made->id)];
  slot = std::move(made);
  return *slot;
}

void Cluster::release_class(ClassId id) {
  CHECK(classes_[index_of(id)]->users > 0);
  if (--classes_[index_of(id)]->users > 0) return;
  const std::unique_ptr<PodClass> gone = std::move(classes_[index_of(id)]);
  const auto at = classes_by_hash_.find(gone->sample->view<api::PodView>().needs_hash);
  std::erase(at->second, id);
  if (at->second.empty()) classes_by_hash_.erase(at);
  free_classes_.push_back(id);
}

}  // namespace muster::scheduler
