#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "base/metrics.h"
#include "scheduler/framework/plan.h"
#include "scheduler/framework/profile_settings.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/report.h"

namespace muster::scheduler {

// Room kept for trees that have waited long (L7): otherwise smaller pods take each slot as it is
// freed, and a large gang never finds a whole rack. The pods of the tree are nominated to nodes
// that would hold them all once the pods running there have ended; nobody is evicted, and pods of
// higher priority are not bound by it. All trees together keep no more than a part of the nodes.
class Reservations {
 public:
  // `metrics` may be null.
  Reservations(ClusterModel& model, Report& report, Metrics* metrics);

  // For a tree that was refused: where room is kept for it, if it has waited long enough and the
  // limit allows it. What was chosen before stays for a while.
  std::optional<Reservation> consider(const Group& root, const PreemptionArgs& args, Time now);
  // The result of the last attempt at the tree.
  void decided(const Group& root, const std::optional<Reservation>& reservation, Time now);
  void forget(const GroupKey& root);

 private:
  struct Entry {
    Time since;
    Reservation what;
  };

  bool is_whole(const Reservation& reservation, const Group& root) const;
  std::size_t nodes_of_others(const GroupKey& root) const;
  void count();

  ClusterModel& model_;
  Report& report_;
  std::map<GroupKey, Entry> by_root_;
  Gauge trees_, nodes_;
  Counter made_;
};

}  // namespace muster::scheduler
