#include "keep_gpu_nodes.h"

#include <algorithm>

namespace muster::scheduler {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";

// Null while no node offers it. Asked each time: columns come and go, and move as the table grows.
const ResourceColumns* gpus(const Cluster& cluster) {
  ResourceId id{};
  return cluster.find_resource(kGpu, id) ? &cluster.resource(id) : nullptr;
}

bool has_gpus(const Cluster& cluster, NodeId node) {
  const ResourceColumns* columns = gpus(cluster);
  return columns != nullptr && columns->allocatable[node] > 0;
}

class KeepGpuNodesFilter final : public FilterPass {
 public:
  KeepGpuNodesFilter(std::int64_t cpu_wanted, std::int64_t cpu_per_gpu, const Cluster& cluster)
      : cpu_wanted_(cpu_wanted), cpu_per_gpu_(cpu_per_gpu), cluster_(cluster) {}

  // How many more of these pods the node takes. Exact, and a matter of this node alone, so gangs
  // are counted by it.
  std::int32_t cap_at(NodeId node) const override {
    if (!has_gpus(cluster_, node)) return kNoCap;
    const ResourceColumns& gpu = *gpus(cluster_);
    const ResourceColumns& cpu = cluster_.resource(ResourceId::Cpu);
    const std::int64_t kept = cpu_per_gpu_ * (gpu.allocatable[node] - gpu.requested[node]);
    const std::int64_t open = cpu.allocatable[node] - cpu.requested[node] - kept;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(open / cpu_wanted_, 0, kNoCap));
  }
  Exactness cap(CapColumn& at_most) const override {
    cluster_.nodes().for_each(
        [&](NodeId node) { at_most[node] = std::min(at_most[node], cap_at(node)); });
    return Exactness::PerNode;
  }
  bool admits(NodeId node) const override { return cap_at(node) > 0; }
  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    return Verdict::refuse("node(s) keep their CPUs for GPU pods", Remedy::Eviction);
  }

 private:
  std::int64_t cpu_wanted_;
  std::int64_t cpu_per_gpu_;
  const Cluster& cluster_;
};

class KeepGpuNodesScore final : public ScorePass {
 public:
  explicit KeepGpuNodesScore(const Cluster& cluster) : cluster_(cluster) {}

  Form form() const override { return Form::Local; }
  std::int64_t local(NodeId node) const override { return has_gpus(cluster_, node) ? 0 : 100; }
  void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
    cluster_.nodes().for_each(
        [&](NodeId node) { totals[node] += static_cast<std::int32_t>(weight * local(node)); });
  }

 private:
  const Cluster& cluster_;
};

bool wants_gpus(const PodClass& pods) { return pods.needs->requests.of(kGpu) > 0; }

}  // namespace

// Pods that want GPUs, or no CPU, are none of its business.
std::unique_ptr<FilterPass> KeepGpuNodes::prepare_filter(const PodClass& pods,
                                                         const Cluster& cluster) const {
  const std::int64_t cpu = pods.needs->requests.cpu_milli;
  if (wants_gpus(pods) || cpu == 0) return nullptr;
  return std::make_unique<KeepGpuNodesFilter>(cpu, cpu_milli_per_gpu_, cluster);
}

std::unique_ptr<ScorePass> KeepGpuNodes::prepare_score(const PodClass& pods,
                                                       const Cluster& cluster) const {
  if (wants_gpus(pods)) return nullptr;
  return std::make_unique<KeepGpuNodesScore>(cluster);
}

// A pod left, a node came or got more: there may be room now.
bool KeepGpuNodes::could_help(const api::Object&, const ClusterEvent& event) const {
  if (event.resource == Resource::AssignedPod)
    return event.action == Action::Delete || event.action == Action::UpdatePodScaleDown ||
           event.action == Action::Add;  // a pod that takes a GPU frees the CPUs kept for it
  return event.resource == Resource::Node &&
         (event.action == Action::Add || event.action == Action::UpdateNodeAllocatable);
}

}  // namespace muster::scheduler
