// How fast the scheduling engine decides, without queue, API or disk. Prints one line per case; the
// ladder it is measured against stands in the design (section 5).
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/framework/standing.h"

namespace muster::scheduler {
namespace {

// CPU time of this thread: what the engine costs, whoever else uses the machine. It owns no other
// thread.
double now_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

struct Fleet {
  Cluster cluster;
  Profile profile = default_profile();

  // Nodes with 32 CPUs, 128Gi and 110 slots in racks; `full` percent of each taken.
  Fleet(int nodes, int racks, int full) {
    for (int i = 0; i < nodes; ++i) {
      const int rack = i % racks;
      const std::string name = fmt::format("node-{:06}", i);
      cluster.set_node(NodeSample{.name = name,
                                  .cpu = "32",
                                  .memory = "128Gi",
                                  .labels = {{"rack", fmt::format("rack-{:04}", rack)},
                                             {"block", fmt::format("block-{:03}", rack / 10)},
                                             {"kubernetes.io/hostname", name}}}
                           .make());
      if (full > 0)
        cluster.set_pod(PodSample{.name = "used-" + name,
                                  .cpu = fmt::format("{}m", 320 * full + i % 7 * 100),
                                  .memory = fmt::format("{}Mi", 1310 * full),
                                  .node_name = name}
                            .make());
    }
  }
};

PendingPod pending(const std::string& name, int milli, int mebi) {
  PendingPod pod{
      PodSample{.name = name, .cpu = fmt::format("{}m", milli), .memory = fmt::format("{}Mi", mebi)}
          .make(),
      0,
      {}};
  pod.pod->view<api::PodView>();  // read before the clock starts: decisions only
  return pod;
}

// Pods one after another, each assumed before the next.
void lone_pods(int nodes, int classes, int full, int count) {
  Fleet fleet(nodes, 50, full);
  std::vector<PendingPod> pods;
  for (int i = 0; i < count; ++i) {
    const int kind = classes == 0 ? i : i % classes;
    pods.push_back(pending(fmt::format("p{}", i), 100 + kind % 997, 128 + kind % 1009));
  }
  std::size_t placed = 0;
  const double begin = now_us();
  for (const PendingPod& pod : pods) {
    const Plan plan = attempt_pod(pod, fleet.cluster, fleet.profile);
    for (const Assignment& assignment : plan.assignments) {
      fleet.cluster.assume(assignment.pod, assignment.node);
      ++placed;
    }
  }
  const double total_us = now_us() - begin;
  fmt::print(
      "lone pods   nodes {:6}  full {:2}%  classes {:>5}  {:8.0f}/s  {:6.2f} us for attempt and "
      "assume  placed {}\n",
      nodes, full, classes == 0 ? "each" : std::to_string(classes), count * 1e6 / total_us,
      total_us / count, placed);
}

Group gang(int pods, int classes, const std::string& key, int milli, int minimum) {
  Group group;
  group.key = {GroupKind::PodGroup, "default", "gang"};
  group.gang = true;
  group.minimum = minimum;
  group.topology_key = key;
  for (int i = 0; i < pods; ++i)
    group.pods.push_back(pending(fmt::format("g{}", i), milli + 50 * (i * classes / pods), 512));
  return group;
}

void gangs(const char* title, int nodes, int racks, int full, const Group& group) {
  Fleet fleet(nodes, racks, full);
  double cold = 0;
  std::vector<double> warm;
  Plan plan;
  for (int round = 0; round < 21; ++round) {
    // A pod comes or goes between attempts, as in life.
    fleet.cluster.assume(pending(fmt::format("other{}", round), 100, 128).pod,
                         fmt::format("node-{:06}", round));
    const double start = now_us();
    plan = attempt_group(group, fleet.cluster, fleet.profile);
    const double us = now_us() - start;
    if (round == 0)
      cold = us;
    else
      warm.push_back(us);
  }
  std::ranges::sort(warm);
  fmt::print(
      "{:11} nodes {:6}  racks {:4}  full {:2}%  pods {:4}  cold {:8.0f} us  warm {:8.0f} us "
      "(worst {:.0f})  placed {}  {}\n",
      title, nodes, racks, full, group.pods.size(), cold, warm[warm.size() / 2], warm.back(),
      plan.assignments.size(),
      plan.assignments.empty() ? plan.groups.at(0).message : plan.groups.at(0).domain);
}

void run(bool quick) {
  lone_pods(5000, 1, 0, 100'000);
  lone_pods(5000, 16, 0, 100'000);
  lone_pods(5000, 16, 80, 50'000);
  lone_pods(5000, 0, 0, 5'000);
  lone_pods(5000, 0, 80, 5'000);
  if (!quick) lone_pods(100'000, 16, 0, 50'000);
  gangs("gang", 5000, 50, 0, gang(1000, 1, "rack", 1000, 1000));
  gangs("gang 80%", 5000, 50, 80, gang(400, 1, "rack", 1000, 400));
  gangs("4 classes", 5000, 50, 80, gang(300, 4, "rack", 1000, 300));
  gangs("no key", 5000, 50, 0, gang(1000, 1, "", 1000, 1000));
  gangs("infeasible", 5000, 50, 80, gang(1000, 1, "rack", 1000, 1000));
  gangs("infeasible4", 5000, 50, 80, gang(1000, 4, "rack", 1000, 1000));
  if (quick) return;
  gangs("gang", 100'000, 1000, 0, gang(1000, 1, "rack", 1000, 1000));
  gangs("infeasible", 100'000, 1000, 80, gang(1000, 1, "rack", 1000, 1000));
}

}  // namespace
}  // namespace muster::scheduler

int main(int argc, char** argv) {
  muster::scheduler::run(argc > 1 && std::string_view(argv[1]) == "quick");
}
