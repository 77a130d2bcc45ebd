#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Groups = QueueTest;

TEST_F(Groups, ArePoppedWholeInTheOrderOfTheirPods) {
  put_group("g", 3);
  put("b", {.group = "g"});
  put("a", {.group = "g"});
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().gated, 1U);
  now_ += seconds{1};
  put("lone");
  put("c", {.priority = 1, .group = "g"});
  EXPECT_EQ(pop(), "g:c,a,b") << "the group waits since its first pod";
  EXPECT_EQ(pop(), "lone");
}

TEST_F(Groups, WaitForTheirObjectAndAreReported) {
  put("a", {.group = "g"});
  EXPECT_EQ(queue_.counts().incomplete, 1U);
  EXPECT_EQ(pop(), "");
  EXPECT_TRUE(queue_.drain_stranded(now_).empty());
  now_ += seconds{3};
  const auto stranded = queue_.drain_stranded(now_);
  ASSERT_EQ(stranded.size(), 1U);
  EXPECT_EQ(stranded[0].why, "pod group \"g\" does not exist");
  EXPECT_TRUE(queue_.drain_stranded(now_).empty()) << "once";
  put_group("g", 1);
  EXPECT_EQ(queue_.counts().incomplete, 0U);
  EXPECT_EQ(pop(), "g:a");
}

// L8: the first event that could help retries a group that failed many times; L9: nothing else
// does.
TEST_F(Groups, RestUntilAnEventCouldHelpAndAreTriedAtOnce) {
  put_group("g", 2);
  put("a", {.group = "g", .class_hash = 1});
  put("b", {.group = "g", .class_hash = 1});
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(pop(), "g:a,b");
    refuse_group("g", {"a", "b"});
    node_added();
    now_ += seconds{2};
  }
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  now_ += minutes{4};
  EXPECT_EQ(pop(), "") << "nothing happened, so nothing is tried";
  now_ += minutes{1};
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  now_ += seconds{2};
  asked_ = 0;
  node_added();
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(queue_.counts().active, 1U)
      << "two seconds later, although its backoff has grown to 14 s";
}

TEST_F(Groups, AreWokenByAMemberThatJoinsLeavesOrLowersTheMinimum) {
  put_group("g", 2);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  put("c", {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b,c");
  refuse_group("g", {"a", "b", "c"});
  remove("c");
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  EXPECT_EQ(pop(), "");
  put_group("g", 2);
  EXPECT_EQ(pop(), "") << "the same again, as after a status write, is no news";
  put_group("g", 1);
  EXPECT_EQ(pop(), "g:a,b");
}

// L10, L11.
TEST_F(Groups, AGatedPodDoesNotHoldTheOthersUnlessTheyNeedIt) {
  put_group("basic", 1);
  put("a", {.group = "basic"});
  put("b", {.group = "basic", .gated = true});
  EXPECT_EQ(pop(), "basic:a");
  place_group("basic", {"a"});
  EXPECT_EQ(queue_.counts().gated, 1U);

  put_group("racked", 1, "rack");
  put("c", {.group = "racked"});
  ASSERT_EQ(pop(), "racked:c");
  refuse_group("racked", {"c"});
  put("d", {.group = "racked", .gated = true});
  node_added();
  EXPECT_EQ(pop(), "");
  remove("d");
  EXPECT_EQ(pop(), "racked:c") << "the gate holder is gone, so is the gate";
}

// L12, L13: the caller says who is present; here, that it matters.
TEST_F(Groups, MembersThatArePresentCountForTheQuorum) {
  put_group("g", 4);
  put("new", {.group = "g"});
  for (const char* name : {"a", "b", "c"}) put_running(name, "g");
  EXPECT_EQ(pop(), "g:new");
  refuse_group("g", {"new"});
  remove_running("a", "g");
  node_added();
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().gated, 1U);
}

// L14.
TEST_F(Groups, KeepTheirBackoffWhenBindingsFail) {
  put_group("g", 1);
  put("a", {.group = "g"});
  for (const int wait_s : {1, 2, 4}) {
    ASSERT_EQ(pop(), "g:a");
    place_group("g", {"a"});
    EXPECT_EQ(pop(), "");
    fail_binding("a");
    now_ += seconds{wait_s};
    EXPECT_EQ(pop(), "");
    now_ += seconds{1};
  }
  ASSERT_EQ(pop(), "g:a");
  place_group("g", {"a"});
  queue_.bound(leaf("g"));
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:b");
  place_group("g", {"b"});
  fail_binding("b");
  now_ += seconds{2};
  EXPECT_EQ(pop(), "g:b") << "a success forgives the failures before it";
}

// The server refuses the members one by one.
TEST_F(Groups, BackOffOnceForAllMembersThatAreRefused) {
  put_group("g", 3);
  for (const char* pod : {"a", "b", "c"}) put(pod, {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b,c");
  place_group("g", {"a", "b", "c"});
  for (const char* pod : {"a", "b", "c"}) fail_binding(pod);
  EXPECT_EQ(pop(), "");
  now_ += seconds{2};
  EXPECT_EQ(pop(), "g:a,b,c");
}

// The same search over the same cluster would stop at the same place.
TEST_F(Groups, AnUnresolvedGroupRestsUntilAnEventCouldHelp) {
  put_group("g", 1);
  put("a", {.group = "g", .class_hash = 1});
  ASSERT_EQ(pop(), "g:a");
  finish("g", {.refused = {"a"}, .outcome = Outcome::Unresolved, .root = Outcome::Unresolved});
  now_ += minutes{4};
  EXPECT_EQ(pop(), "");
  node_added();
  EXPECT_EQ(pop(), "g:a");
}

TEST_F(Groups, ATreeThatIsRefusedAsAWholeFailsOnce) {
  put_group("g", 3);
  for (const char* pod : {"a", "b", "c"}) put(pod, {.group = "g"});
  for (const int wait_s : {1, 2}) {
    ASSERT_EQ(pop(), "g:a,b,c");
    place_group("g", {"a", "b", "c"});
    fail_tree_binding("g", {"a", "b", "c"});
    node_added();
    EXPECT_EQ(pop(), "") << "an event is no reason to hurry after an error";
    now_ += seconds{wait_s};
    EXPECT_EQ(pop(), "");
    now_ += seconds{1};
  }
  ASSERT_EQ(pop(), "g:a,b,c");
  place_group("g", {"a", "b", "c"});
  remove("b");
  fail_tree_binding("g", {"a", "c"});
  now_ += minutes{1};
  EXPECT_EQ(pop(), "") << "two of three";
  EXPECT_EQ(queue_.counts().gated, 1U);
}

// B15: the watch shows what the server objected to; there is nothing to wait for after that.
TEST_F(Groups, AConflictIsTriedAgainAsSoonAsItIsExplained) {
  put_group("g", 2);
  for (const char* pod : {"a", "b"}) put(pod, {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  place_group("g", {"a", "b"});
  fail_tree_binding("g", {"a", "b"}, TreeFailure::Conflict);
  node_added();
  EXPECT_EQ(pop(), "") << "that explains nothing";
  put("a", {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  place_group("g", {"a", "b"});
  fail_tree_binding("g", {"a", "b"}, TreeFailure::Conflict);
  put("a", {.group = "g"});
  EXPECT_EQ(pop(), "") << "the second in a row waits";
  now_ += seconds{4};
  ASSERT_EQ(pop(), "g:a,b");
  place_group("g", {"a", "b"});
  fail_tree_binding("g", {"a", "b"}, TreeFailure::Outdated);
  EXPECT_EQ(pop(), "g:a,b");
}

TEST_F(Groups, LeftoversRestAndNewcomersAreTriedAtOnce) {
  put_group("g", 1);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  finish("g", {.placed = {"a"}, .refused = {"b"}});
  EXPECT_EQ(queue_.counts().resting, 1U);
  EXPECT_EQ(pop(), "");
  node_added();
  ASSERT_EQ(pop(), "g:b");
  put("c", {.group = "g"});
  place_group("g", {"b"});
  EXPECT_EQ(pop(), "g:c");
}

TEST_F(Groups, WhoseObjectIsDeletedLeaveTheQueue) {
  put_group("g", 1);
  put("a", {.group = "g"});
  remove_group("g");
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().incomplete, 1U);
  put_group("g", 1);
  ASSERT_EQ(pop(), "g:a");
  remove_group("g");
  refuse_group("g", {"a"});
  EXPECT_EQ(queue_.counts().incomplete, 1U);
  EXPECT_EQ(queue_.counts().resting, 0U);
}

TEST_F(Groups, AfterAnErrorWaitForTimeAlone) {
  put_group("g", 1);
  put("a", {.group = "g"});
  ASSERT_EQ(pop(), "g:a");
  finish("g", {.refused = {"a"}, .outcome = Outcome::Error, .root = Outcome::Error});
  node_added();
  EXPECT_EQ(pop(), "");
  now_ += seconds{2};
  EXPECT_EQ(pop(), "g:a");
}

TEST_F(Groups, ConstrainedOnesAreAlsoWokenByLabels) {
  helps_ = {};
  put_group("racked", 1, "rack");
  put_group("free", 1);
  put("a", {.group = "racked"});
  put("b", {.group = "free"});
  ASSERT_EQ(pop(), "racked:a");
  refuse_group("racked", {"a"});
  ASSERT_EQ(pop(), "free:b");
  refuse_group("free", {"b"});
  queue_.wake({Resource::Node, Action::UpdateNodeLabel, nullptr, nullptr}, now_);
  EXPECT_EQ(pop(), "racked:a");
  EXPECT_EQ(pop(), "");
}

TEST_F(Groups, RefusedWithoutAReasonWaitForRoom) {
  put_group("g", 1);
  put("a", {.group = "g"});
  ASSERT_EQ(pop(), "g:a");
  refuse_group("g", {"a"}, {});
  EXPECT_EQ(pop(), "");
  pod_deleted();
  EXPECT_EQ(pop(), "g:a");
}

// B8: less is missing than when it was tried.
TEST_F(Groups, AreWokenWhenSomebodyElseBindsAMember) {
  put_group("g", 2);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  now_ += seconds{30};
  EXPECT_EQ(pop(), "");
  model_.put(make_pod("a", {.group = "g", .node = "n1"}));
  queue_.remove_pod("a", now_);
  EXPECT_EQ(pop(), "g:b");
}

// B8: the domain that it pinned the group to is open again.
TEST_F(Groups, AreWokenWhenARunningMemberLeaves) {
  put_group("g", 1, "rack");
  put_running("old", "g");
  put("new", {.group = "g"});
  ASSERT_EQ(pop(), "g:new");
  refuse_group("g", {"new"});
  now_ += seconds{30};
  EXPECT_EQ(pop(), "");
  remove_running("old", "g");
  EXPECT_EQ(pop(), "g:new");
}

// T3k: what is left over of a group that got what it needs starts afresh, without the backoff that
// it was popped from early.
TEST_F(Groups, LeftoversDoNotInheritTheBackoff) {
  put_group("g", 1);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(pop(), "g:a,b");
    refuse_group("g", {"a", "b"});
    node_added();
  }
  EXPECT_EQ(queue_.counts().backoff, 1U);
  ASSERT_EQ(pop(), "g:a,b") << "nothing else is active";
  finish("g", {.placed = {"a"}, .refused = {"b"}});
  node_added();
  EXPECT_EQ(queue_.counts().active, 1U);
  EXPECT_EQ(queue_.counts().backoff, 0U);
}

QueueOptions aged_early() {
  QueueOptions options;
  options.aged_after = minutes{2};
  return options;
}

class AgedGroups : public QueueTest {
 protected:
  AgedGroups() : QueueTest(aged_early()) {}
};

// L7: room may be kept for it from then on, although nothing has happened.
TEST_F(AgedGroups, AreTriedAgainWhenTheyHaveWaitedForLong) {
  put_group("g", 2);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  EXPECT_EQ(queue_.next_deadline(), now_ + minutes{2});
  now_ += minutes{2};
  EXPECT_EQ(pop(), "g:a,b");
}

}  // namespace
}  // namespace muster::scheduler
