#include "scheduler/plugins/node_resources_fit.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "scheduler/cache/for_each_resource.h"
#include "scheduler/plugins/allocation_parts.h"

namespace muster::scheduler {
namespace {

using Demands = boost::container::small_vector<Demand, 8>;

class FitPass final : public FilterPass {
 public:
  FitPass(const NodeResourcesFitArgs& args, const PodClass& pods, const Cluster& cluster)
      : cluster_(cluster) {
    for (const PodClass::Want& want : pods.wants)
      if (!args.ignored.contains(cluster.resource(want.resource).name)) wants_.push_back(want);
    for (const std::string_view name : pods.missing)
      if (pods.needs->requests.of(name) > 0 && !args.ignored.contains(std::string(name)))
        missing_.push_back("Insufficient " + std::string(name));
  }

  void narrow(NodeSet& candidates) const override {
    if (!missing_.empty()) return candidates.clear();
    narrow_by_fit(demands(), cluster_.pod_slots().data(), cluster_.pods_on().data(), candidates);
  }
  bool admits(NodeId node) const override {
    if (!missing_.empty()) return false;
    if (cluster_.pods_on()[node] >= cluster_.pod_slots()[node]) return false;
    return std::ranges::all_of(wants_, [&](const PodClass::Want& want) {
      const ResourceColumns& columns = cluster_.resource(want.resource);
      return want.amount <= columns.allocatable[node] - columns.requested[node];
    });
  }
  Exactness cap(CapColumn& at_most) const override {
    if (!missing_.empty()) {
      at_most.fill(0);
      return Exactness::PerNode;
    }
    CapColumn fits;
    fits.resize(at_most.padded());
    cap_by_fit(demands(), cluster_.pod_slots().data(), cluster_.pods_on().data(), fits);
    for (std::size_t row = 0; row < at_most.padded(); ++row)
      at_most.data()[row] = std::min(at_most.data()[row], fits.data()[row]);
    return Exactness::PerNode;
  }
  std::int32_t cap_at(NodeId node) const override {
    if (!missing_.empty()) return 0;
    std::int64_t cap = cluster_.pod_slots()[node] - cluster_.pods_on()[node];
    for (const PodClass::Want& want : wants_) {
      const ResourceColumns& columns = cluster_.resource(want.resource);
      const std::int64_t available = columns.allocatable[node] - columns.requested[node];
      if (available < want.amount) return 0;
      cap = std::min(cap, available / want.amount);
    }
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(cap, 0, kNoCap));
  }
  Verdict ask(NodeId node) const override {
    Verdict verdict;
    if (cluster_.pods_on()[node] + 1 > cluster_.pod_slots()[node])
      verdict.add("Too many pods", Remedy::Eviction);
    for (const PodClass::Want& want : wants_) {
      const ResourceColumns& columns = cluster_.resource(want.resource);
      if (want.amount > columns.allocatable[node] - columns.requested[node])
        verdict.add(columns.insufficient,
                    want.amount > columns.allocatable[node] ? Remedy::None : Remedy::Eviction);
    }
    for (const std::string& reason : missing_) verdict.add(reason, Remedy::None);
    return verdict;
  }

 private:
  Demands demands() const {
    Demands demands;
    for (const PodClass::Want& want : wants_) {
      const ResourceColumns& columns = cluster_.resource(want.resource);
      demands.push_back({columns.allocatable.data(), columns.requested.data(), want.amount});
    }
    return demands;
  }

  boost::container::small_vector<PodClass::Want, 4> wants_;  // without what is ignored
  const Cluster& cluster_;
  std::vector<std::string> missing_;  // the reasons for what no node has
};

// Linear between the points, in integers that are cut toward zero.
std::int64_t shape_at(std::span<const ShapePoint> shape, std::int64_t utilization) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (utilization > shape[i].utilization) continue;
    if (i == 0) return shape[0].score * 10;
    const ShapePoint& low = shape[i - 1];
    const ShapePoint& high = shape[i];
    return low.score * 10 + (high.score - low.score) * 10 * (utilization - low.utilization) /
                                (high.utilization - low.utilization);
  }
  return shape.empty() ? 0 : shape.back().score * 10;
}

class AllocationPass final : public ScorePass {
 public:
  AllocationPass(const NodeResourcesFitArgs& args, const PodClass& pods, const Cluster& cluster)
      : args_(args), shape_(tabulate(args.shape)), parts_(cluster, AllocationParts::Used::NonZero) {
    for (const ResourceWeight& resource : args.resources)
      parts_.add(resource.name, pods.needs->scored(resource.name),
                 resource.weight == 0 ? 1 : resource.weight);
  }

  Form form() const override { return Form::Local; }
  void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
    const std::span<const Share> shares = parts_.shares();
    switch (args_.strategy) {
      case AllocationStrategy::LeastAllocated:
        return add_least_allocated(shares, weight, parts_.are_small(), totals);
      case AllocationStrategy::MostAllocated:
        return add_most_allocated(shares, weight, parts_.are_small(), totals);
      case AllocationStrategy::RequestedToCapacityRatio: break;
    }
    add_requested_to_capacity(shares, shape_, weight, parts_.are_small(), totals);
  }
  std::int64_t local(NodeId node) const override {
    return score_at(parts_.shares(), index_of(node));
  }

 private:
  std::int64_t score_at(std::span<const Share> shares, std::size_t row) const {
    switch (args_.strategy) {
      case AllocationStrategy::LeastAllocated: return least_allocated_at(shares, row);
      case AllocationStrategy::MostAllocated: return most_allocated_at(shares, row);
      case AllocationStrategy::RequestedToCapacityRatio: break;
    }
    return requested_to_capacity_at(shares, shape_, row);
  }

  const NodeResourcesFitArgs& args_;
  const ShapeTable shape_;
  AllocationParts parts_;
};

bool held_a_node(const api::Object& pod) {
  const auto& view = pod.view<api::PodView>();
  return !view.node_name.empty() || !view.nominated_node.empty();
}

// What a pod requests and the filter compares.
class Compared {
 public:
  Compared(const api::Object& pod, const IgnoredResources& ignored)
      : requests_(pod.view<api::PodView>().needs.requests), ignored_(ignored) {}

  // Whether test(resource, amount) holds for any of it.
  bool any(auto&& test) const {
    bool found = false;
    for_each_resource(requests_, [&](std::string_view name, std::int64_t amount) {
      found = found || (amount > 0 && !ignored_.contains(name) && test(name, amount));
    });
    return found;
  }

 private:
  const api::Amounts& requests_;
  const IgnoredResources& ignored_;
};

bool node_could_help(const Compared& wanted, const ClusterEvent& event) {
  const auto& after = event.after->view<api::NodeView>();
  const bool fits_empty =
      after.allocatable_pods >= 1 && !wanted.any([&](std::string_view name, std::int64_t amount) {
        return amount > after.allocatable.of(name);
      });
  if (!fits_empty) return false;
  if (event.before == nullptr) return true;
  const auto& before = event.before->view<api::NodeView>();
  return after.allocatable_pods > before.allocatable_pods ||
         wanted.any([&](std::string_view name, std::int64_t) {
           return after.allocatable.of(name) > before.allocatable.of(name);
         });
}

bool has_room(const Cluster& cluster, NodeId node, const Compared& wanted) {
  if (cluster.pods_on()[node] >= cluster.pod_slots()[node]) return false;
  return !wanted.any([&](std::string_view name, std::int64_t amount) {
    ResourceId id{};
    if (!cluster.find_resource(name, id)) return true;
    const ResourceColumns& columns = cluster.resource(id);
    return amount > columns.allocatable[node] - columns.requested[node];
  });
}

// A hundred times all the memory of a big cluster exceeds 64 bits, but that is rare, and dividing
// 128 bits is slow.
std::int64_t percentage(std::int64_t used, std::int64_t allocatable) {
  __extension__ using Wide = __int128;
  if (used <= std::numeric_limits<std::int64_t>::max() / 100) return 100 * used / allocatable;
  return static_cast<std::int64_t>(Wide{100} * used / allocatable);
}

}  // namespace

std::unique_ptr<FilterPass> NodeResourcesFit::prepare_filter(const PodClass& pods,
                                                             const Cluster& cluster) const {
  return std::make_unique<FitPass>(args_, pods, cluster);
}

std::unique_ptr<ScorePass> NodeResourcesFit::prepare_score(const PodClass& pods,
                                                           const Cluster& cluster) const {
  return std::make_unique<AllocationPass>(args_, pods, cluster);
}

bool NodeResourcesFit::could_help(const api::Object& pod, const ClusterEvent& event) const {
  const Compared wanted(pod, args_.ignored);
  switch (event.resource) {
    case Resource::Node:
      return event.after != nullptr &&
             (event.action == Action::Add || event.action == Action::UpdateNodeAllocatable) &&
             node_could_help(wanted, event);
    case Resource::AssignedPod:
      if (event.action == Action::Delete)
        return event.before != nullptr && held_a_node(*event.before);
      if (event.action != Action::UpdatePodScaleDown || event.before == nullptr ||
          event.after == nullptr)
        return false;
      return wanted.any([&](std::string_view name, std::int64_t) {
        return event.after->view<api::PodView>().needs.usage.of(name) <
               event.before->view<api::PodView>().needs.usage.of(name);
      });
    case Resource::TargetPod: return event.action == Action::UpdatePodScaleDown;
    default: return false;
  }
}

bool NodeResourcesFit::helps_by_now(const api::Object& pod, const ClusterEvent& event,
                                    const Cluster& cluster) const {
  if (event.resource != Resource::AssignedPod) return true;
  const api::ObjectPtr& freed = event.before != nullptr ? event.before : event.after;
  if (freed == nullptr || freed->view<api::PodView>().node_name.empty()) return true;
  NodeId node{};
  return cluster.find_node(freed->view<api::PodView>().node_name, node) &&
         has_room(cluster, node, Compared(pod, args_.ignored));
}

ShapeTable tabulate(std::span<const ShapePoint> shape) {
  ShapeTable table{};
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<std::int32_t>(shape_at(shape, static_cast<std::int64_t>(i)));
  return table;
}

// Of what the arguments do not name, only extended resources that the group asks for count.
std::int64_t NodeResourcesFit::placement_weight(ResourceId resource, const Cluster& cluster) const {
  const std::string& name = cluster.resource(resource).name;
  for (const ResourceWeight& known : args_.resources)
    if (known.name == name) return known.weight;
  return resource > ResourceId::EphemeralStorage ? 1 : 0;
}

std::int64_t NodeResourcesFit::score(const PlacementView& placement) const {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  for (const PlacementView::Amount& amount : placement.amounts) {
    const std::int64_t weight = placement_weight(amount.resource, placement.cluster);
    sum += weight * percentage(std::min(amount.used, amount.allocatable), amount.allocatable);
    weights += weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

}  // namespace muster::scheduler
