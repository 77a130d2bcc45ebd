// Volumes, images, features and default spread against the naive twin: of lone pods, and on the
// drafts of groups. Each test also counts what it has met, so that a rule that never applied shows.
#include <gtest/gtest.h>

#include <cstdlib>

#include "twin/comparison.h"

namespace muster::scheduler::twin {
namespace {

using Defaults = std::vector<NaiveScheduler::DefaultSpread>;

constexpr const char* kOnePodOnly =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod";

bool runs_all_seeds() { return std::getenv("MUSTER_TWIN_SEED") == nullptr; }

// Both verdicts of each filter that has something to say, and different scores.
void expect_all_met() {
  for (const char* plugin : {"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding",
                             "VolumeZone", "NodeDeclaredFeatures"}) {
    EXPECT_GT(met().verdicts[plugin][0], 20) << plugin << " refused";
    EXPECT_GT(met().verdicts[plugin][1], 20) << plugin << " accepted";
  }
  for (const char* plugin : {"VolumeBinding", "ImageLocality"})
    EXPECT_GT(met().scores[plugin].size(), 1u) << plugin;
  for (const char* reason :
       {"node(s) had no available disk", kOnePodOnly, "node(s) exceed max volume count",
        "csi.example.com CSI driver is not installed on the node",
        "node(s) didn't match PersistentVolume's node affinity",
        "node(s) didn't find available persistent volumes to bind",
        "node(s) did not have enough free storage", "node(s) had no available volume zone",
        "node(s) didn't match Pod's required features"})
    EXPECT_TRUE(met().reasons.contains(reason)) << reason;
}

TEST(StorageTwin, LonePodsAreDecidedAsTheReferenceSays) {
  met() = {};
  for_scripts({.first = 500'001, .count = 200}, random_storage_script,
              [](const Script& script) -> std::string {
                World world;
                return compare_looks(world, script, compare);
              });
  if (HasFatalFailure() || !runs_all_seeds()) return;
  expect_all_met();
  EXPECT_GT(met().default_spreads, 20);
}

TEST(StorageTwin, DefaultSpreadFromAList) {
  met() = {};
  for_scripts({.first = 510'001, .count = 80}, random_storage_script,
              [](const Script& script) -> std::string {
                World world(Defaults{{"topology.kubernetes.io/zone", 1, true},
                                     {"zone", 2, false},
                                     {"kubernetes.io/hostname", 1, false}});
                return compare_looks(world, script, compare);
              });
  if (HasFatalFailure() || !runs_all_seeds()) return;
  EXPECT_GT(met().verdicts["PodTopologySpread"][0], 20);
  EXPECT_GT(met().verdicts["PodTopologySpread"][1], 20);
  EXPECT_GT(met().default_spreads, 20);
}

TEST(StorageTwin, PlacingAndUndoingLeavesNoTrace) {
  met() = {};
  for_scripts({.first = 520'001, .count = 100}, random_storage_script,
              [](const Script& script) -> std::string {
                World world;
                world.ask(script.asking());
                world.apply_all(script);
                return compare_moves(world, script);
              });
  if (HasFatalFailure() || !runs_all_seeds()) return;
  expect_all_met();
}

TEST(StorageTwin, PlacingAndUndoingWithDefaultSpreadFromAList) {
  met() = {};
  for_scripts({.first = 530'001, .count = 50}, random_storage_script,
              [](const Script& script) -> std::string {
                World world(Defaults{{"zone", 1, true}, {"kubernetes.io/hostname", 1, false}});
                world.ask(script.asking());
                world.apply_all(script);
                return compare_moves(world, script);
              });
  if (HasFatalFailure() || !runs_all_seeds()) return;
  EXPECT_GT(met().verdicts["PodTopologySpread"][0], 20);
  EXPECT_GT(met().verdicts["PodTopologySpread"][1], 20);
}

}  // namespace
}  // namespace muster::scheduler::twin
