#include "scheduler/groups/nominations.h"

#include "api/views/pod_facts.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;
using api::view_of;

const std::string kNone;

}  // namespace

Nominations::Nominations(const Nominations& other, Cluster& cluster)
    : cluster_(cluster),
      entries_(other.entries_),
      places_(other.places_),
      counted_(other.counted_),
      uncounted_(other.uncounted_),
      level_(other.level_),
      by_node_(other.by_node_) {}

Nominations::Entry* Nominations::find(std::string_view uid) {
  const auto at = entries_.find(uid);
  return at == entries_.end() ? nullptr : &at->second;
}

Nominations::Entry& Nominations::make(const ObjectPtr& pod) {
  Entry entry{.pod = pod, .priority = view_of(pod).priority, .node = {}, .api_node = {}};
  return entries_.emplace(pod->meta().uid, std::move(entry)).first->second;
}

void Nominations::observed(const ObjectPtr& pod, std::string_view node) {
  const std::string& uid = pod->meta().uid;
  Entry* entry = find(uid);
  if (entry == nullptr) {
    if (node.empty()) return;
    entry = &make(pod);
  }
  entry->api_node = node;
  replace(uid, *entry, pod);
  if (entry->ours && entry->node != node) return;
  entry->ours = false;
  update(uid, *entry, std::string(node));
  if (entry->node.empty()) entries_.erase(uid);
}

void Nominations::forget(std::string_view uid) {
  const auto at = entries_.find(uid);
  if (at == entries_.end()) return;
  update(at->first, at->second, {});
  entries_.erase(at);
}

void Nominations::nominate(const ObjectPtr& pod, std::string_view node) {
  const std::string& uid = pod->meta().uid;
  Entry* entry = find(uid);
  if (entry == nullptr) {
    if (node.empty()) return;
    entry = &make(pod);
  }
  replace(uid, *entry, pod);
  update(uid, *entry, std::string(node));
  entry->ours = entry->node != entry->api_node;
  if (entry->node.empty() && !entry->ours) entries_.erase(uid);
}

void Nominations::give_up(std::string_view uid) {
  const auto at = entries_.find(uid);
  if (at == entries_.end() || !at->second.ours) return;
  at->second.ours = false;
  update(at->first, at->second, at->second.api_node);
  if (at->second.node.empty()) entries_.erase(at);
}

const std::string& Nominations::node_of(std::string_view uid) const {
  const auto at = entries_.find(uid);
  return at == entries_.end() ? kNone : at->second.node;
}

std::vector<ObjectPtr> Nominations::lower_on(std::string_view node, std::int32_t priority) const {
  std::vector<ObjectPtr> lower;
  for (auto at = by_node_.lower_bound({std::string(node), {}});
       at != by_node_.end() && at->first == node; ++at) {
    const Entry& entry = entries_.find(at->second)->second;
    if (entry.priority < priority) lower.push_back(entry.pod);
  }
  return lower;
}

// Labels and, in place, requests of a pod that waits may change: it counts as it is now.
void Nominations::replace(const std::string& uid, Entry& entry, const ObjectPtr& pod) {
  if (entry.pod == pod) return;
  std::string node = entry.node;
  update(uid, entry, {});
  entry.pod = pod;
  entry.priority = view_of(pod).priority;
  update(uid, entry, std::move(node));
}

// A pod whose place changes is not counted before the next attempt.
void Nominations::update(const std::string& uid, Entry& entry, std::string node) {
  if (entry.node == node) return;
  const Place place{entry.priority, uid};
  if (entry.counted) uncount(place);
  uncounted_.erase(place);
  if (!entry.node.empty()) {
    places_.erase(place);
    by_node_.erase({entry.node, uid});
  }
  entry.node = std::move(node);
  if (entry.node.empty()) return;
  places_.insert(place);
  by_node_.emplace(entry.node, uid);
  if (entry.priority >= level_) uncounted_.insert(place);
}

void Nominations::count(const Place& place) {
  Entry& entry = entries_.find(place.second)->second;
  cluster_.count_nominated(entry.pod, entry.node);
  entry.counted = true;
  counted_.insert(place);
}

void Nominations::uncount(const Place& place) {
  Entry& entry = entries_.find(place.second)->second;
  cluster_.discount_nominated(entry.pod, entry.node);
  entry.counted = false;
  counted_.erase(place);
}

void Nominations::count_for(std::int32_t priority, std::span<const std::string> tried) {
  if (places_.empty()) return;
  while (!counted_.empty() && counted_.begin()->first < priority) uncount(Place(*counted_.begin()));
  for (auto at = places_.lower_bound({priority, {}}); at != places_.end() && at->first < level_;
       ++at)
    uncounted_.insert(*at);
  level_ = priority;
  uncounted_.erase(uncounted_.begin(), uncounted_.lower_bound({priority, {}}));
  std::set<Place> kept_out;
  for (const std::string& uid : tried) {
    const Entry* entry = find(uid);
    if (entry == nullptr || entry->node.empty() || entry->priority < priority) continue;
    const Place place{entry->priority, uid};
    if (entry->counted) uncount(place);
    uncounted_.erase(place);
    kept_out.insert(place);
  }
  for (const Place& place : uncounted_) count(place);
  uncounted_ = std::move(kept_out);
}

void Nominations::count_nobody() {
  while (!counted_.empty()) uncount(Place(*counted_.begin()));
  uncounted_.clear();
  level_ = std::numeric_limits<std::int32_t>::max();
  // Those of the very highest priority would be taken for counted.
  uncounted_.insert(places_.lower_bound({level_, {}}), places_.end());
}

}  // namespace muster::scheduler
