#include "scheduler/queue/stranded_leaves.h"

#include <gtest/gtest.h>

namespace muster::scheduler {
namespace {

using std::chrono::seconds;

const GroupKey kLeaf{GroupKind::PodGroup, "ns", "g"};

GroupSpec below(const GroupKey& key, std::string parent) {
  GroupSpec group;
  group.key = key;
  group.parent = std::move(parent);
  return group;
}

TEST(StrandedLeaves, AreReportedOncePerMissingGroup) {
  WorkloadForest forest;
  StrandedLeaves stranded(forest, seconds{3});
  Time now{seconds{100}};
  forest.count_member(kLeaf, Membership::Waiting, 1);
  stranded.update(kLeaf, true, now);
  EXPECT_EQ(stranded.next_deadline(), now + seconds{3});
  EXPECT_TRUE(stranded.drain(now).empty());
  now += seconds{3};
  ASSERT_EQ(stranded.drain(now).size(), 1U);
  EXPECT_TRUE(stranded.drain(now).empty());
  EXPECT_EQ(stranded.next_deadline(), std::nullopt);

  forest.set(below(kLeaf, "top"));
  stranded.update(kLeaf, true, now);
  now += seconds{3};
  const auto reports = stranded.drain(now);
  ASSERT_EQ(reports.size(), 1U) << "the group came, its parent is missing";
  EXPECT_EQ(reports[0].why, "composite pod group \"top\" does not exist");

  forest.set(below({GroupKind::CompositePodGroup, "ns", "top"}, ""));
  stranded.update(kLeaf, true, now);
  EXPECT_FALSE(stranded.contains(kLeaf));
}

TEST(StrandedLeaves, AreForgottenWithTheirLastPod) {
  WorkloadForest forest;
  StrandedLeaves stranded(forest, seconds{3});
  stranded.update(kLeaf, true, Time{});
  stranded.update(kLeaf, false, Time{});
  EXPECT_FALSE(stranded.contains(kLeaf));
}

}  // namespace
}  // namespace muster::scheduler
