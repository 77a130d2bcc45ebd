#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/profile.h"
#include "scheduler/plugins/default_profile.h"

// Clusters and groups to decide about. Objects are made, and their views read, before any clock
// starts: what is measured is decisions.
namespace muster::bench {

// Nodes with 32 CPUs, 128Gi and 110 slots. Node i is in rack i % racks; ten racks are a block.
struct FleetSize {
  int nodes = 5000;
  int racks = 50;
  int full_percent = 0;  // of each node's CPU and memory, give or take 2 % of the CPU
};

class Fleet {
 public:
  explicit Fleet(const FleetSize& size);

  scheduler::Cluster& cluster() { return cluster_; }
  const scheduler::Profile& profile() const { return profile_; }
  scheduler::Plan attempt(const scheduler::Group& group) {
    return scheduler::attempt_group(group, cluster_, profile_);
  }
  // Counts what was decided, like the scheduler.
  void commit(const scheduler::Plan& plan);

 private:
  scheduler::Cluster cluster_;
  scheduler::Profile profile_ = scheduler::default_profile();
};

// How many kinds of pods there are. Some: as many as given, taken in turn. Each: no two pods alike.
struct Classes {
  static constexpr int kEach = 0;
  int count = 1;
};

// A pod of a kind: 500m and 512Mi, give or take, by kind.
scheduler::PendingPod pending_pod(const std::string& name, const std::string& group, int kind);
scheduler::PendingPod sized_pod(const std::string& name, int milli, int mebi);

struct GroupShape {
  int pods = 4;
  std::string key = {};  // topology; empty: anywhere
  bool gang = true;      // all or nothing; else Basic
  int classes = 1;       // kinds of pods inside one group
};
// The groups of one run. With several classes, group g takes the next of 16 kinds.
std::vector<scheduler::Group> make_groups(const GroupShape& shape, int count);

// Attempts for each of the groups in turn, each committed before the next.
void place_all(Fleet& fleet, const std::vector<scheduler::Group>& groups, Meter& meter);

}  // namespace muster::bench
