// How the time of an attempt grows: one size is doubled at a time, the rest stays, and the exponent
// of the fitted power law is held against 1. Fails if something grows faster than what it may use.
// Rows read and steps are counted by the engine and exact; time is the least of many rounds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bench/fleet.h"
#include "bench/harness.h"

namespace muster::bench {
namespace {

using scheduler::Group;
using scheduler::GroupKind;

// Caches outgrown on the way cost something too; a quadratic term would show as 1.5 and more.
constexpr double kTimeExponentMax = 1.25;
constexpr double kCountExponentMax = 1.05;

struct Point {
  double size = 0;
  double us = 0;
  double count = 0;  // rows read and steps
};

// The exponent b of y = a * x^b, by least squares over the logarithms.
double exponent(const std::vector<Point>& points, double Point::* y) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Point& point : points) {
    const double x = std::log2(point.size);
    const double value = std::log2(std::max(point.*y, 1e-3));
    sum_x += x;
    sum_y += value;
    sum_xx += x * x;
    sum_xy += x * value;
  }
  const auto n = static_cast<double>(points.size());
  return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

// One attempt per round, committed, so that the next has something to catch up with.
template <typename Attempt>
Point measure(double size, int rounds, Attempt&& attempt) {
  Point point{.size = size};
  for (int round = 0; round < rounds; ++round) {
    const double start = cpu_us();
    const scheduler::Plan plan = attempt(round);
    const double us = cpu_us() - start;
    if (round == 0) continue;  // cold
    if (point.us == 0 || us < point.us) point.us = us;
    point.count = static_cast<double>(plan.rows_read + plan.steps);
  }
  return point;
}

Point measure_groups(double size, const FleetSize& fleet_size, const std::vector<Group>& groups) {
  Fleet fleet(fleet_size);
  scheduler::Plan last;
  return measure(size, static_cast<int>(groups.size()), [&](int round) {
    fleet.commit(last);
    last = fleet.attempt(groups[static_cast<std::size_t>(round)]);
    return last;
  });
}

void judge(Report& report, const std::string& name, const std::vector<Point>& points) {
  std::string sizes;
  for (const Point& point : points)
    sizes +=
        fmt::format(" {}: {:.0f} us, {:.0f} rows and steps;", point.size, point.us, point.count);
  const double by_time = exponent(points, &Point::us);
  const double by_count = exponent(points, &Point::count);
  report.figure(name + ", time", by_time, "exponent", kTimeExponentMax);
  report.figure(name + ", rows and steps", by_count, "exponent", kCountExponentMax);
  report.remark(fmt::format("{}:{}", name, sizes));
  if (by_time > kTimeExponentMax)
    report.fail(fmt::format("{} grows with exponent {:.2f}", name, by_time));
  if (by_count > kCountExponentMax)
    report.fail(fmt::format("{} reads rows with exponent {:.2f}", name, by_count));
}

using Measure = std::function<Point(int)>;
void series(Report& report, const std::string& name, int from, int to, const Measure& measure) {
  if (!report.wants(name)) return;
  std::vector<Point> points;
  for (int size = from; size <= to; size *= 2) points.push_back(measure(size));
  judge(report, name, points);
}

// A root without a key over gangs of four that keep to a rack each.
Group tree_of(int leaves, int number) {
  Group root;
  root.key = {GroupKind::CompositePodGroup, "default", fmt::format("tree-{}", number)};
  root.gang = true;
  root.minimum = leaves;
  root.children = make_groups({.pods = 4, .key = "rack"}, leaves);
  for (Group& leaf : root.children)
    leaf.key.name = fmt::format("tree-{}-{}", number, leaf.key.name);
  return root;
}

// Pods of other rounds must be other pods.
std::vector<Group> trees_of(int leaves, int count) {
  std::vector<Group> trees;
  for (int t = 0; t < count; ++t) {
    Group tree = tree_of(leaves, t);
    int number = 0;
    for (Group& leaf : tree.children)
      for (scheduler::PendingPod& pod : leaf.pods)
        pod = pending_pod(fmt::format("{}-{}", tree.key.name, number++), leaf.key.name, 0);
    trees.push_back(std::move(tree));
  }
  return trees;
}

int run(const Request& request) {
  Report report("Growth", request);
  const auto fleet = [](int nodes) { return FleetSize{.nodes = nodes, .racks = nodes / 100}; };
  series(report, "nodes 1k to 64k, rack gang of 4", 1000, 64'000, [&](int nodes) {
    return measure_groups(nodes, fleet(nodes), make_groups({.pods = 4, .key = "rack"}, 60));
  });
  series(report, "nodes 1k to 64k, gang of 4", 1000, 64'000, [&](int nodes) {
    return measure_groups(nodes, fleet(nodes), make_groups({.pods = 4}, 60));
  });
  series(report, "nodes 1k to 64k, pod of a new class", 1000, 64'000, [&](int nodes) {
    Fleet one(fleet(nodes));
    return measure(nodes, 40, [&](int round) {
      return scheduler::attempt_pod(sized_pod(fmt::format("p{}", round), 100 + round, 128),
                                    one.cluster(), one.profile());
    });
  });
  series(report, "pods 250 to 16k, gang in one of 4 racks", 250, 16'000, [](int pods) {
    return measure_groups(pods, {.nodes = 8000, .racks = 4},
                          make_groups({.pods = pods, .key = "rack"}, 7));
  });
  series(report, "racks 16 to 4k of 16k nodes, rack gang of 4", 16, 4096, [](int racks) {
    return measure_groups(racks, {.nodes = 16'384, .racks = racks},
                          make_groups({.pods = 4, .key = "rack"}, 60));
  });
  series(report, "groups 8 to 512 in a tree, rack gangs of 4", 8, 512,
         [](int leaves) { return measure_groups(leaves, {}, trees_of(leaves, 7)); });
  return report.finish();
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::run(muster::bench::parse_arguments(argc, argv));
}
