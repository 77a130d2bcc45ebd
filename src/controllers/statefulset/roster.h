#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/object.h"
#include "base/time.h"
#include "controllers/statefulset/free_ordinals.h"

namespace muster::controllers {

// A pod of a StatefulSet, as far as decisions about the set need it.
struct StatefulPod {
  api::ObjectPtr object;
  std::int32_t ordinal = 0;
  std::string revision = {};  // that it was made from: the name, by its label
  bool terminating = false;   // being deleted
  bool ended = false;         // Failed or Succeeded
  bool ready = false;         // running, and says so
  bool pending = false;
  bool misnamed = false;  // lacks a label that says who it is
  std::optional<Time> available_from = {};
};

// The pods of one StatefulSet by ordinal, with every number and every choice that a look needs kept
// up to date: a change of one pod costs the logarithm of the number of pods, and so does a look
// that finds one thing to do, however large the set is.
class Roster {
 public:
  using Ordinals = std::set<std::int32_t>;

  // The pod replaces another of the same ordinal.
  void put(const api::ObjectPtr& pod, std::int32_t ordinal);
  // Does nothing if another pod has the ordinal by now.
  void remove(const api::Object& pod, std::int32_t ordinal);
  bool empty() const { return pods_.empty(); }

  // Which ordinals the set has, and how long a pod must be ready. Costs all pods if it changed.
  void arrange(std::int64_t first, std::int64_t count, Duration wait);
  // Pods that have been ready long enough by now are available.
  void advance(Time now);
  // When the next one will be; only pods that are ready already count.
  std::optional<Time> next_available() const;

  const StatefulPod* find(std::int32_t ordinal) const;
  const FreeOrdinals& free() const { return free_; }
  bool is_inside(std::int32_t ordinal) const { return free_.has(ordinal); }
  const std::map<std::int32_t, StatefulPod>& pods() const { return pods_; }

  std::int32_t count() const { return static_cast<std::int32_t>(pods_.size()); }
  std::int32_t ready() const { return ready_; }
  std::int32_t available() const { return available_; }
  // Pods of a revision that are not being deleted.
  const Ordinals& of_revision(std::string_view revision) const;
  const std::map<std::string, Ordinals, std::less<>>& revisions() const { return revisions_; }

  // Pods that are being deleted, not ready, or not ready for long enough.
  const Ordinals& unavailable() const { return unavailable_; }
  // Pods that have ended and are not being deleted.
  const Ordinals& ended() const { return ended_; }
  const Ordinals& misnamed() const { return misnamed_; }

 private:
  void enter(const StatefulPod& pod);
  void leave(const StatefulPod& pod);
  bool is_available(const StatefulPod& pod) const;

  std::map<std::int32_t, StatefulPod> pods_;
  FreeOrdinals free_;
  Duration wait_{};
  Time now_{};
  std::int32_t ready_ = 0;
  std::int32_t available_ = 0;
  std::map<std::string, Ordinals, std::less<>> revisions_;
  Ordinals unavailable_, ended_, misnamed_;
  std::set<std::pair<Time, std::int32_t>> young_;  // ready, available later
};

// The ordinal in the name of a pod of this set; none if the name is not one that the set gives.
std::optional<std::int32_t> ordinal_of(std::string_view pod, std::string_view set);

inline constexpr std::string_view kPodName = "statefulset.kubernetes.io/pod-name";
inline constexpr std::string_view kPodIndex = "apps.kubernetes.io/pod-index";

}  // namespace muster::controllers
