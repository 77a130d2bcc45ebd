// How fast groups are placed: the shapes of the upstream performance suites as decisions only
// (reference: 10 to 5,000 nodes, gangs of 3, 4 and 1,000 pods), trees, infeasible gangs, domains as
// small as a node, and a cluster of 100,000 nodes.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/fleet.h"
#include "bench/harness.h"

namespace muster::bench {
namespace {

using scheduler::Group;
using scheduler::GroupKind;

// What one attempt takes Kubernetes 1.37 at 5,000 nodes and 50 racks, in µs.
constexpr double kKubernetesGang3 = 16e3;
constexpr double kKubernetesGang1000 = 5.8e6;
constexpr double kKubernetesRackGang4 = 198e3;
constexpr double kKubernetesRackGang1000 = 45e6;

constexpr int kFull = 80;

// Every shape comes three times: one class of pods; several of 16 classes in each group; one class
// on nodes that are 80 % full.
struct Twin {
  const char* name;
  int classes;
  int full_percent;
};
constexpr Twin kTwins[] = {{"", 1, 0}, {", 4 classes", 4, 0}, {", 80% full", 1, kFull}};

struct Shape {
  std::string name;
  FleetSize fleet;
  GroupShape group;
  int groups = 1;
  Goal goal = {};
  double kubernetes_us = 0;
};

Case case_of(const Shape& shape) {
  const auto pods =
      static_cast<std::size_t>(shape.groups) * static_cast<std::size_t>(shape.group.pods);
  const auto setup = [shape]() -> std::function<void(Meter&)> {
    const auto fleet = std::make_shared<Fleet>(shape.fleet);
    const auto groups =
        std::make_shared<std::vector<Group>>(make_groups(shape.group, shape.groups));
    return [fleet, groups](Meter& meter) { place_all(*fleet, *groups, meter); };
  };
  return {.name = shape.name,
          .setup = setup,
          .pods_expected = pods,
          .goal = shape.goal,
          .kubernetes_us = shape.kubernetes_us};
}

void run_twins(Report& report, const Shape& shape) {
  for (const Twin& twin : kTwins) {
    Shape one = shape;
    one.name += twin.name;
    one.group.classes = twin.classes;
    one.fleet.full_percent = twin.full_percent;
    report.run(case_of(one));
  }
}

void run_gangs(Report& report) {
  for (const bool gang : {true, false}) {
    const std::string word = gang ? "gang" : "basic";
    for (const auto& [nodes, groups] : {std::pair{10, 3}, {100, 10}})
      run_twins(report, {.name = fmt::format("{} {} nodes, {} x 3", word, nodes, groups),
                         .fleet = {.nodes = nodes, .racks = 2},
                         .group = {.pods = 3, .gang = gang},
                         .groups = groups});
    for (const int groups : {1000, 2000, 3000})
      run_twins(report, {.name = fmt::format("{} 5000 nodes, {} x 3", word, groups),
                         .fleet = {},
                         .group = {.pods = 3, .gang = gang},
                         .groups = groups,
                         .kubernetes_us = gang ? kKubernetesGang3 : 0});
    for (const int groups : {3, 6, 9})
      run_twins(report, {.name = fmt::format("{} 5000 nodes, {} x 1000", word, groups),
                         .fleet = {},
                         .group = {.pods = 1000, .gang = gang},
                         .groups = groups,
                         .kubernetes_us = gang ? kKubernetesGang1000 : 0});
  }
}

void run_rack_gangs(Report& report) {
  for (const int groups : {750, 1500, 2250})
    run_twins(report, {.name = fmt::format("rack gang 5000 nodes, {} x 4", groups),
                       .fleet = {},
                       .group = {.pods = 4, .key = "rack"},
                       .groups = groups,
                       .kubernetes_us = kKubernetesRackGang4});
  for (const int groups : {3, 6, 9})
    run_twins(report, {.name = fmt::format("rack gang 5000 nodes, {} x 1000", groups),
                       .fleet = {},
                       .group = {.pods = 1000, .key = "rack"},
                       .groups = groups,
                       .goal = {.us = 2e3},
                       .kubernetes_us = kKubernetesRackGang1000});
  report.run(case_of({.name = "rack gang 5000 nodes, 9 x 1000, 4 classes, 80% full",
                      .fleet = {.full_percent = kFull},
                      .group = {.pods = 1000, .key = "rack", .classes = 4},
                      .groups = 9,
                      .goal = {.us = 10e3},
                      .kubernetes_us = kKubernetesRackGang1000}));
  report.run(case_of({.name = "rack gang 5000 nodes, 500 x 4, every pod a new class",
                      .fleet = {},
                      .group = {.pods = 4, .key = "rack", .classes = Classes::kEach},
                      .groups = 500,
                      .kubernetes_us = kKubernetesRackGang4}));
}

void run_big_clusters(Report& report) {
  const FleetSize big{.nodes = 100'000, .racks = 1000};
  run_twins(report, {.name = "rack gang 100000 nodes, 1000 racks, 9 x 1000",
                     .fleet = big,
                     .group = {.pods = 1000, .key = "rack"},
                     .groups = 9,
                     .goal = {.us = 20e3}});
  run_twins(report, {.name = "rack gang 100000 nodes, 1000 racks, 300 x 4",
                     .fleet = big,
                     .group = {.pods = 4, .key = "rack"},
                     .groups = 300});
  run_twins(
      report,
      {.name = "gang 100000 nodes, 9 x 1000", .fleet = big, .group = {.pods = 1000}, .groups = 9});
}

// Every node a domain of its own.
void run_hostnames(Report& report) {
  run_twins(report, {.name = "hostname gang 5000 nodes, 300 x 8",
                     .fleet = {},
                     .group = {.pods = 8, .key = "kubernetes.io/hostname"},
                     .groups = 300});
  run_twins(report, {.name = "hostname gang 100000 nodes, 20 x 8",
                     .fleet = {.nodes = 100'000, .racks = 1000},
                     .group = {.pods = 8, .key = "kubernetes.io/hostname"},
                     .groups = 20});
}

// Three levels: a root, 8 composites that keep to a block each, 8 gangs of 16 pods below each that
// keep to a rack.
std::vector<Group> make_trees(int count, int classes) {
  std::vector<Group> trees;
  std::vector<Group> leaves =
      make_groups({.pods = 16, .key = "rack", .classes = classes}, count * 64);
  std::size_t next = 0;
  for (int t = 0; t < count; ++t) {
    Group& root = trees.emplace_back();
    root.key = {GroupKind::CompositePodGroup, "default", fmt::format("tree-{}", t)};
    root.gang = true;
    root.minimum = 8;
    for (int c = 0; c < 8; ++c) {
      Group& middle = root.children.emplace_back();
      middle.key = {GroupKind::CompositePodGroup, "default", fmt::format("tree-{}-{}", t, c)};
      middle.gang = true;
      middle.minimum = 8;
      middle.topology_key = "block";
      for (int leaf = 0; leaf < 8; ++leaf) middle.children.push_back(std::move(leaves[next++]));
    }
  }
  return trees;
}

void run_trees(Report& report) {
  constexpr int kTrees = 9;
  for (const Twin& twin : kTwins)
    report.run({.name = fmt::format("tree 5000 nodes, 3 levels, 64 x 16{}", twin.name),
                .setup = [twin]() -> std::function<void(Meter&)> {
                  const auto fleet =
                      std::make_shared<Fleet>(FleetSize{.full_percent = twin.full_percent});
                  const auto trees =
                      std::make_shared<std::vector<Group>>(make_trees(kTrees, twin.classes));
                  return [fleet, trees](Meter& meter) { place_all(*fleet, *trees, meter); };
                },
                .pods_expected = std::size_t{kTrees} * 1024});
}

// Attempts that cannot succeed. Between them a pod comes, as in life.
Case refused(const std::string& name, const FleetSize& size, const Group& group, Goal goal) {
  return {.name = name,
          .setup = [size, group]() -> std::function<void(Meter&)> {
            const auto fleet = std::make_shared<Fleet>(size);
            return [fleet, group](Meter& meter) {
              for (int round = 0; round < 40; ++round) {
                fleet->cluster().assume(sized_pod(fmt::format("other-{}", round), 100, 128).pod,
                                        fmt::format("node-{:06}", round));
                const scheduler::Plan plan = meter.attempt([&] { return fleet->attempt(group); });
                meter.placed(plan.assignments.size());
                meter.note(plan.groups.at(0).message);
              }
            };
          },
          .pods_expected = 0,
          .goal = goal};
}

Group gang_of(const std::vector<std::pair<int, int>>& counts_and_milli) {
  Group group;
  group.key = {GroupKind::PodGroup, "default", "gang"};
  group.gang = true;
  group.topology_key = "rack";
  for (const auto& [count, milli] : counts_and_milli)
    for (int i = 0; i < count; ++i)
      group.pods.push_back(sized_pod(fmt::format("gang-{}-{}", milli, i), milli, 512));
  group.minimum = static_cast<std::int32_t>(group.pods.size());
  return group;
}

// One-pod leaves that ask for 24 CPUs and for 16, in turns; all of them are needed.
Group leaves_of_two_shapes(int leaves) {
  Group root;
  root.key = {GroupKind::CompositePodGroup, "default", "leaves"};
  root.gang = true;
  root.minimum = leaves;
  for (int i = 0; i < leaves; ++i) {
    Group& leaf = root.children.emplace_back();
    leaf.key = {GroupKind::PodGroup, "default", fmt::format("leaf-{}", i)};
    leaf.gang = true;
    leaf.minimum = 1;
    leaf.pods.push_back(sized_pod(fmt::format("leaf-{}-0", i), i % 2 == 0 ? 24'000 : 16'000, 512));
  }
  return root;
}

void run_infeasible(Report& report) {
  const FleetSize full{.full_percent = kFull};
  const FleetSize big_full{.nodes = 100'000, .racks = 1000, .full_percent = kFull};
  const Group one_class = gang_of({{1000, 1000}});
  const Group four_classes = gang_of({{250, 1000}, {250, 1050}, {250, 1100}, {250, 1150}});
  report.run(refused("infeasible by bound 5000 nodes, 1000", full, one_class, {.us = 1e3}));
  report.run(
      refused("infeasible by bound 5000 nodes, 1000, 4 classes", full, four_classes, {.us = 1e3}));
  report.run(refused("infeasible by bound 100000 nodes, 1000", big_full, one_class, {}));
  // Sums allow it, and each class alone fits; but a node has room for one pod of either class only.
  report.run(refused("infeasible by search 5000 nodes, 60 + 60", full,
                     gang_of({{60, 4000}, {60, 3500}}), {}));
  // Again sums allow it, and no proof is in reach: the search ends with its budget.
  report.run(refused("unresolved by search 280 nodes, 400 leaves of two shapes",
                     {.nodes = 280, .racks = 4}, leaves_of_two_shapes(400), {}));
}

int run(const Request& request) {
  Report report("Groups", request);
  run_gangs(report);
  run_rack_gangs(report);
  run_trees(report);
  run_infeasible(report);
  run_hostnames(report);
  run_big_clusters(report);
  return report.finish();
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::run(muster::bench::parse_arguments(argc, argv));
}
