#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

// What others ask of the queue by name: a certain tree, a certain pod.
namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class CalledByName : public QueueTest {
 protected:
  Names put_gang(const std::string& name, std::uint64_t class_hash = 1) {
    put_group(name, 2);
    Names pods = {name + "a", name + "b"};
    for (const std::string& pod : pods) put(pod, {.group = name, .class_hash = class_hash});
    return pods;
  }
  bool pop_root(const std::string& name) {
    auto popped = queue_.pop_root(leaf(name), now_);
    if (!popped) return false;
    EXPECT_EQ(std::get<Group>(*popped).key, leaf(name));
    popped_.insert_or_assign(name, std::move(*popped));
    return true;
  }
};

// --- pop_root

TEST_F(CalledByName, ATreeGoesAheadOfEverybody) {
  put("urgent", {.priority = 10});
  put_gang("f");
  const Names pods = put_gang("g");
  ASSERT_TRUE(pop_root("g"));
  EXPECT_FALSE(pop_root("g")) << "it is in flight";
  refuse_group("g", pods);
  EXPECT_EQ(pop(), "urgent");
  EXPECT_EQ(pop(), "f:fa,fb");
}

TEST_F(CalledByName, ATreeIsTakenFromItsBackoffButNotFromItsRestOrAnError) {
  const Names pods = put_gang("g");
  ASSERT_TRUE(pop_root("g"));
  refuse_group("g", pods);
  EXPECT_FALSE(pop_root("g")) << "it rests";
  node_added();
  ASSERT_EQ(queue_.counts().backoff, 1U);
  ASSERT_TRUE(pop_root("g"));
  finish("g", {.refused = pods, .outcome = Outcome::Error, .root = Outcome::Error});
  EXPECT_FALSE(pop_root("g"));
  now_ += seconds{2};
  EXPECT_TRUE(pop_root("g")) << "its backoff is over";
}

TEST_F(CalledByName, ATreeThatIsUnknownHeldBackOrLooseIsNotPopped) {
  EXPECT_FALSE(pop_root("g"));
  put_group("g", 3);
  for (const char* pod : {"a", "b"}) put(pod, {.group = "g"});
  EXPECT_FALSE(pop_root("g")) << "two of three";
  put_group("web", 0);
  put("c", {.group = "web"});
  EXPECT_FALSE(pop_root("web")) << "its pods are queued one by one";
  EXPECT_EQ(pop(), "web:c");
}

// --- retry

TEST_F(CalledByName, APodThatRestsIsTriedAgain) {
  queue_.retry("nobody", now_);
  put("a");
  queue_.retry("a", now_);
  ASSERT_EQ(pop(), "a");
  queue_.retry("a", now_);
  EXPECT_EQ(pop(), "") << "it is in flight";
  refuse("a", {"Nobody"});
  queue_.retry("a", now_);
  EXPECT_EQ(queue_.counts().backoff, 1U) << "after its backoff";
  EXPECT_EQ(pop(), "a");
}

TEST_F(CalledByName, OfPodsThatAreAlikeTheFirstIsTriedAgain) {
  for (const char* name : {"a", "b", "c"}) {
    put(name, {.class_hash = 7});
    ASSERT_EQ(pop(), name);
    refuse(name);
  }
  now_ += minutes{1};
  queue_.retry("b", now_);
  queue_.retry("c", now_);
  ASSERT_EQ(pop(), "a");
  EXPECT_EQ(pop(), "");
  place("a");
  EXPECT_EQ(pop(), "b") << "it helped";
  refuse("b");
  EXPECT_EQ(pop(), "");
}

TEST_F(CalledByName, AMemberThatRestsIsTriedAgainWithItsTree) {
  put("stranded", {.group = "nowhere"});
  queue_.retry("stranded", now_);
  const Names pods = put_gang("g");
  queue_.retry("gb", now_);
  ASSERT_EQ(pop(), "g:ga,gb");
  queue_.retry("gb", now_);
  refuse_group("g", pods);
  EXPECT_EQ(pop(), "");
  queue_.retry("gb", now_);
  EXPECT_EQ(pop(), "g:ga,gb");
}

// --- holds

TEST_F(CalledByName, OnlyThoseWhoseVictimsGoAreHeld) {
  put("a");
  put_gang("g");
  EXPECT_FALSE(queue_.is_held("a"));
  EXPECT_FALSE(queue_.is_held(leaf("g")));
  EXPECT_FALSE(queue_.is_held("nobody"));
  queue_.release("nobody", now_);
  queue_.release_later(leaf("nobody"), now_);
  queue_.release("a", now_);
  queue_.release_later("a", now_);
  EXPECT_EQ(pop(), "a");
}

// Members one by one are known by their uid, all others by their root.
TEST_F(CalledByName, WhatIsPoppedHasAName) {
  using Key = SchedulingQueue::EntityKey;
  put("lone");
  ASSERT_EQ(pop(), "lone");
  EXPECT_EQ(queue_.key_of(popped_.at("lone")), Key("lone"));
  put_gang("g");
  ASSERT_EQ(pop(), "g:ga,gb");
  EXPECT_EQ(queue_.key_of(popped_.at("g")), Key(leaf("g")));
  put_group("web", 0);
  put("c", {.group = "web"});
  ASSERT_EQ(pop(), "web:c");
  EXPECT_EQ(queue_.key_of(popped_.at("web")), Key("c"));
}

// --- is_flushed

TEST_F(CalledByName, TreesAreKnownToBeTriedWithoutAnEvent) {
  Names first;
  for (const char* name : {"g", "h", "i"}) {
    const Names pods = put_gang(name);
    ASSERT_NE(pop(), "");
    EXPECT_FALSE(queue_.is_flushed(leaf(name)));
    refuse_group(name, pods);
  }
  now_ += minutes{5};
  ASSERT_EQ(pop(), "g:ga,gb");
  EXPECT_TRUE(queue_.is_flushed(leaf("g")));
  place_group("g", {"ga", "gb"});
  ASSERT_EQ(pop(), "h:ha,hb") << "there may be room for the next one";
  EXPECT_TRUE(queue_.is_flushed(leaf("h")));
  refuse_group("h", {"ha", "hb"});
  EXPECT_FALSE(queue_.is_flushed(leaf("h")));
  now_ += seconds{60};
  node_added();
  ASSERT_EQ(pop(), "h:ha,hb");
  EXPECT_FALSE(queue_.is_flushed(leaf("h")));
  place_group("h", {"ha", "hb"});
  ASSERT_EQ(pop(), "i:ia,ib");
  EXPECT_FALSE(queue_.is_flushed(leaf("i"))) << "an event called for the one before it";
}

}  // namespace
}  // namespace muster::scheduler
