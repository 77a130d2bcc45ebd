#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/cycle/attempt.h"
#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

// What a gang is told that finds room for some of its pods.
namespace muster::scheduler {
namespace {

TEST(GroupShortage, NamesTheResourceThatRunsOutFirst) {
  struct Case {
    NodeSample node;
    std::vector<PodSample> pods;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{.name = "memory", .cpu = "4", .memory = "16Gi"},
       {{.name = "a", .cpu = "1", .memory = "8Gi"},
        {.name = "b", .cpu = "1", .memory = "8Gi"},
        {.name = "c", .cpu = "1", .memory = "8Gi"}},
       "2 of 3 pods fit; short of 1 × memory 8Gi"},
      {{.name = "cpu", .cpu = "4"},
       {{.name = "a", .cpu = "1"}, {.name = "b", .cpu = "1"}, {.name = "c", .cpu = "3"}},
       "2 of 3 pods fit; short of cpu 1"},
      {{.name = "slots", .cpu = "8", .pods = 3},
       {{.name = "a", .cpu = "1"},
        {.name = "b", .cpu = "1"},
        {.name = "c", .cpu = "2"},
        {.name = "d", .cpu = "2"}},
       "3 of 4 pods fit; short of 1 pod slots"},
  };
  const Profile profile = default_profile();
  for (const Case& c : cases) {
    Cluster cluster;
    cluster.set_node(c.node.make());
    const Group gang = sample_leaf("g", static_cast<std::int32_t>(c.pods.size()), c.pods);
    EXPECT_EQ(attempt_group(gang, cluster, profile).groups.front().message,
              "pod group is unschedulable, " + c.want)
        << c.node.name;
  }
}

}  // namespace
}  // namespace muster::scheduler
