#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/request.h"
#include "base/time.h"
#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// The questions between a decision and its binding, asked in this order. Like all plugins these
// never change once made; what they hold for a pod is kept in the cluster.
//
//   placed ─▶ Reserve ─▶ assumed ─▶ Permit ─▶ PreBind ─▶ bound ─▶ PostBind
//                │                     │          │         │
//                └──────── refused, failed or too late: unreserve in reverse order

// "Hold what this pod will need on the node." Undone by unreserve(), also where reserve() of a
// later plugin failed. Also undone once the pod is bound: from then on the API says what it has.
class Reserve {
 public:
  virtual ~Reserve() = default;
  struct Answer {
    std::string refusal;   // why the pod cannot run there after all; empty: it can
    bool is_held = false;  // something is held, and has to be given back
  };
  virtual Answer reserve(const api::ObjectPtr& pod, std::string_view node,
                         Cluster& cluster) const = 0;
  virtual void unreserve(const api::ObjectPtr& pod, Cluster& cluster) const = 0;
};

// The progress of something that takes a while.
struct Progress {
  enum class State : std::uint8_t { Done, Waits, Failed };
  State state = State::Done;
  std::string why;  // it failed
};

// "May the pod be bound yet?" Asked again whenever something changes, until it answers or its time
// is up.
class Permit {
 public:
  virtual ~Permit() = default;
  virtual Progress permit(const api::ObjectPtr& pod, std::string_view node,
                          const Cluster& cluster) const = 0;
  virtual Duration patience() const { return std::chrono::minutes{15}; }
};

// What has to be written, and then come true, before one pod is bound.
class Preparation {
 public:
  virtual ~Preparation() = default;
  virtual std::vector<api::Request> writes() const = 0;
  // A write was accepted.
  virtual void written(std::size_t /*index*/, const api::Answer& /*answer*/) {}
  // Asked after all writes were accepted, whenever something changes.
  virtual Progress progress(const Cluster& cluster) const = 0;
  // The objects whose changes may advance it, as Kind/namespace/name; a volume's change also
  // counts as one of the claim that it names.
  virtual std::vector<std::string> waits_on() const = 0;
  virtual Duration patience() const = 0;
  // The prefix of the reason if a write is refused or time is up: "binding volumes: ".
  virtual std::string context() const { return {}; }
};

// "What must be done before this pod is bound?" Null: nothing.
class PreBind {
 public:
  virtual ~PreBind() = default;
  virtual std::unique_ptr<Preparation> prepare_binding(const api::ObjectPtr& pod,
                                                       std::string_view node,
                                                       const Cluster& cluster) const = 0;
};

// Notified when a pod was bound.
class PostBind {
 public:
  virtual ~PostBind() = default;
  virtual void bound(const api::ObjectPtr& pod, std::string_view node, Cluster& cluster) const = 0;
};

}  // namespace muster::scheduler
