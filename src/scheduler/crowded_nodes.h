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

// Nodes whose pods request more than they have: somebody else bound pods there, or their capacity
// shrank. Our own decisions never cause that; kubelets refuse what is too much.
class CrowdedNodes {
 public:
  // `metrics` may be null.
  CrowdedNodes(ClusterModel& model, Report& report, Metrics* metrics);

  // Whether pods on the node, assumed ones included, request more than it has of a resource that
  // this pod requests: other resources have not changed. Costs only those the pod names.
  bool is_crowded_by(const api::Object& pod, std::string_view node) const;
  // Somebody else bound the pod to the node.
  void came(const api::Object& pod, std::string_view node, Time now);
  // A pod has left the node.
  void left(std::string_view node, Time now);
  // The node's capacity changed. Looks at every resource.
  void changed(std::string_view node, Time now);

  // Reports nodes that have been crowded for a moment: news of pods that come may overtake news of
  // pods that leave.
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
  std::set<std::pair<Time, std::string>> due_;            // of those to look at
  std::size_t reported_ = 0;
};

}  // namespace muster::scheduler
