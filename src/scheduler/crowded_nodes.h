#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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

  // Whether pods on the node, those included that are assumed there, request more of what this pod
  // requests than the node has: others are as they were before it came. Costs what the pod names.
  bool is_crowded_by(const api::Object& pod, std::string_view node) const;
  // Somebody else bound the pod to the node.
  void came(const api::Object& pod, std::string_view node, Time now);
  // A pod has left the node.
  void left(std::string_view node, Time now);
  // What the node has changed. Looks at every resource.
  void changed(std::string_view node, Time now);

  // Reports those that are crowded for a moment already: pods that leave and pods that come cross
  // each other on their way here.
  void run(Time now);
  std::optional<Time> next_deadline() const;

  static constexpr Duration kPatience = std::chrono::seconds{2};

 private:
  struct Suspect {
    Time due = Time::max();  // until something about it changes
    bool is_reported = false;
  };
  std::string excess(NodeId node) const;
  void suspect(std::string_view node, Time now);
  void set_due(const std::string& node, Suspect& suspect, Time due);

  ClusterModel& model_;
  Report& report_;
  Gauge crowded_;
  std::map<std::string, Suspect, std::less<>> suspects_;  // by name
  std::set<std::pair<Time, std::string>> due_;            // of those that are to be looked at
  std::size_t reported_ = 0;
};

}  // namespace muster::scheduler
