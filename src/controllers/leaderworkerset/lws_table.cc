#include "controllers/leaderworkerset/lws_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/views/pod_view.h"
#include "api/views/stateful_set_view.h"
#include "controllers/common/owners.h"
#include "controllers/common/pod_facts.h"
#include "controllers/leaderworkerset/lws_keys.h"

namespace muster::controllers {

namespace {

bool is_pending(const api::Object& pod) { return pod.view<api::PodView>().phase == "Pending"; }
bool has_restarted(const api::Object& pod) { return removal_facts(pod).restarts > 0; }
bool is_same(const api::ObjectPtr& known, const api::Object& object) {
  return known != nullptr && known->meta().uid == object.meta().uid;
}

}  // namespace

bool LwsGroup::has_own_workers() const {
  return leader != nullptr && workers != nullptr && is_controlled_by(*workers, leader->meta().uid);
}

bool LwsGroup::is_complete() const {
  return leader != nullptr && std::ssize(members) >= lws_size(*leader) - 1;
}

bool LwsGroup::has_started() const { return is_complete() && pending == 0 && !is_pending(*leader); }

void LwsGroup::put_leader(const api::ObjectPtr& pod) {
  if (!is_same(leader, *pod)) forget_losses();
  leader = pod;
}

void LwsGroup::remove_leader(const api::Object& pod) {
  if (!is_same(leader, pod)) return;
  leader = nullptr;
  forget_losses();
}

void LwsGroup::put_workers(const api::ObjectPtr& set) {
  if (!is_same(workers, *set)) forget_losses();
  workers = set;
  // No pod of a set is made before it has a revision.
  if (set->view<api::StatefulSetView>().status.update_revision.empty())
    known_workers = set->meta().uid;
}

void LwsGroup::remove_workers(const api::Object& set) {
  if (!is_same(workers, set)) return;
  if (has_own_workers()) lost = lost_after_start = true;
  workers = nullptr;
}

void LwsGroup::put_member(std::int32_t worker, const api::ObjectPtr& pod) {
  api::ObjectPtr& member = members[worker];
  if (member != nullptr && is_pending(*member)) --pending;
  member = pod;
  if (is_pending(*pod)) ++pending;
  if (pod->meta().deletion_time || has_restarted(*pod))
    hurt.insert(worker);
  else
    hurt.erase(worker);
}

void LwsGroup::remove_member(std::int32_t worker, const api::Object& pod) {
  const auto at = members.find(worker);
  if (at == members.end() || !is_same(at->second, pod)) return;
  if (has_own_workers() && is_controlled_by(pod, workers->meta().uid)) {
    lost = true;
    lost_after_start |= has_started();
  }
  if (is_pending(*at->second)) --pending;
  members.erase(at);
  hurt.erase(worker);
}

bool LwsGroup::is_hurt() const {
  if (leader == nullptr) return false;
  if (has_restarted(*leader)) return true;
  // Those of an earlier replica of the same index say nothing.
  return has_own_workers() && std::ranges::any_of(hurt, [&](std::int32_t worker) {
           return is_controlled_by(*members.at(worker), workers->meta().uid);
         });
}

bool LwsGroup::is_broken() const {
  if (lost || is_hurt()) return true;
  return has_own_workers() && !is_complete() && known_workers != workers->meta().uid;
}

bool LwsGroup::is_broken_after_start() const {
  return lost_after_start || (is_hurt() && has_started());
}

const LwsGroup* LwsTable::find(std::int32_t index) const {
  const auto at = groups_.find(index);
  return at == groups_.end() ? nullptr : &at->second;
}

// Ready: the leader runs and is ready, and so are all its workers. Updated: both were made from the
// newest revision.
void LwsTable::read(LwsGroup& group) const {
  group.ready = group.updated = group.outdated = false;
  if (group.leader == nullptr) return;
  const auto& leader = group.leader->view<api::PodView>();
  const bool leader_ready =
      leader.phase == "Running" && is_ready(leader) && !group.leader->meta().deletion_time;
  const bool alone = lws_size(*group.leader) == 1;
  const bool has_workers = alone || group.has_own_workers();
  group.outdated = lws_revision(*group.leader) != revision_;
  group.updated =
      !group.outdated && has_workers && (alone || lws_revision(*group.workers) == revision_);
  if (!leader_ready || !has_workers) return;
  if (!alone) {
    const auto& workers = group.workers->view<api::StatefulSetView>();
    group.ready = workers.status.observed_generation == group.workers->meta().generation &&
                  workers.status.ready == workers.replicas;
  } else {
    group.ready = true;
  }
}

void LwsTable::enter(std::int32_t index, const LwsGroup& group) {
  if (group.leader == nullptr) return;
  free_.occupy(index);
  entered_.emplace(index, lws_revision(*group.leader));
  ++leaders_;
  ++revisions_[std::string(lws_revision(*group.leader))];
  if (group.ready) ++ready_;
  if (group.updated) ++updated_;
  if (!group.ready) unready_.insert(index);
  if (!group.ready || !group.updated) unfinished_.insert(index);
  if (group.outdated) outdated_.insert(index);
  if (group.ready && !group.updated) stale_.insert(index);
}

void LwsTable::leave(std::int32_t index, const LwsGroup& group) {
  const auto entered = entered_.find(index);
  if (entered == entered_.end()) return;
  if (const auto same = revisions_.find(entered->second);
      same != revisions_.end() && --same->second == 0)
    revisions_.erase(same);
  entered_.erase(entered);
  free_.release(index);
  --leaders_;
  if (group.ready) --ready_;
  if (group.updated) --updated_;
  for (std::set<std::int32_t>* set : {&unready_, &unfinished_, &outdated_, &stale_})
    set->erase(index);
}

bool LwsTable::has_revision(std::string_view revision) const {
  return revisions_.find(revision) != revisions_.end();
}

void LwsTable::refresh(std::int32_t index) {
  const auto at = groups_.find(index);
  if (at == groups_.end()) return;
  leave(index, at->second);
  due_.insert(index);
  if (at->second.empty()) {
    groups_.erase(at);
    return;
  }
  read(at->second);
  enter(index, at->second);
}

std::vector<std::int32_t> LwsTable::pop_due(std::size_t limit) {
  std::vector<std::int32_t> out;
  while (out.size() < limit && !due_.empty()) {
    const std::int32_t index = *due_.begin();
    due_.erase(due_.begin());
    revisits_.erase(index);
    out.push_back(index);
  }
  for (auto at = revisits_.lower_bound(round_.value_or(0)); at != revisits_.end();
       at = revisits_.erase(at)) {
    round_ = *at;
    if (out.size() >= limit) return out;
    out.push_back(*at);
  }
  round_.reset();
  return out;
}

void LwsTable::arrange(std::int64_t count, const std::string& revision) {
  if (free_.end() == count && revision_ == revision) return;
  for (const auto& [index, group] : groups_) leave(index, group);
  free_.reset(0, count);
  revision_ = revision;
  for (auto& [index, group] : groups_) {
    read(group);
    enter(index, group);
    due_.insert(index);
  }
}

std::int64_t LwsTable::count_between(const std::set<std::int32_t>& set, std::int64_t first,
                                     std::int64_t end, std::int64_t limit) const {
  std::int64_t sum = free_.count_from(first) - free_.count_from(end);
  const auto from = static_cast<std::int32_t>(std::min<std::int64_t>(first, INT32_MAX));
  for (auto at = set.lower_bound(from); at != set.end() && *at < end && sum < limit; ++at) ++sum;
  return std::min(sum, limit);
}

std::int64_t LwsTable::unready_between(std::int64_t first, std::int64_t end,
                                       std::int64_t limit) const {
  return count_between(unready_, first, end, limit);
}

std::int64_t LwsTable::unfinished_between(std::int64_t first, std::int64_t end,
                                          std::int64_t limit) const {
  return count_between(unfinished_, first, end, limit);
}

bool LwsTable::has_outdated_between(std::int64_t first, std::int64_t end) const {
  const auto at =
      outdated_.lower_bound(static_cast<std::int32_t>(std::min<std::int64_t>(first, INT32_MAX)));
  return at != outdated_.end() && *at < end;
}

std::int64_t LwsTable::finished_tail() const {
  const std::int64_t count = free_.end();
  std::int64_t highest = free_.highest().value_or(-1);
  const auto above = unfinished_.lower_bound(static_cast<std::int32_t>(count));
  if (above != unfinished_.begin()) highest = std::max<std::int64_t>(highest, *std::prev(above));
  return count - 1 - highest;
}

std::int64_t LwsTable::lowest_free_to_update(std::int64_t top) const {
  const auto above = stale_.upper_bound(static_cast<std::int32_t>(top));
  return above == stale_.begin() ? 0 : std::int64_t{*std::prev(above)} + 1;
}

}  // namespace muster::controllers
