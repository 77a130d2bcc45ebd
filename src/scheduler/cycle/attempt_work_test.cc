// How much an attempt looks at, in rows and steps the engine counts itself: what grows with the
// cluster, what only with the changes since, and that what is kept in between changes no decision.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

constexpr int kRackSize = 10;

NodeSample node_sample(int number, int rack) {
  return {.name = fmt::format("n{:05}", number),
          .cpu = "8",
          .memory = "16Gi",
          .labels = {{"rack", fmt::format("r{:04}", rack)}}};
}

void add_nodes(Cluster& cluster, int count) {
  for (int i = 0; i < count; ++i) cluster.set_node(node_sample(i, i / kRackSize).make());
}

PendingPod pending(const std::string& name, const std::string& cpu, const std::string& group = "") {
  return {PodSample{.name = name, .cpu = cpu, .memory = "64Mi", .group = group}.make(), 0, {}};
}

Group gang(const std::string& name, int pods, const std::string& key,
           const std::string& cpu = "1") {
  Group group;
  group.key = {GroupKind::PodGroup, "default", name};
  group.gang = true;
  group.minimum = pods;
  group.topology_key = key;
  for (int i = 0; i < pods; ++i)
    group.pods.push_back(pending(fmt::format("{}-{}", name, i), cpu, name));
  return group;
}

void commit(const Plan& plan, Cluster& cluster) {
  for (const Assignment& assignment : plan.assignments)
    cluster.assume(assignment.pod, assignment.node);
}

TEST(AttemptWork, FirstPodOfAClassReadsEveryRowOnce) {
  const Profile profile = default_profile();
  for (const int nodes : {100, 200, 400}) {
    Cluster cluster;
    add_nodes(cluster, nodes);
    const Plan plan = attempt_pod(pending("a", "1"), cluster, profile);
    EXPECT_EQ(plan.rows_read, static_cast<std::uint64_t>(nodes));
  }
}

TEST(AttemptWork, FurtherPodsReadOnlyRowsThatChanged) {
  const Profile profile = default_profile();
  Cluster cluster;
  add_nodes(cluster, 400);
  for (const char* name : {"a", "b"})
    commit(attempt_pod(pending(name, "1"), cluster, profile), cluster);
  EXPECT_EQ(attempt_pod(pending("c", "1"), cluster, profile).rows_read, 1U);
  EXPECT_EQ(attempt_pod(pending("d", "1"), cluster, profile).rows_read, 0U);
}

TEST(AttemptWork, ARowThatChangedOftenIsReadOnce) {
  const Profile profile = default_profile();
  Cluster cluster;
  add_nodes(cluster, 400);
  for (const char* name : {"a", "b"}) attempt_pod(pending(name, "1"), cluster, profile);
  for (int i = 0; i < 20; ++i)
    cluster.assume(pending(fmt::format("other{}", i), "100m").pod, "n00007");
  EXPECT_EQ(attempt_pod(pending("c", "1"), cluster, profile).rows_read, 1U);
}

TEST(AttemptWork, ARackGangReadsItsRackAndWhatChanged) {
  const Profile profile = default_profile();
  for (const int nodes : {200, 400, 800}) {
    Cluster cluster;
    add_nodes(cluster, nodes);
    commit(attempt_group(gang("first", 4, "rack"), cluster, profile), cluster);
    const Plan plan = attempt_group(gang("second", 4, "rack"), cluster, profile);
    ASSERT_EQ(plan.assignments.size(), 4U);
    EXPECT_EQ(plan.steps, 4U);
    // The rack, and the four changed rows twice: for the class, and for what cells have free.
    EXPECT_EQ(plan.rows_read, static_cast<std::uint64_t>(kRackSize + 2 * 4)) << nodes << " nodes";
  }
}

TEST(AttemptWork, AGangAnywhereReadsItsMovesAndWhatChanged) {
  const Profile profile = default_profile();
  for (const int nodes : {200, 400, 800}) {
    Cluster cluster;
    add_nodes(cluster, nodes);
    commit(attempt_group(gang("first", 4, ""), cluster, profile), cluster);
    const Plan plan = attempt_group(gang("second", 4, ""), cluster, profile);
    ASSERT_EQ(plan.assignments.size(), 4U);
    // Four moves, and the four changed rows twice: for the class, and for what cells have free.
    EXPECT_EQ(plan.rows_read, 4U + 2 * 4) << nodes << " nodes";
  }
}

TEST(AttemptWork, GrowsWithThePodsAndNotFaster) {
  const Profile profile = default_profile();
  std::uint64_t before = 0;
  for (const int pods : {50, 100, 200, 400}) {
    Cluster cluster;
    add_nodes(cluster, 100);
    const Plan plan = attempt_group(gang("g", pods, ""), cluster, profile);
    ASSERT_EQ(plan.assignments.size(), static_cast<std::size_t>(pods));
    const std::uint64_t work = plan.steps + plan.rows_read;
    if (before > 0) {
      EXPECT_LE(work, 2 * before);
    }
    before = work;
  }
}

TEST(AttemptWork, GrowsWithTheGroupsAndNotFaster) {
  const Profile profile = default_profile();
  std::uint64_t before = 0;
  for (const int leaves : {4, 8, 16, 32}) {
    Cluster cluster;
    add_nodes(cluster, 200);
    Group root;
    root.key = {GroupKind::CompositePodGroup, "default", "tree"};
    root.gang = true;
    root.minimum = leaves;
    for (int i = 0; i < leaves; ++i)
      root.children.push_back(gang(fmt::format("leaf{}", i), 4, "rack"));
    const Plan plan = attempt_group(root, cluster, profile);
    ASSERT_EQ(plan.assignments.size(), static_cast<std::size_t>(4 * leaves));
    const std::uint64_t work = plan.steps + plan.rows_read;
    if (before > 0) {
      EXPECT_LE(work, 2 * before);
    }
    before = work;
  }
}

// --- what is kept across attempts changes no decision ---

std::vector<std::string> text_of(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Assignment& one : plan.assignments)
    lines.push_back(fmt::format("{} on {}", one.pod->meta().name, one.node));
  for (const Refusal& one : plan.refusals)
    lines.push_back(fmt::format("{}: {}", one.pod->meta().name, one.message));
  for (const GroupVerdict& one : plan.groups)
    lines.push_back(fmt::format("{} {} in '{}': {}", one.key.name, static_cast<int>(one.outcome),
                                one.domain, one.message));
  return lines;
}

// A cluster that lives on, and what it is told, to make a new one from.
struct World {
  std::map<std::string, api::ObjectPtr> nodes;
  std::map<std::string, api::ObjectPtr> pods;  // bound ones by name
  Cluster kept;
  int made = 0;

  void set_node(int number, int rack, bool unschedulable) {
    NodeSample sample = node_sample(number, rack);
    sample.unschedulable = unschedulable;
    nodes[sample.name] = sample.make();
    kept.set_node(nodes[sample.name]);
  }
  void remove_node(int number) {
    const std::string name = node_sample(number, 0).name;
    nodes.erase(name);
    kept.remove_node(name);
  }
  void bind(const api::ObjectPtr& pending, const std::string& node, const std::string& cpu,
            const std::string& group) {
    const std::string& name = pending->meta().name;
    pods[name] =
        PodSample{.name = name, .cpu = cpu, .memory = "64Mi", .node_name = node, .group = group}
            .make();
    kept.set_pod(pods[name]);
  }
  void remove_some_pod(std::size_t at) {
    if (pods.empty()) return;
    const auto gone = std::next(pods.begin(), static_cast<std::ptrdiff_t>(at % pods.size()));
    kept.remove_pod(gone->second->meta().uid);
    pods.erase(gone);
  }
  void tell(Cluster& cluster) const {
    for (const auto& [name, node] : nodes) cluster.set_node(node);
    for (const auto& [name, pod] : pods) cluster.set_pod(pod);
  }
};

RC_GTEST_PROP(AttemptWork, AKeptClusterDecidesLikeANewOne, ()) {
  const Profile profile = default_profile();
  World world;
  for (int i = 0; i < 30; ++i) world.set_node(i, i / kRackSize, false);
  const char* const sizes[] = {"500m", "1", "3"};
  const char* const keys[] = {"", "rack"};
  for (int round = 0; round < 25; ++round) {
    const int node = *rc::gen::inRange(0, 34);
    switch (*rc::gen::inRange(0, 6)) {
      case 0: world.set_node(node, *rc::gen::inRange(0, 4), false); break;
      case 1: world.set_node(node, node / kRackSize, *rc::gen::arbitrary<bool>()); break;
      case 2: world.remove_node(node); break;
      case 3: world.remove_some_pod(*rc::gen::inRange<std::size_t>(0, 100)); break;
      default: break;
    }
    const std::string cpu = sizes[*rc::gen::inRange(0, 3)];
    const int number = world.made++;
    Cluster fresh;
    world.tell(fresh);
    if (*rc::gen::inRange(0, 3) == 0) {
      const PendingPod pod = pending(fmt::format("pod{}", number), cpu);
      const Plan plan = attempt_pod(pod, world.kept, profile);
      RC_ASSERT(text_of(plan) == text_of(attempt_pod(pod, fresh, profile)));
      for (const Assignment& one : plan.assignments) world.bind(one.pod, one.node, cpu, "");
      continue;
    }
    const std::string name = fmt::format("g{}", number);
    const Group group = gang(name, *rc::gen::inRange(1, 40), keys[*rc::gen::inRange(0, 2)], cpu);
    const Plan plan = attempt_group(group, world.kept, profile);
    RC_ASSERT(text_of(plan) == text_of(attempt_group(group, fresh, profile)));
    if (*rc::gen::arbitrary<bool>())
      for (const Assignment& one : plan.assignments) world.bind(one.pod, one.node, cpu, name);
  }
}

}  // namespace
}  // namespace muster::scheduler
