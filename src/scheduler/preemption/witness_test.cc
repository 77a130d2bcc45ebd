#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "scheduler/plugins/default_profile.h"
#include "scheduler/preemption/preemption.h"
#include "scheduler/preemption/preemption_testing.h"

// Small instances, compared with the exact minimum over all sets of victims and all placements.
namespace muster::scheduler {
namespace {

struct Running {
  std::string name;
  int node = 0;
  int cpu = 1;
  int priority = 0;
  int unit = 0;
};
struct Unit {
  int priority = 0;
  bool together = false;
  std::vector<int> pods;
};

struct Case {
  std::vector<int> cpu;   // by node
  std::vector<int> rack;  // by node
  std::vector<Running> running;
  std::vector<Unit> units;
  int pods = 1;
  int each = 1;
  bool in_rack = false;
};

constexpr int kPriority = 5;

Case any_case(std::mt19937& random) {
  const auto any = [&random](int from, int to) {
    return from + static_cast<int>(random() % static_cast<unsigned>(to - from + 1));
  };
  Case it;
  const int nodes = any(2, 4);
  for (int n = 0; n < nodes; ++n) {
    it.cpu.push_back(any(2, 6));
    it.rack.push_back(any(0, 1));
  }
  const int groups = any(0, 2);
  for (int g = 0; g < groups; ++g) it.units.push_back({any(0, 2), true, {}});
  std::vector<int> used(static_cast<std::size_t>(nodes), 0);
  for (int p = 0, all = any(2, 8); p < all; ++p) {
    const int node = any(0, nodes - 1);
    const int cpu = any(1, 3);
    int& here = used[static_cast<std::size_t>(node)];
    if (here + cpu > it.cpu[static_cast<std::size_t>(node)]) continue;
    here += cpu;
    int unit = any(0, 2) == 0 && groups > 0 ? any(0, groups - 1) : -1;
    if (unit < 0) {
      unit = static_cast<int>(it.units.size());
      it.units.push_back({any(0, 3) == 0 ? kPriority : any(0, 2), false, {}});
    }
    Unit& of = it.units[static_cast<std::size_t>(unit)];
    of.pods.push_back(static_cast<int>(it.running.size()));
    it.running.push_back({fmt::format("v{}", p), node, cpu, of.priority, unit});
  }
  it.pods = any(1, 3);
  it.each = any(1, 4);
  it.in_rack = any(0, 1) == 0;
  return it;
}

// Whether so many pods fit into these free amounts, in one rack if they must.
bool fits(const Case& it, const std::vector<int>& free, int pods) {
  for (int rack = 0; rack < 2; ++rack) {
    int room = 0;
    for (std::size_t n = 0; n < free.size(); ++n)
      if (!it.in_rack || it.rack[n] == rack) room += std::max(0, free[n]) / it.each;
    if (room >= pods) return true;
  }
  return false;
}

// The least cost of any set of victims; nothing if there is none.
std::optional<Cost> exact(const Case& it, int pods) {
  std::vector<std::size_t> lower;
  for (std::size_t u = 0; u < it.units.size(); ++u)
    if (it.units[u].priority < kPriority && !it.units[u].pods.empty()) lower.push_back(u);
  std::optional<Cost> best;
  for (std::size_t set = 0; set < (std::size_t{1} << lower.size()); ++set) {
    std::vector<int> free = it.cpu;
    Cost cost;
    for (const Running& pod : it.running) free[static_cast<std::size_t>(pod.node)] -= pod.cpu;
    for (std::size_t i = 0; i < lower.size(); ++i) {
      if ((set >> i & 1U) == 0) continue;
      const Unit& unit = it.units[lower[i]];
      for (const int pod : unit.pods) {
        const Running& gone = it.running[static_cast<std::size_t>(pod)];
        free[static_cast<std::size_t>(gone.node)] += gone.cpu;
      }
      Cost one;
      one.pods = std::ssize(unit.pods);
      one.priorities.emplace_back(unit.priority, one.pods);
      one.groups = unit.together ? 1 : 0;
      cost.add(one);
    }
    if (fits(it, free, pods) && (!best || cost < *best)) best = cost;
  }
  return best;
}

PreemptionPlan plan_of(const Case& it, PreemptionArgs::Mode mode) {
  ClusterModel model(default_profile(), {});
  for (std::size_t n = 0; n < it.cpu.size(); ++n)
    model.put(NodeSample{.name = fmt::format("n{}", n),
                         .cpu = std::to_string(it.cpu[n]),
                         .labels = {{"rack", std::to_string(it.rack[n])}}}
                  .make());
  for (std::size_t u = 0; u < it.units.size(); ++u)
    if (it.units[u].together)
      model.put(
          GroupSample{.name = fmt::format("u{}", u), .priority = it.units[u].priority, .all = true}
              .make());
  for (const Running& pod : it.running)
    model.put(PodSample{.name = pod.name,
                        .cpu = std::to_string(pod.cpu),
                        .node_name = fmt::format("n{}", pod.node),
                        .group = it.units[static_cast<std::size_t>(pod.unit)].together
                                     ? fmt::format("u{}", pod.unit)
                                     : "",
                        .priority = pod.priority}
                  .make());
  const GroupSample group{
      .name = "g", .minimum = it.pods, .priority = kPriority, .key = it.in_rack ? "rack" : ""};
  model.put(group.make());
  for (int i = 0; i < it.pods; ++i)
    model.put(PodSample{.name = fmt::format("g-{}", i),
                        .cpu = std::to_string(it.each),
                        .group = "g",
                        .priority = kPriority}
                  .make());
  PreemptionArgs args;
  args.mode = mode;
  return preempt_for_group(model, model.build(group.group_key()), args, Time{});
}

// Whether the plan's own placement fits once its victims are gone.
bool holds(const Case& it, const PreemptionPlan& plan) {
  std::map<std::string, bool> gone;
  for (const std::string& name : victim_names(plan)) gone[name] = true;
  std::vector<int> free = it.cpu;
  for (const Running& pod : it.running)
    if (!gone.contains(pod.name)) free[static_cast<std::size_t>(pod.node)] -= pod.cpu;
  std::map<int, int> racks;
  for (const PreemptionPlan::Place& place : plan.nominated) {
    const auto node = static_cast<std::size_t>(place.node.back() - '0');
    free[node] -= it.each;
    ++racks[it.rack[node]];
  }
  return std::ranges::none_of(free, [](int left) { return left < 0; }) &&
         (!it.in_rack || racks.size() <= 1) && std::ssize(plan.nominated) == it.pods;
}

TEST(PreemptionWitness, PlansHoldAndAreRarelyAboveTheMinimum) {
  std::mt19937 random(1);
  int found = 0;
  int minimal = 0;
  for (int i = 0; i < 600; ++i) {
    const Case it = any_case(random);
    const std::optional<Cost> best = exact(it, it.pods);
    if (best && best->is_nothing()) continue;  // it fits as things stand
    const PreemptionPlan plan = plan_of(it, PreemptionArgs::Mode::Search);
    ASSERT_EQ(plan.found(), best.has_value()) << "case " << i << ": " << plan.message;
    if (!best) continue;
    ++found;
    ASSERT_TRUE(holds(it, plan)) << "case " << i;
    const Cost cost = cost_of(plan);
    ASSERT_GE(cost, *best) << "case " << i << ": the witness is wrong";
    minimal += cost == *best ? 1 : 0;
    ASSERT_LE(plan.victims_at_least, best->pods) << "case " << i;
    const PreemptionPlan upstream = plan_of(it, PreemptionArgs::Mode::Upstream);
    ASSERT_TRUE(upstream.found()) << "case " << i;
    ASSERT_LE(cost, cost_of(upstream)) << "case " << i;
  }
  EXPECT_GT(found, 100);
  // A floor that was measured, so that a change for the worse is seen.
  EXPECT_GE(minimal * 100, found * 95) << minimal << " of " << found << " are minimal";
}

}  // namespace
}  // namespace muster::scheduler
