#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/report.h"

namespace muster::scheduler {

// Nodes whose pods request more than they have: somebody else bound pods there, or what they have
// shrank. Our own decisions never bring that about; kubelets refuse what is too much.
class CrowdedNodes {
 public:
  // `metrics` may be null.
  CrowdedNodes(ClusterModel& model, Report& report, Metrics* metrics);

  // Whether pods on the node, those included that are assumed there, request more than it has.
  bool is_crowded(std::string_view node) const;
  // The node, or what is on it, changed.
  void look(std::string_view node, Time now);

  // Reports those that are crowded for a moment already: pods that leave and pods that come cross
  // each other on their way here.
  void run(Time now);
  std::optional<Time> next_deadline() const;

  static constexpr Duration kPatience = std::chrono::seconds{2};

 private:
  struct Suspect {
    Time due;
    bool is_reported = false;
  };
  std::string excess(NodeId node) const;

  ClusterModel& model_;
  Report& report_;
  Gauge crowded_;
  std::map<std::string, Suspect, std::less<>> suspects_;  // by name: few at a time
  std::size_t reported_ = 0;
};

}  // namespace muster::scheduler
