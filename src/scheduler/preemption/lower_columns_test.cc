#include "scheduler/preemption/lower_columns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "api/views/pod_facts.h"
#include "scheduler/framework/standings.h"
#include "scheduler/placement/options.h"
#include "scheduler/placement/placer.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/preemption/eviction_draft.h"
#include "scheduler/preemption/least_on_node.h"
#include "scheduler/preemption/preemption_testing.h"
#include "scheduler/preemption/room_without_lower.h"

namespace muster::scheduler {
namespace {

constexpr int kPriority = 5;

// A small cluster that changes at random.
class LowerWorld {
 public:
  explicit LowerWorld(unsigned seed) : random_(seed), model_(default_profile(), {}) {
    nodes_ = any(2, 6);
    for (int n = 0; n < nodes_; ++n) put_node(n);
    for (int g = 0; g < 2; ++g) put_group(g);
    for (int i = any(0, 20); i > 0; --i) put_pod();
  }

  ClusterModel& model() { return model_; }
  int any(int from, int to) {
    return from + static_cast<int>(random_() % static_cast<unsigned>(to - from + 1));
  }
  void change() {
    switch (any(0, 5)) {
      case 0: return remove_pod();
      case 1: return put_group(any(0, 1));
      case 2: return put_node(any(0, nodes_ - 1));
      default: return put_pod();
    }
  }
  // A gang of two that wants this and that, in a rack or anywhere.
  Group waiting() {
    const GroupSample group{.name = "g",
                            .minimum = any(1, 2),
                            .priority = kPriority,
                            .key = any(0, 1) == 0 ? "rack" : ""};
    model_.put(group.make());
    const bool has_port = any(0, 3) == 0;
    const bool keeps_apart = any(0, 3) == 0;
    const std::string cpu = std::to_string(any(1, 6));
    for (int i = 0; i < 2; ++i)
      model_.put(PodSample{.name = fmt::format("g-{}", i),
                           .cpu = cpu,
                           .group = "g",
                           .priority = kPriority,
                           .spec = keeps_apart ? kApart : "",
                           .ports = has_port ? kPort : "",
                           .labels = {{"app", "g"}}}
                     .make());
    return model_.build(group.group_key());
  }

 private:
  static constexpr const char* kPort = R"([{"containerPort":80,"hostPort":80}])";
  static constexpr const char* kApart =
      R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
      R"({"topologyKey":"rack","labelSelector":{"matchLabels":{"app":"low"}}}]}})";

  void put_node(int number) {
    model_.put(
        NodeSample{.name = fmt::format("n{}", number),
                   .cpu = std::to_string(any(2, 8)),
                   .pods = any(2, 6),
                   .labels = {{"rack", std::to_string(number % 2)}},
                   .taints = any(0, 4) == 0 ? R"([{"key":"spot","effect":"NoSchedule"}])" : ""}
            .make());
  }
  void put_group(int number) {
    model_.put(GroupSample{
        .name = fmt::format("u{}", number), .priority = any(3, 6), .all = any(0, 1) == 0}
                   .make());
  }
  void put_pod() {
    const PodSample pod{.name = fmt::format("p{}", made_++),
                        .cpu = std::to_string(any(1, 3)),
                        .node_name = fmt::format("n{}", any(0, nodes_ - 1)),
                        .group = any(0, 2) == 0 ? fmt::format("u{}", any(0, 1)) : "",
                        .priority = any(3, 6),
                        .terminating = any(0, 4) == 0,
                        .ports = any(0, 3) == 0 ? kPort : "",
                        .labels = {{"app", any(0, 1) == 0 ? "low" : "other"}}};
    running_[pod.name] = pod.make();
    model_.put(running_[pod.name]);
  }
  void remove_pod() {
    if (running_.empty()) return;
    auto at = running_.begin();
    std::advance(at, any(0, static_cast<int>(running_.size()) - 1));
    model_.remove(*at->second);
    running_.erase(at);
  }

  std::mt19937 random_;
  ClusterModel model_;
  int nodes_ = 0;
  int made_ = 0;
  std::map<std::string, api::ObjectPtr> running_;
};

const LowerColumns::Level& level_of(ClusterModel& model, std::int32_t priority) {
  const RunningTable& table = RunningTable::of(model.cluster());
  return LowerColumns::of(model.cluster()).below(priority, table, find_homes(model, table));
}

void expect_sums(ClusterModel& model, std::int32_t priority) {
  const LowerColumns::Level& level = level_of(model, priority);
  const Cluster& cluster = model.cluster();
  std::size_t evictable = 0;
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const auto node = static_cast<NodeId>(row);
    std::int64_t pods = 0;
    std::int64_t cpu = 0;
    if (cluster.nodes().contains(node))
      for (const api::ObjectPtr& pod : cluster.pods_at(node)) {
        const auto leaf = model.leaf_of(*pod);
        const GroupSpec* group = leaf ? model.forest().find(*leaf) : nullptr;
        if ((group != nullptr ? group->priority : api::view_of(pod).priority) >= priority) continue;
        ++pods;
        cpu += api::view_of(pod).needs.requests.of("cpu");
        evictable += api::is_terminating(pod) ? 0 : 1;
      }
    ASSERT_EQ(level.pods[node], pods) << cluster.node_name(node);
    ASSERT_EQ(level.used_on(ResourceId::Cpu, node), cpu) << cluster.node_name(node);
  }
  ASSERT_EQ(level.evictable, evictable);
}

TEST(LowerColumns, AreTheSumsOfLowerPodsWhateverHappens) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    LowerWorld world(seed);
    for (int i = 0; i < 20; ++i) {
      expect_sums(world.model(), world.any(4, 6));
      world.change();
    }
  }
}

TEST(LowerColumns, OnlyRowsThatChangedAreRead) {
  ClusterModel model(default_profile(), {});
  for (int n = 0; n < 20; ++n) {
    const std::string node = fmt::format("n{}", n);
    model.put(NodeSample{.name = node}.make());
    model.put(PodSample{.name = "p" + node, .cpu = "1", .node_name = node}.make());
  }
  level_of(model, 5);
  const LowerColumns& columns = LowerColumns::of(model.cluster());
  const std::uint64_t before = columns.rows_read();
  model.put(PodSample{.name = "new", .cpu = "1", .node_name = "n3"}.make());
  EXPECT_EQ(level_of(model, 5).evictable, 21U);
  EXPECT_EQ(columns.rows_read(), before + 1);
}

TEST(LowerColumns, AreKeptForThoseWhoAsk) {
  ClusterModel model(default_profile(), {});
  model.put(NodeSample{.name = "n"}.make());
  const LowerColumns& columns = LowerColumns::of(model.cluster());
  for (int priority = 0; priority < 100; ++priority) level_of(model, priority);
  EXPECT_EQ(columns.level_count(), LowerColumns::kLevelsMax);
  for (std::uint64_t i = 0; i <= LowerColumns::kPatience; ++i) level_of(model, 7);
  EXPECT_EQ(columns.level_count(), 1U) << "nobody asks for the others any more";
}

// Ports, pods that keep apart, taints and budgets of pod slots are in these worlds: what the bound
// calls hopeless, a draft without any lower pod must refuse.
TEST(RoomWithoutLower, NeverCallsHopelessWhatADraftFinds) {
  int hopeless = 0;
  int feasible = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    LowerWorld world(seed);
    for (int i = world.any(0, 5); i > 0; --i) world.change();
    const Group root = world.waiting();
    ClusterModel& model = world.model();
    Cluster& cluster = model.cluster();
    const GroupTree tree(root, cluster, Standings::of(cluster, model.profile_of(root)));
    const RoomWithoutLower room(model, kPriority);
    Workspace workspace(cluster, *tree.topology, tree.standings);
    const bool may_be = TreeWithoutLower(tree, workspace, room).may_be_placed();
    const UnitTable table(model,
                          {.priority = kPriority, .now = Time{}, .patience = Duration::max()});
    ASSERT_TRUE(room.has_victims() || table.units().empty()) << "seed " << seed;
    std::uint64_t steps = 0;
    EvictionDraft evictions(tree, workspace, table, steps);
    const Draft::Checkpoint undo = workspace.draft().checkpoint();
    evictions.evict(table.leaving());
    evictions.evict(table.pods());
    const bool is_found = Placer(tree, workspace, {}).run() == SearchResult::Feasible;
    ASSERT_TRUE(may_be || !is_found) << "seed " << seed;
    hopeless += may_be ? 0 : 1;
    feasible += is_found ? 1 : 0;
  }
  EXPECT_GT(hopeless, 40) << "the bound must be of use";
  EXPECT_GT(feasible, 40);
}

// Every set of lower pods of a node that makes room costs as much or more.
TEST(LeastOnNode, IsNeverMoreThanAnySetOfPodsThatMakesRoom) {
  int bounds = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    LowerWorld world(seed);
    const Group root = world.waiting();
    ClusterModel& model = world.model();
    Cluster& cluster = model.cluster();
    const GroupTree tree(root, cluster, Standings::of(cluster, model.profile_of(root)));
    const UnitTable table(model,
                          {.priority = kPriority, .now = Time{}, .patience = Duration::max()});
    LeastOnNode room(cluster, *tree.standings.front(), table);
    const std::int64_t want = tree.standings.front()->pods().wants.front().amount;
    cluster.nodes().for_each([&](NodeId node) {
      const auto on = table.on(node);
      const std::optional<LeastOnNode::Least> least = room.on(node);
      const ResourceColumns& cpu = cluster.resource(ResourceId::Cpu);
      for (std::size_t set = 0; set < (std::size_t{1} << on.size()); ++set) {
        std::int64_t freed = 0;
        std::map<std::int32_t, std::int64_t> gone;
        std::int64_t pods = 0;
        for (std::size_t i = 0; i < on.size(); ++i) {
          if ((set >> i & 1U) == 0) continue;
          const UnitTable::Pod& pod = table.pods()[on[i]];
          for (const PodClass::Want& used : pod.pods->usage)
            if (used.resource == ResourceId::Cpu) freed += used.amount;
          ++gone[table.units()[pod.unit].priority];
          ++pods;
        }
        const bool makes_room = cpu.allocatable[node] - cpu.requested[node] + freed >= want &&
                                cluster.pods_on()[node] - pods < cluster.pod_slots()[node];
        if (!makes_room) continue;
        ASSERT_TRUE(least.has_value()) << "seed " << seed;
        ASSERT_LE(least->pods, pods) << "seed " << seed;
        if (least->at_top == 0) continue;
        ++bounds;
        ASSERT_FALSE(gone.empty()) << "seed " << seed;
        ASSERT_LE(std::pair(least->top, least->at_top),
                  std::pair(gone.rbegin()->first, gone.rbegin()->second))
            << "seed " << seed;
      }
    });
  }
  EXPECT_GT(bounds, 100);
}

}  // namespace
}  // namespace muster::scheduler
