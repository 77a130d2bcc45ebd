// Groups of one leaf against the naive twin; trees are compared in tests/witness.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "scheduler/cycle/attempt.h"
#include "twin/script.h"
#include "twin/seeds.h"

namespace muster::scheduler::twin {
namespace {

Group leaf_of(Dice& dice, std::size_t shapes, std::size_t count, std::string key) {
  Group group;
  group.key = {GroupKind::PodGroup, "default", "g"};
  group.gang = true;
  group.minimum = static_cast<std::int32_t>(1 + dice.below(count));
  group.topology_key = std::move(key);
  std::vector<PodSample> samples;
  for (std::size_t s = 0; s < shapes; ++s) samples.push_back(random_pod(dice, "shape"));
  for (std::size_t i = 0; i < count; ++i) {
    PodSample pod = samples[dice.below(shapes)];
    pod.name = "g-" + std::to_string(i);
    group.pods.push_back({pod.make(), 0, {}, pod.nominated_node});
  }
  return group;
}

// Whether the pods can be placed as planned one after the other, in some order: what one asks of
// the others may depend on it.
bool has_an_order(NaiveScheduler& naive, std::vector<Assignment> left) {
  if (left.empty()) return true;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Assignment& next = left[i];
    if (!naive.filter(*next.pod, next.node).reasons.empty()) continue;
    std::vector<Assignment> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    naive.place(next.pod, next.node);
    if (has_an_order(naive, rest)) return true;
    naive.remove(next.pod->meta().uid);
  }
  return false;
}

// Whatever a group attempt decides is sound: nothing over-committed, one domain, minimum met,
// nothing left behind.
TEST(Twin, GroupPlansAreSound) {
  for_seeds({.first = 300'001, .count = 200}, [](std::uint64_t seed) {
    World world;
    world.apply_all(random_script(seed));
    Dice dice(seed);
    Group group =
        leaf_of(dice, 1 + dice.below(3), 1 + dice.below(8), dice.chance(60) ? "zone" : "");
    const std::uint64_t log_before = world.cluster.log().end();
    const Plan plan = attempt_group(group, world.cluster, world.profile);
    const Plan again = attempt_group(group, world.cluster, world.profile);
    ASSERT_EQ(world.cluster.log().end(), log_before);
    ASSERT_EQ(plan.assignments.size(), again.assignments.size());
    ASSERT_EQ(plan.assignments.size() + plan.refusals.size(), group.pods.size());
    if (plan.assignments.empty()) {
      // A "no" for pods of one kind is checked by counting.
      if (plan.groups[0].outcome != Outcome::Unresolved && !world.naive.nodes.empty()) {
        std::map<std::string, std::int64_t> room;
        for (const auto& [name, node] : world.naive.nodes) {
          const std::string* zone = api::lookup(node->meta().labels, "zone");
          if (!group.topology_key.empty() && zone == nullptr) continue;
          // An upper bound: as if every pod were as small as the smallest.
          std::int64_t most = 0;
          for (const PendingPod& pod : group.pods)
            most = std::max(most, world.naive.cap(pod.pod, name));
          room[group.topology_key.empty() ? "" : *zone] += most;
        }
        bool one_kind = true;
        for (const PendingPod& pod : group.pods)
          one_kind &=
              world.cluster.class_of(pod.pod).id == world.cluster.class_of(group.pods[0].pod).id;
        const auto& needs = group.pods[0].pod->view<api::PodView>().needs;
        if (!one_kind || !needs.pod_terms.empty() || !needs.spread.empty()) return;
        for (const auto& [zone, pods] : room) ASSERT_LT(pods, group.minimum) << zone;
      }
      return;
    }
    ASSERT_GE(plan.assignments.size(), static_cast<std::size_t>(group.minimum));
    for (std::size_t i = 0; i < plan.assignments.size(); ++i) {
      const Assignment& assignment = plan.assignments[i];
      ASSERT_EQ(assignment.node, again.assignments[i].node);
      if (!group.topology_key.empty()) {
        ASSERT_EQ(*api::lookup(world.naive.nodes.at(assignment.node)->meta().labels, "zone"),
                  plan.groups[0].domain);
      }
    }
    ASSERT_TRUE(has_an_order(world.naive, plan.assignments));
  });
}

// Whether `missing` more of the pods can be placed, in any way and any order at all.
bool can_place(NaiveScheduler& naive, const Group& group, std::int64_t missing,
               const std::string& zone) {
  if (missing <= 0) return true;
  for (const PendingPod& pending : group.pods) {
    const api::ObjectPtr& pod = pending.pod;
    if (naive.pods.contains(pod->meta().uid)) continue;
    for (const auto& [name, node] : naive.nodes) {
      const std::string* value = api::lookup(node->meta().labels, "zone");
      if (!zone.empty() && (value == nullptr || *value != zone)) continue;
      if (!naive.filter(*pod, name).reasons.empty()) continue;
      naive.place(pod, name);
      const bool found = can_place(naive, group, missing - 1, zone);
      naive.remove(pod->meta().uid);
      if (found) return true;
    }
  }
  return false;
}

TEST(Twin, ANoIsANoAndAYesIsFound) {
  for_seeds({.first = 400'001, .count = 150}, [](std::uint64_t seed) {
    World world;
    world.apply_all(random_script(seed));
    Dice dice(seed);
    if (world.naive.nodes.empty()) return;
    const std::string key = dice.chance(60) ? "zone" : "";
    const Group group = leaf_of(dice, 1 + dice.below(3), 3, key);
    const Plan plan = attempt_group(group, world.cluster, world.profile);
    const std::vector<std::string> zones =
        key.empty() ? std::vector<std::string>{""} : std::vector<std::string>{"z1", "z2", "z3"};
    bool possible = false;
    for (const std::string& zone : zones)
      possible = possible || can_place(world.naive, group, group.minimum, zone);
    if (plan.groups[0].outcome == Outcome::Unresolved) return;  // it did not say no
    ASSERT_EQ(!plan.assignments.empty(), possible) << plan.groups[0].message;
  });
}

// Members with claims, disks, images, features and Services, where nodes are kept for others, too.
TEST(Twin, GroupsWithVolumesGetWhatTheReferenceGives) {
  int placed = 0;
  int refused = 0;
  for_seeds({.first = 700'001, .count = 150}, [&](std::uint64_t seed) {
    const Script script =
        seed % 2 == 0 ? random_storage_script(seed) : random_script_with_kept_nodes(seed / 3 * 3);
    Dice dice(seed);
    World world;
    Group group;
    group.key = {GroupKind::PodGroup, "default", "g"};
    group.gang = true;
    group.topology_key = dice.chance(60) ? "zone" : "";
    std::vector<api::ObjectPtr> pods;
    for (const PodSample& pod : script.pods) pods.push_back(pod.make());
    for (const api::ObjectPtr& pod : pods) group.pods.push_back({pod, 0, {}, {}});
    group.minimum = static_cast<std::int32_t>(1 + dice.below(pods.size()));
    world.ask(pods);
    world.apply_all(script);
    if (world.naive.nodes.empty()) return;
    const Plan plan = attempt_group(group, world.cluster, world.profile);
    if (!plan.assignments.empty()) {
      ++placed;
      ASSERT_GE(plan.assignments.size(), static_cast<std::size_t>(group.minimum));
      ASSERT_TRUE(has_an_order(world.naive, plan.assignments)) << script.text();
      return;
    }
    if (plan.groups[0].outcome == Outcome::Unresolved) return;  // it did not say no
    ++refused;
    const std::vector<std::string> zones = group.topology_key.empty()
                                               ? std::vector<std::string>{""}
                                               : std::vector<std::string>{"z1", "z2", "z3"};
    for (const std::string& zone : zones)
      ASSERT_FALSE(can_place(world.naive, group, group.minimum, zone))
          << zone << ": " << plan.groups[0].message << "\n"
          << script.text();
  });
  if (HasFatalFailure() || std::getenv("MUSTER_TWIN_SEED") != nullptr) return;
  EXPECT_GT(placed, 20);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace muster::scheduler::twin
