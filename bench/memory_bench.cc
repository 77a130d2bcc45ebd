// What the scheduler's tables take per node and per bound pod, beyond the API objects and the cache
// of classes. Counted by the C library's allocator, so this program goes without another one.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "bench/fleet.h"
#include "bench/harness.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standings.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::bench {
namespace {

constexpr int kNodes = 20'000;
constexpr int kPods = 200'000;

double bytes_in_use() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<double>(now.uordblks + now.hblkhd);
}

std::string name_of(int node) { return fmt::format("node-{:06}", node); }

std::vector<api::ObjectPtr> make_nodes() {
  std::vector<api::ObjectPtr> nodes;
  for (int i = 0; i < kNodes; ++i) {
    nodes.push_back(scheduler::NodeSample{.name = name_of(i),
                                          .cpu = "32",
                                          .memory = "128Gi",
                                          .labels = {{"rack", fmt::format("rack-{}", i / 100)}}}
                        .make());
    nodes.back()->view<api::NodeView>();
  }
  return nodes;
}

// Half of them members of groups of a hundred.
std::vector<api::ObjectPtr> make_pods(int count, int nodes) {
  std::vector<api::ObjectPtr> pods;
  for (int i = 0; i < count; ++i) {
    pods.push_back(scheduler::PodSample{.name = fmt::format("pod-{}", i),
                                        .cpu = "100m",
                                        .memory = "128Mi",
                                        .node_name = name_of(i % nodes),
                                        .group = i % 2 == 0 ? fmt::format("group-{}", i / 200) : ""}
                       .make());
    pods.back()->view<api::PodView>();
  }
  return pods;
}

// The time a copy takes, the best of a few: what-if questions are asked on copies.
double fork_ms(const std::vector<api::ObjectPtr>& nodes, const std::vector<api::ObjectPtr>& pods) {
  scheduler::Cluster cluster;
  for (const api::ObjectPtr& node : nodes) cluster.set_node(node);
  for (const api::ObjectPtr& pod : pods) cluster.set_pod(pod);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const scheduler::Cluster copy = cluster.fork();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

// Pods that wait and pods that run, which ask for a thousand resources that no node has.
double invented_names_mib() {
  constexpr int kNames = 1000;
  std::vector<api::ObjectPtr> waiting, running;
  for (int i = 0; i < kNames; ++i) {
    scheduler::PodSample pod{.name = fmt::format("pod-{}", i),
                             .extended = {{fmt::format("example.com/invented-{}", i), "1"}}};
    waiting.push_back(pod.make());
    pod.name += "-runs";
    pod.node_name = name_of(i % 5'000);
    running.push_back(pod.make());
    waiting.back()->view<api::PodView>();
    running.back()->view<api::PodView>();
  }
  scheduler::Cluster cluster;
  std::vector<api::ObjectPtr> nodes = make_nodes();
  nodes.resize(5'000);
  for (const api::ObjectPtr& node : nodes) cluster.set_node(node);
  const double before = bytes_in_use();
  for (const api::ObjectPtr& pod : running) cluster.set_pod(pod);
  for (const api::ObjectPtr& pod : waiting) cluster.retain_class(cluster.class_of(pod).id);
  return (bytes_in_use() - before) / (1 << 20);
}

int run(const Request& request) {
  Report report("Memory", request);
  const std::vector<api::ObjectPtr> nodes = make_nodes();
  const std::vector<api::ObjectPtr> pods = make_pods(kPods, kNodes);
  const std::vector<scheduler::Group> groups = make_groups({.pods = 4, .key = "rack"}, 1);
  const scheduler::Profile profile = scheduler::default_profile();
  scheduler::Cluster cluster;

  const double empty = bytes_in_use();
  for (const api::ObjectPtr& node : nodes) cluster.set_node(node);
  const double with_nodes = bytes_in_use();
  for (const api::ObjectPtr& pod : pods) cluster.set_pod(pod);
  const double with_pods = bytes_in_use();
  scheduler::attempt_group(groups.front(), cluster, profile);
  const double with_topology = bytes_in_use();
  const auto cache = static_cast<double>(scheduler::Standings::of(cluster, profile).bytes());

  report.figure("node table", (with_nodes - empty) / kNodes, "B/node");
  report.figure("names in order, one topology key, its cells",
                (with_topology - with_pods - cache) / kNodes, "B/node");
  const double per_node = (with_nodes - empty + with_topology - with_pods - cache) / kNodes;
  report.figure("node, in all", per_node, "B/node", 1024);
  const double per_pod = (with_pods - with_nodes) / kPods;
  report.figure("bound pod", per_pod, "B/pod", 300);
  report.figure("class cache, one class", cache / kNodes, "B/node");
  const double fork = fork_ms({nodes.begin(), nodes.begin() + 5'000}, make_pods(50'000, 5'000));
  report.figure("fork of 5,000 nodes and 50,000 pods", fork, "ms", 50);
  const double invented = invented_names_mib();
  report.figure("1,000 invented resources, of pods that wait and pods that run", invented, "MiB",
                1);
  if (invented > 1) report.fail("invented resources take more than 1 MiB");
  if (fork > 50) report.fail("a fork takes more than 50 ms");
  if (per_node > 1024) report.fail("a node takes more than 1 KiB");
  if (per_pod > 300) report.fail("a bound pod takes more than 300 B");
  return report.finish();
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::run(muster::bench::parse_arguments(argc, argv));
}
