// The API objects of a case.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>

#include "scheduler/cache/sample_objects.h"
#include "witness/case.h"

namespace muster::scheduler::witness {
namespace {

std::map<std::string, std::string> extended(std::int64_t gpu) {
  if (gpu == 0) return {};
  return {{"example.com/gpu", std::to_string(gpu)}};
}

scheduler::Group group_of(const Case::Group& from) {
  scheduler::Group group;
  group.key = {from.composite ? GroupKind::CompositePodGroup : GroupKind::PodGroup, "default",
               from.name};
  group.gang = from.gang;
  group.minimum = from.gang ? static_cast<std::int32_t>(from.minimum) : 1;
  group.topology_key = from.key;
  for (std::size_t i = 0; i < from.pods.size(); ++i) {
    const Case::Shape& shape = from.pods[i];
    PodSample pod{.name = fmt::format("{}-{}", from.name, i)};
    pod.cpu = std::to_string(shape.cpu);
    pod.extended = extended(shape.gpu);
    pod.group = from.name;
    if (shape.tolerates) pod.spec = R"("tolerations":[{"operator":"Exists"}])";
    group.pods.push_back({pod.make(), 0, {}});
  }
  for (const Case::Group& child : from.children) group.children.push_back(group_of(child));
  return group;
}

}  // namespace

Objects::Objects(const Case& from) {
  for (const Case::Node& node : from.nodes) {
    NodeSample sample{.name = node.name};
    sample.cpu = std::to_string(node.cpu);
    sample.pods = node.slots;
    sample.labels = node.labels;
    sample.extended = extended(node.gpu);
    if (node.tainted) sample.taints = R"([{"key":"busy","effect":"NoSchedule"}])";
    sample.unschedulable = node.cordoned;
    nodes.push_back(sample.make());
  }
  for (const Case::Running& pod : from.running) {
    PodSample sample{.name = pod.name};
    sample.cpu = std::to_string(pod.cpu);
    sample.extended = extended(pod.gpu);
    sample.node_name = pod.node;
    sample.group = pod.group;
    if (pod.succeeded) sample.status = R"("phase":"Succeeded")";
    running.push_back(sample.make());
  }
  root = group_of(from.root);
}

void Objects::fill(Cluster& cluster, std::uint64_t order) const {
  std::vector<std::function<void()>> steps;
  for (const api::ObjectPtr& node : nodes) steps.emplace_back([&] { cluster.set_node(node); });
  for (const api::ObjectPtr& pod : running) steps.emplace_back([&] { cluster.set_pod(pod); });
  if (order != 0) std::shuffle(steps.begin(), steps.end(), std::mt19937_64(order));
  for (const auto& step : steps) step();
}

}  // namespace muster::scheduler::witness
