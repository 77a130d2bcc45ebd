// The product against its naive twin, on random clusters, random pods and random histories. A
// failure prints its seed; run one seed with MUSTER_TWIN_SEED=<seed>.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/framework/standing.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/placer.h"
#include "scheduler/placement/workspace.h"
#include "twin/naive_scheduler.h"

namespace muster::scheduler::twin {
namespace {

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {
    const std::size_t nodes = 1 + below(12);
    for (std::size_t i = 0; i < nodes; ++i) set_node();
    for (std::size_t i = 0; i < 30; ++i) change();
  }

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }

  void change() {
    switch (below(8)) {
      case 0: set_node(); break;
      case 1:
        if (chance(30)) remove_node();
        break;
      case 2:
      case 3: set_pod(); break;
      case 4: remove_pod(); break;
      default: assume_pod(); break;
    }
  }

  PodSample random_pod() {
    PodSample pod{.name = "p" + std::to_string(next_++)};
    if (chance(80)) pod.cpu = std::to_string(below(12) * 250) + "m";
    if (chance(70)) pod.memory = std::to_string(below(8) * 512) + "Mi";
    if (chance(20)) pod.extended["example.com/gpu"] = std::to_string(below(4));
    std::vector<std::string> parts;
    if (chance(25)) parts.push_back(R"("nodeSelector":{"disk":")" + pick({"ssd", "hdd"}) + "\"}");
    if (chance(40))
      parts.push_back(R"("tolerations":[{"key":")" + pick({"k", "l", ""}) +
                      R"(","operator":"Exists","effect":")" +
                      pick({"", "NoSchedule", "PreferNoSchedule", "NoExecute"}) + "\"}]");
    std::vector<std::string> affinity;
    if (chance(25))
      affinity.push_back(
          R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" + term() +
          (chance(50) ? "," + term() : "") + "]}");
    if (chance(35))
      affinity.push_back(R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":)" +
                         std::to_string(1 + below(100)) + R"(,"preference":)" + term() +
                         R"(},{"weight":)" + std::to_string(1 + below(100)) + R"(,"preference":)" +
                         term() + "}]");
    if (!affinity.empty())
      parts.push_back(R"("affinity":{"nodeAffinity":{)" + join(affinity) + "}}");
    pod.spec = join(parts);
    return pod;
  }

  Cluster cluster;
  NaiveScheduler naive;
  Profile profile = default_profile();

 private:
  std::string pick(std::vector<std::string> words) { return words[below(words.size())]; }
  static std::string join(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
    return text;
  }
  std::string term() {
    switch (below(4)) {
      case 0:
        return R"({"matchExpressions":[{"key":"disk","operator":"In","values":["ssd","nvme"]}]})";
      case 1: return R"({"matchExpressions":[{"key":"gen","operator":"Gt","values":["2"]}]})";
      case 2:
        return R"({"matchExpressions":[{"key":"zone","operator":"NotIn","values":["z1"]},{"key":"disk","operator":"Exists"}]})";
      default: return R"({"matchExpressions":[{"key":"zone","operator":"DoesNotExist"}]})";
    }
  }
  std::string random_node() { return "n" + std::to_string(below(14)); }

  void set_node() {
    NodeSample node{.name = random_node()};
    node.cpu = std::to_string(1 + below(8));
    node.memory = std::to_string(1 + below(16)) + "Gi";
    if (chance(5)) node.memory = "0";
    node.pods = static_cast<std::int64_t>(below(10));
    if (chance(60)) node.labels["disk"] = pick({"ssd", "hdd", "nvme"});
    if (chance(60)) node.labels["gen"] = std::to_string(below(5));
    if (chance(70)) node.labels["zone"] = pick({"z1", "z2", "z3"});
    if (chance(30)) node.extended["example.com/gpu"] = std::to_string(below(5));
    if (chance(40))
      node.taints = R"([{"key":")" + pick({"k", "l"}) + R"(","effect":")" +
                    pick({"NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"}) +
                    "\"}" + (chance(40) ? R"(,{"key":"m","effect":"PreferNoSchedule"}])" : "]");
    node.unschedulable = chance(10);
    const auto object = node.make();
    cluster.set_node(object);
    naive.nodes[node.name] = object;
  }
  void remove_node() {
    const std::string name = random_node();
    cluster.remove_node(name);
    naive.nodes.erase(name);
  }
  void set_pod() {
    PodSample pod = random_pod();
    pod.node_name = random_node();
    const auto object = pod.make();
    cluster.set_pod(object);
    naive.pods[object->meta().uid] = {object, pod.node_name};
  }
  void assume_pod() {
    const auto object = random_pod().make();
    const std::string node = random_node();
    cluster.assume(object, node);
    naive.pods[object->meta().uid] = {object, node};
  }
  void remove_pod() {
    if (naive.pods.empty()) return;
    auto at = naive.pods.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(naive.pods.size())));
    if (cluster.is_assumed(at->first) && chance(50))
      cluster.forget(at->first);
    else
      cluster.remove_pod(at->first);
    naive.pods.erase(at);
  }

  std::mt19937_64 random_;
  int next_ = 0;
};

void compare(World& world, const api::ObjectPtr& pod) {
  Standings& standings = Standings::of(world.cluster, world.profile);
  Standing& standing = standings.of_pod(pod);
  Standing fresh(world.cluster.class_of(pod), world.profile, world.cluster);
  fresh.catch_up();
  const auto totals = world.naive.totals(*pod);
  for (const auto& [name, object] : world.naive.nodes) {
    NodeId node{};
    ASSERT_TRUE(world.cluster.find_node(name, node)) << name;
    const NaiveScheduler::Verdict want = world.naive.filter(*pod, name);
    const Standing::Answer got = standing.ask(node);
    const std::vector<std::string> reasons(got.verdict.reasons().begin(),
                                           got.verdict.reasons().end());
    ASSERT_EQ(reasons, want.reasons) << name;
    ASSERT_EQ(got.plugin, want.plugin) << name;
    if (!want.reasons.empty()) {
      ASSERT_EQ(got.verdict.remedy() == Remedy::None, want.unresolvable) << name;
    }
    ASSERT_EQ(standing.is_feasible(node), want.reasons.empty()) << name;
    ASSERT_EQ(standing.caps()[node], world.naive.cap(*pod, name)) << name;
    ASSERT_EQ(standing.cap_now(node), standing.caps()[node]) << name;
    // What was caught up row by row is what a fresh preparation gives.
    ASSERT_EQ(standing.key_kept(node), fresh.key_kept(node)) << name;
    ASSERT_EQ(fresh.caps()[node], standing.caps()[node]) << name;
    ASSERT_EQ(standing.key_now(node), standing.key_kept(node)) << name;
  }
  const auto best = standing.pick();
  ASSERT_EQ(best.has_value(), !totals.empty());
  if (best) {
    std::string winner;
    std::int64_t most = -1;
    for (const auto& [name, total] : totals)
      if (total > most) {
        most = total;
        winner = name;
      }
    ASSERT_EQ(best->total, most);
    ASSERT_EQ(world.cluster.node_name(best->node), winner) << "ties go to the first by name";
    const auto again = fresh.pick();
    ASSERT_EQ(again->node, best->node);
  } else if (!world.naive.nodes.empty()) {
    const Plan plan = attempt_pod({pod, 0, {}}, world.cluster, world.profile);
    ASSERT_EQ(plan.refusals.at(0).message, world.naive.fit_error(*pod));
  }
}

template <typename Property>
void for_seeds(std::uint64_t count, Property&& property) {
  const char* only = std::getenv("MUSTER_TWIN_SEED");
  const std::uint64_t first = only == nullptr ? 1 : std::strtoull(only, nullptr, 10);
  for (std::uint64_t seed = first; seed < first + (only == nullptr ? count : 1); ++seed) {
    SCOPED_TRACE("MUSTER_TWIN_SEED=" + std::to_string(seed));
    property(seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Twin, LonePodsAreDecidedAsTheReferenceSays) {
  for_seeds(150, [](std::uint64_t seed) {
    World world(seed);
    std::vector<api::ObjectPtr> pods;
    for (int i = 0; i < 4; ++i) pods.push_back(world.random_pod().make());
    for (int round = 0; round < 6; ++round) {
      for (const api::ObjectPtr& pod : pods) {
        compare(world, pod);
        if (::testing::Test::HasFatalFailure()) return;
      }
      for (int i = 0; i < 5; ++i) world.change();
    }
  });
}

TEST(Twin, TheClusterEqualsAFreshRebuild) {
  for_seeds(150, [](std::uint64_t seed) {
    World world(seed);
    Cluster rebuilt;
    for (const auto& [name, node] : world.naive.nodes) rebuilt.set_node(node);
    for (const auto& [uid, record] : world.naive.pods) rebuilt.assume(record.first, record.second);
    ASSERT_EQ(world.cluster.node_count(), rebuilt.node_count());
    for (std::uint32_t rank = 0; rank < rebuilt.node_count(); ++rank) {
      const NodeId a = world.cluster.node_at(rank);
      const NodeId b = rebuilt.node_at(rank);
      ASSERT_EQ(world.cluster.node_name(a), rebuilt.node_name(b));
      for (std::size_t r = 0; r < rebuilt.resource_count(); ++r) {
        const ResourceColumns& theirs = rebuilt.resource(static_cast<ResourceId>(r));
        ResourceId mine{};
        ASSERT_TRUE(world.cluster.find_resource(theirs.name, mine));
        ASSERT_EQ(world.cluster.resource(mine).requested[a], theirs.requested[b]) << theirs.name;
        ASSERT_EQ(world.cluster.resource(mine).allocatable[a], theirs.allocatable[b])
            << theirs.name;
      }
      ASSERT_EQ(world.cluster.pods_on()[a], rebuilt.pods_on()[b]);
      ASSERT_EQ(world.cluster.nonzero_cpu()[a], rebuilt.nonzero_cpu()[b]);
      ASSERT_EQ(world.cluster.nonzero_memory()[a], rebuilt.nonzero_memory()[b]);
    }
  });
}

Group leaf_of(World& world, const std::string& name, std::size_t shapes, std::size_t count,
              std::string key) {
  Group group;
  group.key = {GroupKind::PodGroup, "default", name};
  group.gang = true;
  group.minimum = static_cast<std::int32_t>(1 + world.below(count));
  group.topology_key = std::move(key);
  std::vector<PodSample> samples;
  for (std::size_t s = 0; s < shapes; ++s) samples.push_back(world.random_pod());
  for (std::size_t i = 0; i < count; ++i) {
    PodSample pod = samples[world.below(shapes)];
    pod.name = name + "-" + std::to_string(i);
    group.pods.push_back({pod.make(), 0, {}});
  }
  return group;
}

// Places and takes back at random; the workspace must always equal one made anew.
TEST(Twin, PlacingAndUndoingLeavesNoTrace) {
  for_seeds(80, [](std::uint64_t seed) {
    World world(seed);
    if (world.cluster.node_count() == 0) return;
    const Group group = leaf_of(world, "g", 3, 6, "zone");
    Standings& standings = Standings::of(world.cluster, world.profile);
    const GroupTree tree(group, world.cluster, standings);
    Workspace workspace(world.cluster, *tree.topology, tree.shapes);
    const Domain everywhere = tree.topology->everywhere();
    const auto same_as_fresh = [&] {
      for (std::size_t s = 0; s < tree.shapes.size(); ++s) {
        std::int64_t sum = 0;
        world.cluster.nodes().for_each([&](NodeId node) {
          ASSERT_EQ(workspace.cap(s, node), tree.shapes[s]->cap_now(node));
          sum += workspace.cap(s, node);
        });
        ASSERT_EQ(workspace.cap_sum(s, everywhere), sum);
      }
      const Workspace::Totals totals = workspace.totals(everywhere);
      std::int64_t slots = 0;
      world.cluster.nodes().for_each([&](NodeId node) {
        slots += std::max<std::int64_t>(
            0, world.cluster.pod_slots()[node] - world.cluster.pods_on()[node]);
      });
      ASSERT_EQ(totals.slots, slots);
    };
    const auto dig = [&](auto& self, int depth) -> void {
      const Draft::Checkpoint undo = workspace.draft().checkpoint();
      for (int i = 0; i < 4; ++i) {
        const std::size_t shape = world.below(tree.shapes.size());
        Arena arena(workspace, everywhere);
        const auto node = arena.pick(shape);
        if (!node) continue;
        // The arena's pick is the best by keys computed afresh.
        for (const NodeId other : arena.nodes())
          ASSERT_EQ(arena.is_feasible(shape, other), tree.shapes[shape]->key_now(other) != 0);
        workspace.place(shape, *node, 0);
      }
      same_as_fresh();
      if (depth > 0 && !::testing::Test::HasFatalFailure()) self(self, depth - 1);
    };
    dig(dig, 3);
    same_as_fresh();
    ASSERT_TRUE(workspace.draft().moves().empty());
  });
}

// Whatever a group attempt decides is sound: nothing over-committed, one domain, minimum met,
// nothing left behind.
TEST(Twin, GroupPlansAreSound) {
  for_seeds(200, [](std::uint64_t seed) {
    World world(seed);
    Group group =
        leaf_of(world, "g", 1 + world.below(3), 1 + world.below(8), world.chance(60) ? "zone" : "");
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
            most = std::max(most, world.naive.cap(*pod.pod, name));
          room[group.topology_key.empty() ? "" : *zone] += most;
        }
        bool one_kind = true;
        for (const PendingPod& pod : group.pods)
          one_kind &=
              world.cluster.class_of(pod.pod).id == world.cluster.class_of(group.pods[0].pod).id;
        if (!one_kind) return;
        for (const auto& [zone, pods] : room) ASSERT_LT(pods, group.minimum) << zone;
      }
      return;
    }
    ASSERT_GE(plan.assignments.size(), static_cast<std::size_t>(group.minimum));
    for (std::size_t i = 0; i < plan.assignments.size(); ++i) {
      const Assignment& assignment = plan.assignments[i];
      ASSERT_EQ(assignment.node, again.assignments[i].node);
      ASSERT_TRUE(world.naive.filter(*assignment.pod, assignment.node).reasons.empty())
          << assignment.node;
      if (!group.topology_key.empty()) {
        ASSERT_EQ(*api::lookup(world.naive.nodes.at(assignment.node)->meta().labels, "zone"),
                  plan.groups[0].domain);
      }
      world.naive.pods[assignment.pod->meta().uid] = {assignment.pod, assignment.node};
    }
  });
}

// Whether `missing` more of the pods from `at` on can be placed, in any way at all.
bool can_place(NaiveScheduler& naive, const Group& group, std::size_t at, std::int64_t missing,
               const std::string& zone) {
  if (missing <= 0) return true;
  if (static_cast<std::int64_t>(group.pods.size() - at) < missing) return false;
  const api::ObjectPtr& pod = group.pods[at].pod;
  for (const auto& [name, node] : naive.nodes) {
    const std::string* value = api::lookup(node->meta().labels, "zone");
    if (!zone.empty() && (value == nullptr || *value != zone)) continue;
    if (!naive.filter(*pod, name).reasons.empty()) continue;
    naive.pods[pod->meta().uid] = {pod, name};
    const bool found = can_place(naive, group, at + 1, missing - 1, zone);
    naive.pods.erase(pod->meta().uid);
    if (found) return true;
  }
  return can_place(naive, group, at + 1, missing, zone);
}

TEST(Twin, ANoIsANoAndAYesIsFound) {
  for_seeds(120, [](std::uint64_t seed) {
    World world(seed);
    if (world.naive.nodes.empty()) return;
    const std::string key = world.chance(60) ? "zone" : "";
    const Group group = leaf_of(world, "g", 1 + world.below(3), 4, key);
    const Plan plan = attempt_group(group, world.cluster, world.profile);
    const std::vector<std::string> zones =
        key.empty() ? std::vector<std::string>{""} : std::vector<std::string>{"z1", "z2", "z3"};
    bool possible = false;
    for (const std::string& zone : zones)
      possible = possible || can_place(world.naive, group, 0, group.minimum, zone);
    if (plan.groups[0].outcome == Outcome::Unresolved) return;  // it did not say no
    ASSERT_EQ(!plan.assignments.empty(), possible) << plan.groups[0].message;
  });
}

}  // namespace
}  // namespace muster::scheduler::twin
