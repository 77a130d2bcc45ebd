// Nodes that are kept for pods that are to come, against the naive twin: every filter judges them
// with these pods and without.
#include <gtest/gtest.h>

#include <cstdlib>

#include "twin/comparison.h"

namespace muster::scheduler::twin {
namespace {

TEST(KeptTwin, LonePodsRespectWhatIsKept) {
  met() = {};
  for_scripts({.first = 600'001, .count = 250}, random_script_with_kept_nodes,
              [](const Script& script) -> std::string {
                World world;
                return compare_looks(world, script, compare_feasible);
              });
  if (HasFatalFailure() || std::getenv("MUSTER_TWIN_SEED") != nullptr) return;
  for (const char* plugin : {"NodeResourcesFit", "NodePorts", "PodTopologySpread",
                             "InterPodAffinity", "VolumeRestrictions", "NodeVolumeLimits"})
    EXPECT_GT(met().vetoes[plugin], 0) << plugin;
}

TEST(KeptTwin, SoDoGroupsAfterEachMove) {
  for_scripts({.first = 610'001, .count = 100}, random_script_with_kept_nodes,
              [](const Script& script) -> std::string {
                World world;
                world.ask(script.asking());
                world.apply_all(script);
                return compare_moves(world, script);
              });
}

}  // namespace
}  // namespace muster::scheduler::twin
