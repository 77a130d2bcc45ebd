#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "scheduler/cycle/attempt.h"
#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

// Whether evictions could help a group that found no place.
namespace muster::scheduler {
namespace {

// Two racks of one node each, and a gang of two pods that each ask for another of them.
class GroupOutcome : public ::testing::Test {
 protected:
  GroupOutcome() {
    for (const char* rack : {"a", "b"}) add_sample_rack(cluster_, rack, 1, 4);
  }
  static Group gang(const std::string& key = "") {
    return sample_leaf("g", 2,
                       {{.name = "p0", .cpu = "1", .spec = R"("nodeSelector":{"rack":"a"})"},
                        {.name = "p1", .cpu = "1", .spec = R"("nodeSelector":{"rack":"b"})"}},
                       key);
  }
  Outcome outcome(const Group& root) {
    return attempt_group(root, cluster_, profile_).groups.front().outcome;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

TEST_F(GroupOutcome, PodsOfTwoRacksThatMustShareOneAreBeyondHelp) {
  EXPECT_EQ(outcome(gang()), Outcome::Placed);
  EXPECT_EQ(outcome(gang("rack")), Outcome::Unresolvable);
  EXPECT_EQ(outcome(sample_composite("c", 1, {gang("rack")})), Outcome::Unresolvable);
}

// It takes both racks in the end.
TEST_F(GroupOutcome, AGroupThatWaitsForTheRackItPrefersIsNotBeyondHelp) {
  Group insisting = gang();
  insisting.preferred.key = "rack";
  insisting.insists_until = Time{} + std::chrono::hours{1};
  EXPECT_EQ(outcome(insisting), Outcome::Unschedulable);
  EXPECT_EQ(outcome(sample_composite("c", 1, {insisting})), Outcome::Unschedulable);
  insisting.insists_until = {};
  EXPECT_EQ(outcome(insisting), Outcome::Placed);
}

}  // namespace
}  // namespace muster::scheduler
