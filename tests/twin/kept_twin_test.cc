// Nodes that are kept for pods that are to come, against the naive twin: every filter judges them
// with these pods and without.
#include <gtest/gtest.h>

#include <cstdlib>

#include "twin/comparison.h"

namespace muster::scheduler::twin {
namespace {

std::vector<api::ObjectPtr> asking(const Script& script) {
  std::vector<api::ObjectPtr> pods;
  for (const PodSample& pod : script.pods) pods.push_back(pod.make());
  return pods;
}

TEST(KeptTwin, LonePodsRespectWhatIsKept) {
  met() = {};
  for_scripts({.first = 600'001, .count = 250}, random_script_with_kept_nodes,
              [](const Script& script) -> std::string {
                World world;
                const std::vector<api::ObjectPtr> pods = asking(script);
                world.ask(pods);
                for (const Change& change : script.history) {
                  world.apply(change);
                  if (change.kind != Change::Kind::Look) continue;
                  for (const api::ObjectPtr& pod : pods)
                    if (std::string wrong = compare_feasible(world, pod); !wrong.empty())
                      return pod->meta().name + ": " + wrong;
                }
                return "";
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
                world.ask(asking(script));
                world.apply_all(script);
                return compare_moves(world, script);
              });
}

}  // namespace
}  // namespace muster::scheduler::twin
