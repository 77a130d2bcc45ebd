#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/object.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/pass.h"

namespace muster::scheduler {

// The questions a plugin may answer, one small interface each; a plugin implements those it has an
// answer to and carries its upstream name as `static constexpr std::string_view kName`. Plugins
// never change once made.

// "May pods of this class run there?" Null: nothing to say about these pods (upstream's Skip).
class Filter {
 public:
  virtual ~Filter() = default;
  virtual std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                                     const Cluster& cluster) const = 0;
};

// "How good is it there?" Null: adds nothing for these pods (upstream's Skip).
class Score {
 public:
  virtual ~Score() = default;
  virtual std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                                   const Cluster& cluster) const = 0;
};

// "May this pod enter the queue?" The reason if not.
class Gate {
 public:
  virtual ~Gate() = default;
  virtual std::optional<std::string> holds_back(const api::Object& pod) const = 0;
};

// "Could this event help a pod that I refused?" Upstream's queueing hints.
class Hints {
 public:
  virtual ~Hints() = default;
  virtual bool could_help(const api::Object& pod, const ClusterEvent& event) const = 0;
  // Whether could_help says yes to anybody for such an event, by its resource and action alone.
  // What nobody listens to costs nothing, however many pods wait.
  virtual bool listens(Resource, Action) const { return true; }
  // Asked after could_help, of the cluster as it is now: false if the event has certainly not
  // helped enough.
  virtual bool helps_by_now(const api::Object& /*pod*/, const ClusterEvent& /*event*/,
                            const Cluster& /*cluster*/) const {
    return true;
  }
};

}  // namespace muster::scheduler
