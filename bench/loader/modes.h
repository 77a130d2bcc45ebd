#pragma once

#include <cstddef>
#include <string>

#include "report.h"
#include "session.h"

// What a run can measure. Each leaves its objects behind; Session::clean_objects removes them.
namespace muster::loader {

// Lone pods: created, scheduled, bound.
struct PodsMode {
  std::size_t pods = 20'000;
};
Report run_pods(Session& session, const PodsMode& mode);

// Groups of pods that are bound together, anywhere or inside one rack each.
struct GangsMode {
  std::size_t groups = 750;
  std::size_t size = 4;
  std::string topology_key = {};  // empty: anywhere
};
Report run_gangs(Session& session, const GangsMode& mode);

// Jobs that become groups: created, their pods made by the server's controller, scheduled, bound.
struct JobsMode {
  std::size_t jobs = 2000;
  std::size_t size = 4;
  bool gang = true;
};
Report run_jobs(Session& session, const JobsMode& mode);

// JobSets that become trees of groups: created, their Jobs and pods made by the server's
// controllers, scheduled, bound.
struct JobSetsMode {
  std::size_t sets = 100;
  std::size_t replicated_jobs = 3;  // at most 8
  std::size_t replicas = 4;
  std::size_t size = 8;
};
Report run_job_sets(Session& session, const JobSetsMode& mode);

// The API alone: pods that no scheduler looks at.
struct CreatesMode {
  std::size_t pods = 50'000;
  bool on_nodes = false;  // on the nodes that this run made, one after the other
};
Report run_creates(Session& session, const CreatesMode& mode);

struct GetsMode {
  std::size_t gets = 200'000;
  std::size_t objects = 1000;
};
Report run_gets(Session& session, const GetsMode& mode);

struct ListsMode {
  std::size_t pods = 50'000;
  int times = 5;
};
Report run_lists(Session& session, const ListsMode& mode);

// Watches that must all see all changes in the order they happened.
struct WatchersMode {
  std::size_t watchers = 1000;
  std::size_t events = 2000;
  std::size_t single_events = 50;  // for the time one event takes to reach everybody
};
Report run_watchers(Session& session, const WatchersMode& mode);

}  // namespace muster::loader
