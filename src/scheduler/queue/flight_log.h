#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "scheduler/framework/cluster_event.h"

namespace muster::scheduler {

// Events that arrived while something was being tried. An attempt decides on the cluster as it was
// at its pop: what happened since may help an entity that the attempt refuses, so the refused one
// is asked about it before it goes to rest. Kept only while something is in flight.
class FlightLog {
 public:
  struct Entry {
    ClusterEvent event;
    std::optional<std::int32_t> priority_max;  // concerns entities up to this priority only
    std::string target;                        // the uid of the only pod concerned; empty: all
  };

  // An entity was popped; returns where its part of the log begins.
  std::size_t start() {
    ++in_flight_;
    return entries_.size();
  }
  // An entity came back.
  void end() {
    CHECK(in_flight_ > 0);
    if (--in_flight_ == 0) entries_.clear();
  }
  void record(const ClusterEvent& event, std::optional<std::int32_t> priority_max,
              std::string target) {
    if (in_flight_ > 0) entries_.push_back({event, priority_max, std::move(target)});
  }

  // Whether an event since `start` that concerns this pod satisfies `helps`.
  template <typename Helps>
  bool any_since(std::size_t start, std::string_view uid, std::int32_t priority,
                 Helps&& helps) const {
    for (std::size_t i = start; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (entry.priority_max && priority > *entry.priority_max) continue;
      if (!entry.target.empty() && entry.target != uid) continue;
      if (helps(entry.event)) return true;
    }
    return false;
  }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) visit(entry.event);
  }

  std::size_t in_flight() const { return in_flight_; }
  std::size_t size() const { return entries_.size(); }

 private:
  std::size_t in_flight_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace muster::scheduler
