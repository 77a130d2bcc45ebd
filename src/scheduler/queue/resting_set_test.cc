#include "scheduler/queue/resting_set.h"

#include <gtest/gtest.h>

namespace muster::scheduler {
namespace {

// A lone pod that was refused, with its entity.
struct Refused {
  QueuedPod pod;
  QueueEntity entity;

  Refused(RestingSet& set, std::uint64_t sequence, std::uint64_t class_hash,
          std::vector<std::string> plugins) {
    pod.sequence = sequence;
    pod.facts.class_hash = class_hash;
    pod.refused_by = set.intern(std::move(plugins));
    entity.sequence = sequence;
    entity.pod = &pod;
    set.insert(entity);
    set.join(entity, set.key_of(pod, 0), nullptr);
  }
};

std::size_t class_count(RestingSet& set) {
  return set
      .classes_if([](const PluginSet&) { return true; }, [](const WaitClass&) { return true; })
      .size();
}

TEST(RestingSet, OneClassForPodsThatOneAnswerIsGoodFor) {
  RestingSet set;
  const Refused a(set, 1, 7, {"Fit", "Taint"});
  const Refused b(set, 2, 7, {"Taint", "Fit", "Fit"});
  EXPECT_EQ(class_count(set), 1U);
  const Refused other_plugins(set, 3, 7, {"Fit"});
  const Refused other_class(set, 4, 8, {"Fit"});
  EXPECT_EQ(class_count(set), 3U);
  const Refused like_no_other(set, 5, 0, {"Fit"});
  const Refused nor_this(set, 6, 0, {"Fit"});
  EXPECT_EQ(class_count(set), 5U);
}

TEST(RestingSet, AClassStaysWhileOneStandsForIt) {
  RestingSet set;
  Refused a(set, 1, 7, {"Fit"});
  WaitClass* wait_class = a.entity.classes.front();
  EXPECT_EQ(set.release_first(*wait_class), &a.entity);
  set.erase(a.entity);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(class_count(set), 0U) << "nobody is left to wake";
  EXPECT_EQ(set.end_release(a.entity), wait_class) << "but it is still there";
  EXPECT_EQ(set.release_first(*wait_class), nullptr);
  EXPECT_EQ(set.end_release(a.entity), nullptr);
}

TEST(RestingSet, LeavingIsLeavingEveryClass) {
  RestingSet set;
  Refused a(set, 1, 7, {"Fit"});
  Refused b(set, 2, 7, {"Fit"});
  set.erase(a.entity);
  EXPECT_EQ(set.size(), 1U);
  EXPECT_FALSE(set.contains(a.entity));
  EXPECT_EQ(&set.first(), &b.entity);
  set.erase(b.entity);
  EXPECT_EQ(class_count(set), 0U);
}

}  // namespace
}  // namespace muster::scheduler
