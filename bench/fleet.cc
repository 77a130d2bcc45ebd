#include "bench/fleet.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::bench {
namespace {

using scheduler::Group;
using scheduler::GroupKind;
using scheduler::NodeSample;
using scheduler::PendingPod;
using scheduler::PodSample;

constexpr int kKinds = 16;

// Objects never change, so fleets of one size share them: they take longer to make than to measure.
const std::vector<api::ObjectPtr>& nodes_of(int count, int racks) {
  static std::map<std::pair<int, int>, std::vector<api::ObjectPtr>> made;
  std::vector<api::ObjectPtr>& nodes = made[{count, racks}];
  for (int i = static_cast<int>(nodes.size()); i < count; ++i) {
    const int rack = i % racks;
    const std::string name = fmt::format("node-{:06}", i);
    nodes.push_back(NodeSample{.name = name,
                               .cpu = "32",
                               .memory = "128Gi",
                               .labels = {{"rack", fmt::format("rack-{:04}", rack)},
                                          {"block", fmt::format("block-{:03}", rack / 10)},
                                          {"kubernetes.io/hostname", name}}}
                        .make());
    nodes.back()->view<api::NodeView>();
  }
  return nodes;
}

const std::vector<api::ObjectPtr>& pods_on(int count, int full_percent) {
  static std::map<std::pair<int, int>, std::vector<api::ObjectPtr>> made;
  std::vector<api::ObjectPtr>& pods = made[{count, full_percent}];
  for (int i = static_cast<int>(pods.size()); i < count; ++i) {
    const std::string node = fmt::format("node-{:06}", i);
    pods.push_back(PodSample{.name = "used-" + node,
                             .cpu = fmt::format("{}m", 320 * full_percent + i % 7 * 100),
                             .memory = fmt::format("{}Mi", 1310 * full_percent),
                             .node_name = node}
                       .make());
    pods.back()->view<api::PodView>();
  }
  return pods;
}

PendingPod pending(const PodSample& sample) {
  PendingPod pod{sample.make(), 0, {}};
  pod.pod->view<api::PodView>();
  return pod;
}

}  // namespace

Fleet::Fleet(const FleetSize& size) {
  for (const api::ObjectPtr& node : nodes_of(size.nodes, size.racks)) cluster_.set_node(node);
  if (size.full_percent > 0)
    for (const api::ObjectPtr& pod : pods_on(size.nodes, size.full_percent)) cluster_.set_pod(pod);
}

void Fleet::commit(const scheduler::Plan& plan) {
  for (const scheduler::Assignment& assignment : plan.assignments)
    cluster_.assume(assignment.pod, assignment.node);
}

PendingPod pending_pod(const std::string& name, const std::string& group, int kind) {
  return pending({.name = name,
                  .cpu = fmt::format("{}m", 500 + (kind % 997) % 100 - (kind > 0 ? 50 : 0)),
                  .memory = fmt::format("{}Mi", 512 + kind % 1009),
                  .group = group});
}

PendingPod sized_pod(const std::string& name, int milli, int mebi) {
  return pending(
      {.name = name, .cpu = fmt::format("{}m", milli), .memory = fmt::format("{}Mi", mebi)});
}

std::vector<Group> make_groups(const GroupShape& shape, int count) {
  std::vector<Group> groups;
  int made = 0;
  for (int g = 0; g < count; ++g) {
    Group& group = groups.emplace_back();
    group.key = {GroupKind::PodGroup, "default", fmt::format("group-{}", g)};
    group.gang = shape.gang;
    group.minimum = shape.gang ? shape.pods : 1;
    group.topology_key = shape.key;
    for (int i = 0; i < shape.pods; ++i, ++made) {
      const int of_group = shape.classes > 1 ? i * shape.classes / shape.pods : 0;
      const int kind = shape.classes == Classes::kEach ? made
                       : shape.classes == 1            ? 0
                                            : 1 + (g * shape.classes + of_group) % kKinds;
      group.pods.push_back(
          pending_pod(fmt::format("{}-{}", group.key.name, i), group.key.name, kind));
    }
  }
  return groups;
}

void place_all(Fleet& fleet, const std::vector<Group>& groups, Meter& meter) {
  for (const Group& group : groups) {
    const scheduler::Plan plan = meter.attempt([&] { return fleet.attempt(group); });
    meter.commit([&] { fleet.commit(plan); });
    meter.placed(plan.assignments.size());
    meter.note(plan.assignments.empty() ? plan.groups.at(0).message : plan.groups.at(0).domain);
  }
}

}  // namespace muster::bench
