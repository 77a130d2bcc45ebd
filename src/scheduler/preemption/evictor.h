#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/object.h"
#include "api/views/condition.h"
#include "scheduler/preemption/object_writes.h"

namespace muster::scheduler {

// Writes what preemption decides about single pods: victims get their condition and are deleted,
// waiting pods get or lose the node that is kept for them.
class Evictor {
 public:
  // A victim could not be evicted, or a nomination could not be written.
  using OnFailed = std::function<void(const api::ObjectPtr& pod, const Error& error, Time now)>;

  // The server has taken the deletion of a victim, or the victim was gone. May be empty.
  using OnEvicted = std::function<void(const api::ObjectPtr& pod, Time now)>;

  Evictor(ObjectWrites& writes, OnEvicted on_evicted, OnFailed on_failed)
      : writes_(writes), on_evicted_(std::move(on_evicted)), on_failed_(std::move(on_failed)) {}

  // Writes condition DisruptionTarget with this message, then deletes the pod.
  void evict(const api::ObjectPtr& pod, std::string message, Time now);
  // Writes status.nominatedNodeName; empty: removes it.
  void nominate(const api::ObjectPtr& pod, std::string_view node, Time now);

 private:
  void remove(const api::ObjectPtr& pod, Time now);
  void evicted(const api::ObjectPtr& pod, Time now) const {
    if (on_evicted_) on_evicted_(pod, now);
  }

  ObjectWrites& writes_;
  const OnEvicted on_evicted_;
  const OnFailed on_failed_;
  std::uint64_t last_nomination_ = 0;
  // The last nomination of each pod, by uid: an older one that is asked again must not undo it.
  boost::unordered_flat_map<std::string, std::uint64_t> nominating_;
};

// Marks an object that must go because somebody is more important; with an empty message, takes the
// mark away.
api::Request mark_request(const api::Object& object, std::string_view message, Time now);
// Whether the object says that a scheduler has it evicted.
template <typename View>
const api::Condition* eviction_mark(const View& view) {
  const api::Condition* const said = view.condition("DisruptionTarget");
  const bool is_marked =
      said != nullptr && said->status == "True" && said->reason == "PreemptionByScheduler";
  return is_marked ? said : nullptr;
}

}  // namespace muster::scheduler
