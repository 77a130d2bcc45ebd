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
  Kept& kept = use(pods);
  kept.standing.catch_up(scratch_);
  count(kept);
  return kept.standing;
}

std::optional<Standing::Pick> Standings::pick(const api::ObjectPtr& pod) {
  Kept& kept = use(cluster_.class_of(pod));
  const std::optional<Standing::Pick> best = kept.standing.pick_once(scratch_);
  count(kept);
  return best;
}

Standings::Kept& Standings::use(const PodClass& pods) {
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

void Standings::count(Kept& kept) {
  rows_read_ += kept.standing.rows_read() - kept.rows_read;
  kept.rows_read = kept.standing.rows_read();
  if (kept.bytes > 0 && kept.rows_read - kept.weighed_at < kRowsPerWeighing) return;
  const std::size_t bytes = kept.standing.bytes();
  bytes_ += bytes - kept.bytes;
  kept.bytes = bytes;
  kept.weighed_at = kept.rows_read;
}

std::list<Standings::Kept>::iterator Standings::evict(std::list<Kept>::iterator at) {
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
