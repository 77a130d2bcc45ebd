#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

// Pods that change while they are in the queue, wherever they are in it.
namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class ChangedPods : public QueueTest {
 protected:
  ChangedPods() { helps_.insert({"Fit", Resource::TargetPod}); }
  // Pods of one class that were refused one after the other.
  void put_refused(const Names& names) {
    for (const std::string& name : names) {
      put(name, {.class_hash = 7});
      EXPECT_EQ(pop(), name);
      refuse(name);
    }
    now_ += seconds{60};
  }
  const PendingPod& attempt_at(const std::string& name) const {
    return std::get<PendingPod>(popped_.at(name));
  }
};

TEST_F(ChangedPods, AreTriedAgainIfThatHelpsAgainstWhoRefusedThem) {
  for (const char* name : {"asks-less", "tainted", "same"}) {
    put(name);
    ASSERT_EQ(pop(), name);
  }
  refuse("asks-less");
  refuse("tainted", {"Taint"});
  refuse("same");
  now_ += seconds{60};
  change("asks-less", {});
  change("tainted", {});
  put("same");
  EXPECT_EQ(queue_.counts().active, 1U);
  EXPECT_EQ(pop(), "asks-less");
  EXPECT_EQ(pop(), "");
}

TEST_F(ChangedPods, MembersAreTriedAgainWithTheirTreeIfThatHelps) {
  put_group("g", 2);
  for (const char* pod : {"a", "b"}) put(pod, {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"}, {"Taint"});
  now_ += seconds{60};
  change("a", {.group = "g"});
  EXPECT_EQ(pop(), "");
  node_added();
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"}, {"Fit"});
  now_ += seconds{60};
  change("b", {.group = "g"});
  EXPECT_EQ(queue_.counts().active, 1U);
  EXPECT_EQ(pop(), "g:a,b");
}

TEST_F(ChangedPods, InFlightAreNotLeftToRestIfThatHelps) {
  for (const char* name : {"a", "b"}) {
    put(name);
    ASSERT_EQ(pop(), name);
  }
  change("a", {});
  refuse("b");
  EXPECT_EQ(queue_.counts().resting, 1U) << "it was another pod that changed";
  refuse("a");
  EXPECT_EQ(queue_.counts().resting, 1U);
  EXPECT_EQ(pop(), "a");
}

TEST_F(ChangedPods, MembersInFlightAreNotLeftToRestIfThatHelps) {
  put_group("g", 2);
  for (const char* pod : {"a", "b"}) put(pod, {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  change("b", {.group = "g"});
  refuse_group("g", {"a", "b"});
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  EXPECT_EQ(pop(), "") << "that was before this attempt";
}

TEST_F(ChangedPods, ThatAreGatedInFlightComeBackToTheirGate) {
  put("refused");
  put("placed");
  for (const char* name : {"refused", "placed"}) {
    ASSERT_EQ(pop(), name);
    put(name, {.gated = true});
  }
  EXPECT_EQ(queue_.counts().gated, 0U);
  refuse("refused");
  EXPECT_EQ(queue_.counts().gated, 1U);
  place("placed");
  fail_binding("placed");
  EXPECT_EQ(queue_.counts().gated, 2U);
  now_ += minutes{1};
  node_added();
  EXPECT_EQ(pop(), "");
}

TEST_F(ChangedPods, MembersThatAreGatedInFlightComeBackToTheirGate) {
  put_group("g", 1);
  for (const char* pod : {"a", "b", "c"}) put(pod, {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b,c");
  for (const char* pod : {"a", "b"}) put(pod, {.group = "g", .gated = true});
  finish("g", {.refused = {"a", "c"}, .root = Outcome::Unschedulable});
  now_ += minutes{1};
  node_added();
  EXPECT_EQ(pop(), "g:c");
}

// --- Pods that stand for others.

TEST_F(ChangedPods, AGateOfTheFirstLetsTheNextOneGo) {
  put_refused({"a", "b"});
  node_added();
  put("a", {.gated = true, .class_hash = 7});
  EXPECT_EQ(pop(), "b");
}

TEST_F(ChangedPods, AGateOfTheFirstInFlightLetsTheNextOneGo) {
  put_refused({"a", "b"});
  node_added();
  ASSERT_EQ(pop(), "a");
  put("a", {.gated = true, .class_hash = 7});
  EXPECT_EQ(pop(), "");
  refuse("a");
  EXPECT_EQ(pop(), "b");
}

TEST_F(ChangedPods, AnotherClassOfTheFirstLetsTheNextOneGo) {
  put_refused({"a", "b"});
  node_added();
  EXPECT_EQ(queue_.counts().active, 1U);
  put("a", {.class_hash = 8});
  EXPECT_EQ(queue_.counts().active, 2U);
}

TEST_F(ChangedPods, AnEventInFlightOfTheFirstLetsTheNextOneGo) {
  put_refused({"a", "b"});
  node_added();
  ASSERT_EQ(pop(), "a");
  node_added();
  refuse("a");
  EXPECT_EQ(queue_.counts().resting, 0U);
  EXPECT_EQ(pop(), "b");
  EXPECT_EQ(pop(), "a");
}

// --- What an attempt is told of a pod, and what is forgotten with it.

TEST_F(ChangedPods, AreHandedOverAsTheyAreNow) {
  put("a");
  put("a", {.node = ""});
  const api::ObjectPtr now = model_.pod("ns", "a");
  ASSERT_EQ(pop(), "a");
  EXPECT_EQ(attempt_at("a").pod, now);
  EXPECT_EQ(attempt_at("a").attempts, 1);
  EXPECT_EQ(attempt_at("a").queued_at, now_);
  EXPECT_EQ(attempt_at("a").nominated, "");
  const Time refused_at = now_ += seconds{5};
  refuse("a");
  model_.nominations().nominate(now, "n1");
  now_ += seconds{60};
  node_added();
  ASSERT_EQ(pop(), "a");
  EXPECT_EQ(attempt_at("a").attempts, 2);
  EXPECT_EQ(attempt_at("a").queued_at, refused_at);
  EXPECT_EQ(attempt_at("a").nominated, "n1");
}

TEST_F(ChangedPods, AreQueuedSinceTheirBindingFailed) {
  put("a");
  ASSERT_EQ(pop(), "a");
  place("a");
  now_ += seconds{5};
  fail_binding("a");
  const Time failed_at = now_;
  now_ += seconds{60};
  ASSERT_EQ(pop(), "a");
  EXPECT_EQ(attempt_at("a").queued_at, failed_at);
}

TEST_F(ChangedPods, ThatWereRefusedGoBehindThoseThatCameMeanwhile) {
  put("early");
  ASSERT_EQ(pop(), "early");
  now_ += seconds{1};
  put("later");
  now_ += seconds{1};
  refuse("early");
  now_ += seconds{10};
  node_added();
  EXPECT_EQ(pop(), "later");
  EXPECT_EQ(pop(), "early");
}

TEST_F(ChangedPods, ThatGoInFlightTakeTheEventsKeptForThemAlong) {
  put("a");
  ASSERT_EQ(pop(), "a");
  node_added();
  EXPECT_EQ(queue_.census().events.size(), 1U);
  remove("a");
  EXPECT_TRUE(queue_.census().events.empty());
  node_added();
  EXPECT_TRUE(queue_.census().events.empty());
}

TEST_F(ChangedPods, OnlyThoseThatWerePlacedAreBeingCommitted) {
  EXPECT_FALSE(queue_.is_committing("a"));
  put("a");
  EXPECT_FALSE(queue_.is_committing("a"));
  ASSERT_EQ(pop(), "a");
  EXPECT_FALSE(queue_.is_committing("a"));
  place("a");
  put("a");
  EXPECT_TRUE(queue_.is_committing("a"));
  EXPECT_EQ(pop(), "");
  remove("a");
  EXPECT_FALSE(queue_.is_committing("a"));
}

TEST_F(ChangedPods, ThatAreGoneWithTheirMissingGroupAreNotReported) {
  put("a", {.group = "g"});
  remove("a");
  EXPECT_EQ(queue_.counts().incomplete, 0U);
  EXPECT_EQ(queue_.next_deadline(), std::nullopt);
  now_ += seconds{3};
  EXPECT_TRUE(queue_.drain_stranded(now_).empty());
}

// --- What could help.

struct EventCase {
  Resource resource;
  Action action;
  bool makes_room;
  bool changes_domains;
};

class EventsThatCouldHelp : public QueueTest, public ::testing::WithParamInterface<EventCase> {
 protected:
  // Whether the event gets a pod tried that these plugins refused.
  bool wakes(const Names& plugins) {
    put("a");
    EXPECT_EQ(pop(), "a");
    refuse("a", plugins);
    now_ += seconds{60};
    queue_.wake({GetParam().resource, GetParam().action, nullptr, nullptr}, now_);
    return pop() == "a";
  }
};

TEST_P(EventsThatCouldHelp, ThoseThatNobodyRefused) { EXPECT_EQ(wakes({}), GetParam().makes_room); }

TEST_P(EventsThatCouldHelp, ThoseThatFoundNoDomain) {
  EXPECT_EQ(wakes({"TopologyPlacementGenerator"}), GetParam().changes_domains);
}

INSTANTIATE_TEST_SUITE_P(
    All, EventsThatCouldHelp,
    ::testing::Values(EventCase{Resource::Node, Action::Add, true, true},
                      EventCase{Resource::Node, Action::UpdateNodeLabel, true, true},
                      EventCase{Resource::Node, Action::UpdateNodeTaint, true, false},
                      EventCase{Resource::Node, Action::Delete, false, false},
                      EventCase{Resource::AssignedPod, Action::Delete, true, false},
                      EventCase{Resource::AssignedPod, Action::UpdatePodScaleDown, true, false},
                      EventCase{Resource::AssignedPod, Action::UpdatePodLabel, false, false},
                      EventCase{Resource::AssignedPod, Action::Add, false, false},
                      EventCase{Resource::UnscheduledPod, Action::Delete, false, false}));

TEST(QueueWithoutListeners, AsksEveryPlugin) {
  ClusterModel model(default_profile(), {});
  SchedulingQueue queue({}, model,
                        [](std::string_view plugin, const api::Object&, const ClusterEvent&) {
                          return plugin == "Fit";
                        });
  const Time now{seconds{1000}};
  for (const char* plugin : {"Fit", "Taint"}) {
    const api::ObjectPtr pod = make_pod(plugin);
    model.put(pod);
    QueuePod facts;
    facts.pod = pod;
    queue.set_pod(std::move(facts), {}, now);
    const auto popped = queue.pop(now);
    ASSERT_TRUE(popped);
    Plan plan;
    plan.refusals.push_back({pod, Outcome::Unschedulable, "", {plugin}});
    queue.finish(*popped, plan, now);
  }
  queue.wake({Resource::Namespace, Action::Update, nullptr, nullptr}, now + seconds{60});
  EXPECT_EQ(queue.counts().active, 1U);
  EXPECT_EQ(queue.counts().resting, 1U);
}

// --- Backoff and rest.

QueueOptions without_backoff() {
  QueueOptions options;
  options.backoff.max = Duration::zero();
  return options;
}

class WithoutBackoff : public QueueTest {
 protected:
  WithoutBackoff() : QueueTest(without_backoff()) {}
};

TEST_F(WithoutBackoff, PodsAreTriedAtOnceEvenAfterAnError) {
  put("a");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(pop(), "a");
    finish("a", {.refused = {"a"}, .outcome = Outcome::Error});
    EXPECT_EQ(queue_.counts().active, 1U);
  }
}

// Another of its class was refused while it rested, and that answer holds for it too.
TEST_F(ChangedPods, RestOnAfterFiveMinutesIfOneLikeThemWasTriedMeanwhile) {
  for (const char* name : {"a", "b"}) put(name, {.class_hash = 7});
  ASSERT_EQ(pop(), "a");
  ASSERT_EQ(pop(), "b");
  refuse("a", {"Nobody"});
  now_ += minutes{4};
  refuse("b", {"Nobody"});
  now_ += minutes{1};
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.next_deadline(), now_ + minutes{4});
  now_ += minutes{4} - milliseconds{1};
  EXPECT_EQ(pop(), "");
  now_ += milliseconds{1};
  EXPECT_NE(pop(), "");
  EXPECT_EQ(pop(), "");
}

}  // namespace
}  // namespace muster::scheduler
