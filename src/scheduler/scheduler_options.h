#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "api/gates/gates.h"
#include "base/metrics.h"
#include "base/time.h"
#include "scheduler/framework/plan.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {

// How one scheduler decides and binds; every part of it may read them.
struct SchedulerOptions {
  Profiles profiles = default_profile();
  std::string instance = "muster";  // which of several, in events: <scheduler name>-<instance>
  Duration initial_backoff = std::chrono::seconds{1};
  Duration max_backoff = std::chrono::seconds{10};
  Duration rest_max = std::chrono::minutes{5};  // podMaxInUnschedulablePodsDuration
  std::size_t binds_in_flight_max = 1000;
  // Bind trees of groups with one GroupBinding each, as Muster's own server offers it: a gang is
  // then never bound in part. A server that turns out not to support them gets bindings pod by pod.
  bool group_bindings = false;
  // Without GroupBindings: if only some pods of a gang could be bound, these are deleted after this
  // long, so that nobody waits for the room they take; zero: never, it is only reported.
  Duration release_half_bound_after = Duration::zero();
  api::Gates gates = {};
  // Called with each attempt's plan before it is carried out; may be empty. Must only observe.
  std::function<void(const Plan& plan, Time now)> observe = {};
  // Where metrics go, and what measures durations; both may be empty, and decide nothing.
  Metrics* metrics = nullptr;
  std::string host = "loopback";  // of the API server, in metrics
  std::function<std::chrono::nanoseconds()> stopwatch = {};
};

}  // namespace muster::scheduler
