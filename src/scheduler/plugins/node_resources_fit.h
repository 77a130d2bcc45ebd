#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/cache/column_math.h"
#include "scheduler/framework/placement_plugin.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/profile_settings.h"

namespace muster::scheduler {

enum class AllocationStrategy : std::uint8_t {
  LeastAllocated,
  MostAllocated,
  RequestedToCapacityRatio
};

struct ResourceWeight {
  std::string name;
  std::int64_t weight = 1;
};

// A point of RequestedToCapacityRatio's shape: utilization 0..100, score 0..10.
struct ShapePoint {
  std::int64_t utilization = 0;
  std::int64_t score = 0;
};

struct NodeResourcesFitArgs {
  AllocationStrategy strategy = AllocationStrategy::LeastAllocated;
  std::vector<ResourceWeight> resources = {{"cpu", 1}, {"memory", 1}};
  std::vector<ShapePoint> shape = {};
  IgnoredResources ignored = {};  // by the filter
};

// A node must have room for what the pod requests; by default emptier nodes are better. Among the
// placements of a group, fuller ones are better.
class NodeResourcesFit final : public Filter, public Score, public Hints, public PlacementScore {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";
  explicit NodeResourcesFit(NodeResourcesFitArgs args = {}) : args_(std::move(args)) {}
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    if (resource == Resource::Node)
      return action == Action::Add || action == Action::UpdateNodeAllocatable;
    if (resource == Resource::TargetPod) return action == Action::UpdatePodScaleDown;
    return resource == Resource::AssignedPod &&
           (action == Action::Delete || action == Action::UpdatePodScaleDown);
  }
  // A node where room was freed, but not enough for one such pod, helps neither it nor its group.
  bool helps_by_now(const api::Object& pod, const ClusterEvent& event,
                    const Cluster& cluster) const override;
  // MostAllocated over all nodes of the placement together, whatever the strategy for nodes is.
  std::int64_t score(const PlacementView& placement) const override;
  bool looks_at_nodes() const override { return false; }

 private:
  std::int64_t placement_weight(ResourceId resource, const Cluster& cluster) const;

  NodeResourcesFitArgs args_;
};

// The score, 0..100, at each percentage of utilization.
ShapeTable tabulate(std::span<const ShapePoint> shape);

}  // namespace muster::scheduler
