#include "scheduler/framework/standings.h"

#include <algorithm>
#include <iterator>

namespace muster::scheduler {

Standings& Standings::of(Cluster& cluster, const Profile& profile) {
  std::unique_ptr<Cluster::Derived>& slot = cluster.derived(profile.identity());
  if (slot == nullptr) slot = std::make_unique<Standings>(cluster, profile);
  return static_cast<Standings&>(*slot);
}

Standing& Standings::of_pod(const api::ObjectPtr& pod) { return of_class(cluster_.class_of(pod)); }

Standing& Standings::of_class(const PodClass& pods) {
  Entry& entry = use(pods);
  entry.standing.catch_up(scratch_);
  count(entry);
  return entry.standing;
}

std::optional<Standing::Pick> Standings::pick(const api::ObjectPtr& pod) {
  Entry& entry = use(cluster_.class_of(pod));
  const std::optional<Standing::Pick> best = entry.standing.pick_once(scratch_);
  count(entry);
  return best;
}

Standings::Entry& Standings::use(const PodClass& pods) {
  const std::size_t id = index_of(pods.id);
  if (place_.size() <= id) place_.resize(id + 1, live_.end());
  if (place_[id] == live_.end()) {
    live_.emplace_front(pods, profile_, cluster_);
    place_[id] = live_.begin();
    cluster_.retain_class(pods.id);
  } else {
    live_.splice(live_.begin(), live_, place_[id]);
  }
  return live_.front();
}

void Standings::count(Entry& entry) {
  rows_read_ += entry.standing.rows_read() - entry.rows_read;
  entry.rows_read = entry.standing.rows_read();
  if (entry.bytes > 0 && entry.rows_read - entry.weighed_at < kRowsPerWeighing) return;
  const std::size_t bytes = entry.standing.bytes();
  bytes_ += bytes - entry.bytes;
  entry.bytes = bytes;
  entry.weighed_at = entry.rows_read;
}

std::list<Standings::Entry>::iterator Standings::evict(std::list<Entry>::iterator at) {
  const ClassId id = at->id;
  bytes_ -= at->bytes;
  place_[index_of(id)] = live_.end();
  const auto next = live_.erase(at);
  cluster_.release_class(id);
  return next;
}

void Standings::evict_cold() {
  while (bytes_ > bytes_max_ && live_.size() > 1) evict(std::prev(live_.end()));
}

void Standings::release_idle() {
  const auto is_idle = [this](const PodClass::Want& want) {
    return cluster_.resource(want.resource).is_idle();
  };
  for (auto at = live_.begin(); at != live_.end();) {
    const PodClass& pods = cluster_.pod_class(at->id);
    const bool keeps_idle =
        std::ranges::any_of(pods.wants, is_idle) || std::ranges::any_of(pods.usage, is_idle);
    at = keeps_idle || cluster_.wants_back(pods) ? evict(at) : std::next(at);
  }
}

}  // namespace muster::scheduler
