#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::seconds;

class LooseTrees : public QueueTest {
 protected:
  void put_members(const std::string& group, int count, std::uint64_t class_hash = 1) {
    for (int i = 0; i < count; ++i)
      put(fmt::format("{}-{}", group, i), {.group = group, .class_hash = class_hash});
  }
  // Pops members one by one and places the first `slots` of them; returns the attempts made.
  int drain(int slots) {
    int attempts = 0;
    for (std::string next = pop(); !next.empty(); next = pop()) {
      ++attempts;
      const auto colon = next.find(':');
      const std::string group = next.substr(0, colon);
      const std::string pod = next.substr(colon + 1);
      if (slots-- > 0)
        place_group(group, {pod});
      else
        refuse_group(group, {pod});
    }
    return attempts;
  }
};

// B4: a free slot costs as much as among lone pods.
TEST_F(LooseTrees, ABasicGroupDrainsSlotBySlot) {
  put_group("web", 0);
  put_members("web", 20);
  EXPECT_EQ(drain(0), 20) << "each is tried once";
  for (int slot = 0; slot < 5; ++slot) {
    now_ += seconds{1};
    pod_deleted();
    EXPECT_EQ(drain(1), 2) << "one that fits, and one that finds no more room";
  }
  now_ += seconds{1};
  pod_deleted();
  EXPECT_EQ(drain(15), 15);
  EXPECT_EQ(queue_.counts().resting, 0U);
}

TEST_F(LooseTrees, EqualPodsOfTwoBasicGroupsWaitAsOne) {
  put_group("a", 0);
  put_group("b", 0);
  put_members("a", 3);
  put_members("b", 3);
  EXPECT_EQ(drain(0), 6);
  now_ += seconds{1};
  asked_ = 0;
  node_added();
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(drain(4), 5);
}

TEST_F(LooseTrees, LeftoversOfAnAdmittedGangAreNotTriedAgainWithoutAReason) {
  put_group("g", 2);
  put_members("g", 5);
  ASSERT_EQ(pop(), "g:g-0,g-1,g-2,g-3,g-4");
  finish("g", {.placed = {"g-0", "g-1"}, .refused = {"g-2", "g-3", "g-4"}});
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().resting, 3U);
  pod_deleted();
  EXPECT_EQ(drain(1), 2);
}

// One of the two that it needs is gone: what is left is again tried together.
TEST_F(LooseTrees, AGangBelowItsMinimumIsTriedWhole) {
  put_group("g", 2);
  put_members("g", 4);
  ASSERT_EQ(pop(), "g:g-0,g-1,g-2,g-3");
  finish("g", {.placed = {"g-0", "g-1"}, .refused = {"g-2", "g-3"}});
  remove("g-0");
  EXPECT_EQ(queue_.counts().active, 1U);
  EXPECT_EQ(pop(), "g:g-2,g-3");
  finish("g", {.placed = {"g-2"}, .refused = {"g-3"}});
  EXPECT_EQ(queue_.counts().resting, 1U) << "and then one by one again";
}

TEST_F(LooseTrees, AMemberInFlightReturnsToItsTree) {
  put_group("g", 1);
  put_running("old", "g");
  put_members("g", 2);
  ASSERT_EQ(pop(), "g:g-0");
  remove_running("old", "g");
  refuse_group("g", {"g-0"});
  EXPECT_EQ(pop(), "g:g-0,g-1");
  refuse_group("g", {"g-0", "g-1"});
  EXPECT_EQ(queue_.counts().resting, 1U);
}

// The running members pin the others to their rack, so those of other trees say nothing of them.
TEST_F(LooseTrees, LeftoversInADomainWaitForThemselves) {
  for (const char* name : {"a", "b"}) {
    put_group(name, 1, "rack");
    put_running(fmt::format("{}-old", name), name);
    put_members(name, 2);
  }
  EXPECT_EQ(drain(0), 4);
  now_ += seconds{2};
  pod_deleted();
  EXPECT_EQ(drain(0), 2) << "the first of each";
  now_ += seconds{2};
  queue_.wake({Resource::Node, Action::UpdateNodeLabel, nullptr, nullptr}, now_);
  EXPECT_EQ(drain(0), 2) << "their rack may have grown";
  now_ += seconds{2};
  put_running("a-new", "a");
  EXPECT_EQ(drain(0), 1) << "only a's pods are concerned";
}

TEST_F(LooseTrees, GatedMembersWaitByThemselves) {
  put_group("web", 0);
  put("a", {.group = "web", .gated = true});
  put("b", {.group = "web"});
  EXPECT_EQ(pop(), "web:b");
  EXPECT_EQ(queue_.counts().gated, 1U);
  place_group("web", {"b"});
  put("a", {.group = "web"});
  EXPECT_EQ(pop(), "web:a");
}

TEST_F(LooseTrees, AFailedBindingBacksOffAlone) {
  put_group("web", 0);
  put_members("web", 2);
  ASSERT_EQ(pop(), "web:web-0");
  place_group("web", {"web-0"});
  ASSERT_EQ(pop(), "web:web-1");
  place_group("web", {"web-1"});
  fail_binding("web-0");
  EXPECT_EQ(pop(), "");
  now_ += seconds{2};
  EXPECT_EQ(pop(), "web:web-0");
}

TEST_F(LooseTrees, ADeletedGroupHoldsItsPods) {
  put_group("web", 0);
  put_members("web", 2);
  ASSERT_EQ(pop(), "web:web-0");
  remove_group("web");
  refuse_group("web", {"web-0"});
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().incomplete, 2U);
  put_group("web", 3);
  EXPECT_EQ(pop(), "") << "now it is a gang of three";
  put_group("web", 2);
  EXPECT_EQ(pop(), "web:web-0,web-1");
}

// Its tree is tried whole from now on, and says nothing of equal pods elsewhere.
TEST_F(LooseTrees, AMemberThatReturnsToItsTreeLetsTheNextOneGo) {
  put_group("a", 0);
  put_group("b", 0);
  put_members("a", 2);
  put_members("b", 2);
  EXPECT_EQ(drain(0), 4);
  now_ += seconds{2};
  pod_deleted();
  EXPECT_EQ(queue_.counts().active, 1U);
  put_group("a", 3);
  EXPECT_EQ(pop(), "b:b-0");
  EXPECT_EQ(pop(), "");
}

// Members that disagree fail together: one attempt for all of them.
TEST_F(LooseTrees, AreTriedWholeWhileTheirPodsDisagree) {
  put_group("web", 0);
  put_members("web", 2);
  put("other", {.priority = 5, .group = "web"});
  EXPECT_EQ(pop(), "web:other,web-0,web-1");
  finish(
      "web",
      {.refused = {"other", "web-0", "web-1"}, .outcome = Outcome::Error, .root = Outcome::Error});
  remove("other");
  now_ += seconds{2};
  EXPECT_EQ(pop(), "web:web-0");
}

}  // namespace
}  // namespace muster::scheduler
