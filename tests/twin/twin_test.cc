// The product against its naive twin, on random clusters, random pods and random histories. A
// failure prints its seed and the simplest script that still fails; run one seed with
// MUSTER_TWIN_SEED=<seed>.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "twin/comparison.h"

namespace muster::scheduler::twin {
namespace {

TEST(Twin, LonePodsAreDecidedAsTheReferenceSays) {
  for_scripts({.first = 1, .count = 250}, random_script, [](const Script& script) -> std::string {
    World world;
    std::vector<api::ObjectPtr> pods;
    for (const PodSample& pod : script.pods) pods.push_back(pod.make());
    for (const Change& change : script.history) {
      world.apply(change);
      if (change.kind == Change::Kind::Look)
        for (const api::ObjectPtr& pod : pods)
          if (std::string wrong = compare(world, pod); !wrong.empty())
            return pod->meta().name + ": " + wrong;
    }
    return "";
  });
}

TEST(Twin, TheClusterEqualsAFreshRebuild) {
  for_scripts(
      {.first = 100'001, .count = 300}, random_script, [](const Script& script) -> std::string {
        World world;
        world.apply_all(script);
        Cluster rebuilt;
        for (const auto& [name, node] : world.naive.nodes) rebuilt.set_node(node);
        for (const auto& [uid, record] : world.naive.pods)
          rebuilt.assume(record.first, record.second);
        EXPECT_SAME(world.cluster.node_count(), rebuilt.node_count(), "nodes");
        for (std::uint32_t rank = 0; rank < rebuilt.node_count(); ++rank) {
          const NodeId a = world.cluster.node_at(rank);
          const NodeId b = rebuilt.node_at(rank);
          const std::string& name = rebuilt.node_name(b);
          EXPECT_SAME(world.cluster.node_name(a), name, "node {}", rank);
          std::string differs;
          rebuilt.resources().for_each([&](const ResourceColumns& theirs) {
            ResourceId mine{};
            if (!world.cluster.find_resource(theirs.name, mine)) {
              differs = "no column " + theirs.name;
              return;
            }
            const ResourceColumns& ours = world.cluster.resource(mine);
            if (ours.requested[a] != theirs.requested[b] ||
                ours.allocatable[a] != theirs.allocatable[b])
              differs = fmt::format("{} of {}", theirs.name, name);
          });
          if (!differs.empty()) return differs;
          EXPECT_SAME(world.cluster.pods_on()[a], rebuilt.pods_on()[b], "pods on {}", name);
          EXPECT_SAME(world.cluster.nonzero_cpu()[a], rebuilt.nonzero_cpu()[b], "cpu of {}", name);
          EXPECT_SAME(world.cluster.nonzero_memory()[a], rebuilt.nonzero_memory()[b],
                      "memory of {}", name);
          EXPECT_SAME(world.cluster.ports_on(a).size(), rebuilt.ports_on(b).size(), "ports of {}",
                      name);
        }
        return "";
      });
}

TEST(Twin, PlacingAndUndoingLeavesNoTrace) {
  for_scripts({.first = 200'001, .count = 100}, random_script,
              [](const Script& script) -> std::string {
                World world;
                world.apply_all(script);
                return compare_moves(world, script);
              });
}

}  // namespace
}  // namespace muster::scheduler::twin
