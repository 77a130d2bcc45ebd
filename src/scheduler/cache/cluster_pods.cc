// Pods on nodes, the host ports they hold, and the members of groups.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cache/host_ports.h"

namespace muster::scheduler {
namespace {

std::string group_key(std::string_view name_space, std::string_view group) {
  std::string key;
  key.reserve(name_space.size() + 1 + group.size());
  key.append(name_space).append(1, '/').append(group);
  return key;
}

const api::PodView& pod_view(const api::Object& pod) { return pod.view<api::PodView>(); }

bool has_volumes(const api::Object& pod) {
  return !pod_view(pod).claims.empty() || !pod_view(pod).needs.disks.empty();
}

}  // namespace

void Cluster::set_pod(const api::ObjectPtr& pod) {
  release_idle_for_room();
  const api::PodView& view = pod_view(*pod);
  const std::string_view uid = pod->meta().uid;
  if (view.is_terminal()) {
    erase_pod(uid);
    if (view.phase == "Succeeded" && !view.scheduling_group.empty())
      insert_pod({.pod = pod, .node = NodeId{}, .phase = PodPhase::Succeeded, .assumed = false});
    return;
  }
  if (view.node_name.empty()) return;
  const NodeId node = row_of(view.node_name);
  const auto known = pods_.find(uid);
  const bool may_stay = known != pods_.end() && counts_alike(known->second, *pod, node);
  const ClassId pods = may_stay && followed_->on ? counted_class_of(pod).id : ClassId::None;
  if (may_stay && (!followed_->on || pods == known->second.pods)) {
    // Nothing that is counted changed: only the object is replaced, and with it the key's memory.
    PodRecord record = std::move(known->second);
    pods_.erase(known);
    if (followed_->labels) followed_->labels->replace(record.slot, *pod);
    record.pod = pod;
    record.assumed = false;
    rows_[index_of(node)].held[record.position] = pod;
    pods_.emplace(pod->meta().uid, std::move(record));
    return;
  }
  if (pods != ClassId::None) retain_class(pods);
  erase_pod(uid);
  insert_pod(
      {.pod = pod, .node = row_of(view.node_name), .phase = PodPhase::HoldsNode, .assumed = false});
  // Usually the new record has the same class; room that the pod left may have changed it.
  if (pods != ClassId::None) release_class(pods);
}

bool Cluster::counts_alike(const PodRecord& known, const api::Object& pod, NodeId node) const {
  if (known.phase != PodPhase::HoldsNode || known.node != node) return false;
  const api::PodView& before = pod_view(*known.pod);
  const api::PodView& after = pod_view(pod);
  return before.needs.usage == after.needs.usage &&
         before.needs.nonzero_cpu_milli == after.needs.nonzero_cpu_milli &&
         before.needs.nonzero_memory == after.needs.nonzero_memory &&
         before.needs.host_ports == after.needs.host_ports && !has_volumes(*known.pod) &&
         !has_volumes(pod) && before.scheduling_group == after.scheduling_group &&
         known.pod->meta().deletion_time.has_value() == pod.meta().deletion_time.has_value() &&
         before.needs.pod_terms.empty() == after.needs.pod_terms.empty();
}

void Cluster::remove_pod(std::string_view uid) {
  release_idle_for_room();
  erase_pod(uid);
}

void Cluster::assume(const api::ObjectPtr& pod, std::string_view node) {
  insert_pod({.pod = pod, .node = row_of(node), .phase = PodPhase::HoldsNode, .assumed = true});
}

void Cluster::forget(std::string_view uid) {
  if (is_assumed(uid)) erase_pod(uid);
}

bool Cluster::is_assumed(std::string_view uid) const {
  const auto at = pods_.find(uid);
  return at != pods_.end() && at->second.assumed;
}

std::string Cluster::assumed_node(std::string_view uid) const {
  const auto at = pods_.find(uid);
  return at != pods_.end() && at->second.assumed ? node_name(at->second.node) : std::string();
}

void Cluster::insert_pod(PodRecord&& record) {
  const api::ObjectMeta& meta = record.pod->meta();
  const auto [at, is_new] = pods_.try_emplace(meta.uid, std::move(record));
  CHECK_THAT(is_new, "pod {} holds a node already", api::key_text(meta));
  count_pod(at->second, 1);
  count_member(at->second, 1);
  enter_row(at->second);
  if (followed_->on) {
    follow(at->second);
    if (at->second.phase == PodPhase::HoldsNode)
      log_pod({.pods = at->second.pods, .node = at->second.node, .came = true});
  }
}

void Cluster::erase_pod(std::string_view uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  const PodRecord record = std::move(at->second);  // keeps the memory of the key until the end
  pods_.erase(at);
  count_pod(record, -1);
  count_member(record, -1);
  if (record.phase != PodPhase::HoldsNode) return;
  leave_row(record);
  if (followed_->on) {
    log_pod({.pods = record.pods, .node = record.node, .came = false});
    unfollow(record);
  }
  release_row_if_unused(record.node);
}

void Cluster::enter_row(PodRecord& record) {
  if (record.phase != PodPhase::HoldsNode) return;
  std::vector<api::ObjectPtr>& held = rows_[index_of(record.node)].held;
  record.position = static_cast<std::uint32_t>(held.size());
  held.push_back(record.pod);
}

// The last of the row takes the free place.
void Cluster::leave_row(const PodRecord& record) {
  std::vector<api::ObjectPtr>& held = rows_[index_of(record.node)].held;
  if (record.position + 1 < held.size()) {
    held[record.position] = std::move(held.back());
    pods_.find(std::string_view(held[record.position]->meta().uid))->second.position =
        record.position;
  }
  held.pop_back();
}

// --- nominated pods ---

void Cluster::count_nominated(const api::ObjectPtr& pod, std::string_view node) {
  const NodeId row = row_of(node);
  count_pod({.pod = pod, .node = row, .phase = PodPhase::IsExpected}, 1);
  nominated_[row].push_back(pod);
  find_nominated_classes(row);
}

void Cluster::discount_nominated(const api::ObjectPtr& pod, std::string_view node) {
  const NodeId row = row_of(node);
  count_pod({.pod = pod, .node = row, .phase = PodPhase::IsExpected}, -1);
  std::vector<api::ObjectPtr>& pods = nominated_[row];
  const auto at = std::ranges::find(pods, pod);
  CHECK(at != pods.end());
  pods.erase(at);
  if (pods.empty()) {
    nominated_.erase(row);
    drop_nominated_classes(row);
  } else {
    find_nominated_classes(row);
  }
  release_row_if_unused(row);
}

void Cluster::drop_nominated_classes(NodeId node) {
  ++nominated_classes_->epoch;
  const auto at = nominated_classes_->by_row.find(node);
  if (at == nominated_classes_->by_row.end()) return;
  const std::vector<ClassId> gone = std::move(at->second);
  nominated_classes_->by_row.erase(at);
  for (const ClassId id : gone) release_class(id);
}

void Cluster::find_nominated_classes(NodeId node) {
  std::vector<ClassId> found;
  for (const api::ObjectPtr& pod : nominated_.at(node)) {
    found.push_back(counted_class_of(pod).id);
    retain_class(found.back());
  }
  drop_nominated_classes(node);
  nominated_classes_->by_row.emplace(node, std::move(found));
}

// Somebody asks something new about pods, or this is a copy that has no classes yet.
void Cluster::refresh_nominated_classes() {
  if (nominated_.empty() || nominated_classes_->terms_seen == *term_epoch_) return;
  if (std::exchange(nominated_classes_->is_refreshing, true))
    return;  // looking up a class comes here
  // First all that is asked, then the classes: none of them has to be found again.
  std::vector<TermId> asked;
  for (const auto& [row, pods] : nominated_)
    for (const api::ObjectPtr& pod : pods)
      std::ranges::copy(use_terms(*pod, Part::IsCounted).terms, std::back_inserter(asked));
  nominated_classes_->terms_seen = *term_epoch_;
  for (const auto& [row, pods] : nominated_) find_nominated_classes(row);
  for (const TermId term : asked) terms_->release(term);
  nominated_classes_->is_refreshing = false;
}

// --- pods by class ---

void Cluster::follow_pods() {
  if (followed_->on) return;
  // In the order of UIDs, so that the numbers of classes do not depend on a hash.
  std::vector<PodRecord*> records;
  for (auto& [uid, record] : pods_) {
    record.pods = ClassId::None;
    if (record.phase == PodPhase::HoldsNode) records.push_back(&record);
  }
  std::ranges::sort(records, {},
                    [](const PodRecord* r) { return std::string_view(r->pod->meta().uid); });
  // First all that is asked, then the classes: none of them has to be split again.
  std::vector<TermId> asked;
  for (const PodRecord* record : records)
    std::ranges::copy(use_terms(*record->pod, Part::IsCounted).terms, std::back_inserter(asked));
  followed_->on = true;
  followed_->splits.grow(rows_.size());
  for (PodRecord* record : records) follow(*record);
  for (const TermId term : asked) terms_->release(term);
}

void Cluster::follow(PodRecord& record) {
  if (record.phase != PodPhase::HoldsNode) return;
  // Before the record has a class: this may split those of others.
  const ClassId pods = counted_class_of(record.pod).id;
  record.pods = pods;
  count_followed(pods, record.node);
  if (followed_->labels) record.slot = followed_->labels->add(*record.pod, pods);
}

void Cluster::unfollow(const PodRecord& record) {
  if (followed_->labels) followed_->labels->remove(record.slot);
  uncount_followed(record.pods, record.node);
}

void Cluster::count_followed(ClassId pods, NodeId node) {
  retain_class(pods);
  ++classes_->by_id[index_of(pods)]->running;
  if (followed_->on_row.size() < rows_.size()) followed_->on_row.resize(rows_.size());
  // Sorted: pods may say themselves which node they are on, so there may be any number of classes.
  std::vector<ClassCount>& here = followed_->on_row[index_of(node)];
  const auto at = std::ranges::lower_bound(here, pods, {}, &ClassCount::pods);
  if (at == here.end() || at->pods != pods)
    here.insert(at, {.pods = pods, .count = 1});
  else
    ++at->count;
}

void Cluster::uncount_followed(ClassId pods, NodeId node) {
  std::vector<ClassCount>& here = followed_->on_row[index_of(node)];
  const auto at = std::ranges::lower_bound(here, pods, {}, &ClassCount::pods);
  CHECK(at != here.end() && at->pods == pods);
  if (--at->count == 0) here.erase(at);
  --classes_->by_id[index_of(pods)]->running;
  release_class(pods);
}

void Cluster::reclass(PodRecord& record, ClassId to) {
  const ClassId before = std::exchange(record.pods, to);
  count_followed(to, record.node);
  uncount_followed(before, record.node);
  if (followed_->labels) followed_->labels->set_class(record.slot, to);
  followed_->splits.add(record.node, RowLog::What::Usage);
}

// For a class that others answer differently about: for those who count, the pod leaves and comes
// back as another.
void Cluster::reclass_and_log(PodRecord& record, ClassId to) {
  if (to == record.pods) return;
  log_pod({.pods = record.pods, .node = record.node, .came = false});
  reclass(record, to);
  log_pod({.pods = record.pods, .node = record.node, .came = true});
}

// Goes over all pods once, when somebody looks for some of them for the first time.
PodLabels& Cluster::pod_labels() {
  if (followed_->labels) return *followed_->labels;
  PodLabels& labels = followed_->labels.emplace();
  for (const Row& row : rows_)
    for (const api::ObjectPtr& pod : row.held) {
      PodRecord& record = pods_.find(std::string_view(pod->meta().uid))->second;
      if (record.pods != ClassId::None) record.slot = labels.add(*record.pod, record.pods);
    }
  return labels;
}

// The log keeps the classes of its entries: a reader may come long after the last pod has left. It
// forgets all of them before these keep many large pods in memory that are gone.
void Cluster::log_pod(const PodLog::Entry& entry) {
  constexpr std::size_t kLarge = std::size_t{16} << 10U;
  constexpr std::size_t kLargeMax = std::size_t{64} << 20U;
  retain_class(entry.pods);
  const auto size_of = [this](ClassId id) { return pod_class(id).sample->bytes().size(); };
  if (size_of(entry.pods) > kLarge) {
    std::size_t sum = 0;
    const PodLog& log = followed_->log;
    for (std::uint64_t at = log.end(); at > 0 && log.reaches(at - 1); --at)
      sum += size_of(log.at(at - 1).pods);
    if (sum > kLargeMax)
      for (const ClassId id : followed_->log.clear()) release_class(id);
  }
  if (followed_->log.is_full()) {
    const ClassId gone = followed_->log.oldest().pods;
    followed_->log.add(entry);
    release_class(gone);
  } else {
    followed_->log.add(entry);
  }
}

void Cluster::count_pod(const PodRecord& record, std::int64_t sign) {
  if (record.phase == PodPhase::Succeeded) return;
  const NodeId node = record.node;
  const api::PodNeeds& needs = pod_view(*record.pod).needs;
  resources_.count(node, needs.usage, sign);
  nonzero_cpu_[node] += sign * needs.nonzero_cpu_milli;
  nonzero_memory_[node] += sign * needs.nonzero_memory;
  if (!needs.host_ports.empty()) count_ports(needs.host_ports, node, sign);
  if (has_volumes(*record.pod)) count_volumes(record, sign);
  if (!needs.pod_terms.empty()) asking_pods_ += sign;
  pods_on_[node] += sign;
  rows_[index_of(node)].pods += static_cast<std::int32_t>(sign);
  CHECK(pods_on_[node] >= 0);
  log_.add(node, RowLog::What::Usage);
}

void Cluster::count_class(const PodClass& pods, NodeId node, std::int64_t sign) {
  for (const PodClass::Want& taken : pods.usage)
    resources_.count(node, taken.resource, sign * taken.amount);
  nonzero_cpu_[node] += sign * pods.needs->nonzero_cpu_milli;
  nonzero_memory_[node] += sign * pods.needs->nonzero_memory;
  if (!pods.needs->host_ports.empty()) count_ports(pods.needs->host_ports, node, sign);
  if (pods.volumes != nullptr) place_volumes(pods, node, sign);
  pods_on_[node] += sign;
}

std::span<const api::HostPort> Cluster::ports_on(NodeId node) const {
  const auto at = ports_.find(static_cast<std::uint32_t>(node));
  return at == ports_.end() ? std::span<const api::HostPort>()
                            : std::span<const api::HostPort>(at->second);
}

void Cluster::count_ports(const std::vector<api::HostPort>& ports, NodeId node, std::int64_t sign) {
  const auto row = static_cast<std::uint32_t>(node);
  HeldPorts& held = ports_[row];
  if (sign > 0)
    add_ports(held, ports);
  else
    remove_ports(held, ports);
  if (held.empty()) ports_.erase(row);
}

void Cluster::count_member(const PodRecord& record, std::int32_t sign) {
  const api::PodView& view = pod_view(*record.pod);
  if (view.scheduling_group.empty()) return;
  const api::ObjectMeta& meta = record.pod->meta();
  const std::string key = group_key(meta.name_space, view.scheduling_group);
  GroupMembers& group = members_[key];
  if (record.phase == PodPhase::Succeeded) {
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

}  // namespace muster::scheduler
