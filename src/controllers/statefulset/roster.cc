#include "controllers/statefulset/roster.h"

#include <charconv>

#include "api/views/pod_view.h"
#include "controllers/common/pod_facts.h"
#include "controllers/common/revisions.h"

namespace muster::controllers {
namespace {

StatefulPod read_pod(const api::ObjectPtr& object, std::int32_t ordinal, Duration wait) {
  const auto& view = object->view<api::PodView>();
  const api::ObjectMeta& meta = object->meta();
  StatefulPod pod{.object = object, .ordinal = ordinal};
  if (const std::string* revision = api::lookup(meta.labels, kPodRevision))
    pod.revision = *revision;
  const std::string* name = api::lookup(meta.labels, kPodName);
  pod.misnamed = name == nullptr || *name != meta.name;
  pod.terminating = meta.deletion_time.has_value();
  pod.ended = view.is_terminal();
  pod.pending = view.phase == "Pending";
  pod.ready = view.phase == "Running" && is_ready(view);
  if (pod.ready) pod.available_from = available_at(*object, wait);
  return pod;
}

}  // namespace

std::optional<std::int32_t> ordinal_of(std::string_view pod, std::string_view set) {
  if (pod.size() < set.size() + 2 || !pod.starts_with(set) || pod[set.size()] != '-')
    return std::nullopt;
  const std::string_view digits = pod.substr(set.size() + 1);
  std::int32_t ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (error != std::errc{} || end != digits.data() + digits.size() || ordinal < 0 ||
      (digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  return ordinal;
}

bool Roster::is_available(const StatefulPod& pod) const {
  return pod.available_from && *pod.available_from <= now_;
}

void Roster::enter(const StatefulPod& pod) {
  free_.occupy(pod.ordinal);
  if (pod.ready) ++ready_;
  if (is_available(pod))
    ++available_;
  else if (pod.available_from)
    young_.emplace(*pod.available_from, pod.ordinal);
  if (pod.terminating || !is_available(pod)) unavailable_.insert(pod.ordinal);
  if (pod.terminating) return;
  revisions_[pod.revision].insert(pod.ordinal);
  if (pod.ended) ended_.insert(pod.ordinal);
  if (pod.misnamed) misnamed_.insert(pod.ordinal);
}

void Roster::leave(const StatefulPod& pod) {
  free_.release(pod.ordinal);
  if (pod.ready) --ready_;
  if (pod.available_from && young_.erase({*pod.available_from, pod.ordinal}) == 0) --available_;
  unavailable_.erase(pod.ordinal);
  ended_.erase(pod.ordinal);
  misnamed_.erase(pod.ordinal);
  if (const auto same = revisions_.find(pod.revision); same != revisions_.end()) {
    same->second.erase(pod.ordinal);
    if (same->second.empty()) revisions_.erase(same);
  }
}

void Roster::put(const api::ObjectPtr& pod, std::int32_t ordinal) {
  const auto [at, is_new] = pods_.try_emplace(ordinal);
  if (!is_new) leave(at->second);
  at->second = read_pod(pod, ordinal, wait_);
  enter(at->second);
}

void Roster::remove(const api::Object& pod, std::int32_t ordinal) {
  const auto at = pods_.find(ordinal);
  if (at == pods_.end() || at->second.object->meta().uid != pod.meta().uid) return;
  leave(at->second);
  pods_.erase(at);
}

void Roster::arrange(std::int64_t first, std::int64_t count, Duration wait) {
  if (free_.first() == first && free_.end() == first + count && wait_ == wait) return;
  for (const auto& [ordinal, pod] : pods_) leave(pod);
  free_.reset(first, first + count);
  wait_ = wait;
  for (auto& [ordinal, pod] : pods_) {
    pod = read_pod(pod.object, ordinal, wait_);
    enter(pod);
  }
}

void Roster::advance(Time now) {
  now_ = now;
  while (!young_.empty() && young_.begin()->first <= now) {
    const StatefulPod& pod = pods_.at(young_.begin()->second);
    young_.erase(young_.begin());
    ++available_;
    if (!pod.terminating) unavailable_.erase(pod.ordinal);
  }
}

std::optional<Time> Roster::next_available() const {
  return young_.empty() ? std::nullopt : std::optional(young_.begin()->first);
}

const StatefulPod* Roster::find(std::int32_t ordinal) const {
  const auto at = pods_.find(ordinal);
  return at == pods_.end() ? nullptr : &at->second;
}

const Roster::Ordinals& Roster::of_revision(std::string_view revision) const {
  static const Ordinals kNone;
  const auto at = revisions_.find(revision);
  return at == revisions_.end() ? kNone : at->second;
}

}  // namespace muster::controllers
