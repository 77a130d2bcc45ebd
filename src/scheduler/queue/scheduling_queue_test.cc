#include "scheduler/queue/scheduling_queue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "api/kinds/kind.h"

namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Fate = SchedulingQueue::Fate;

GroupKey leaf(std::string name) { return {GroupKind::PodGroup, "ns", std::move(name)}; }

api::ObjectPtr make_pod(const std::string& name) {
  const auto document =
      api::parse_json(R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":")" + name +
                      R"("},"spec":{},"status":{}})");
  return api::Object::make(api::kinds::pod(), document->value);
}

// A queue whose plugins are helped by what the test says, and that counts how often it asks.
class QueueTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(queue.inconsistency(), ""); }

  struct PodOptions {
    std::int32_t priority = 0;
    std::string group = {};
    bool gated = false;
    std::uint64_t shape = 0;
  };

  void put(const std::string& name, PodOptions options) {
    QueuePod pod;
    pod.pod = make_pod(name);
    pod.priority = options.priority;
    if (!options.group.empty()) pod.group = leaf(options.group);
    pod.gated = options.gated;
    pod.shape = options.shape;
    queue.set_pod(std::move(pod), {}, now);
  }
  void put(const std::string& name) { put(name, PodOptions{}); }

  void put_group(const std::string& name, std::int32_t minimum, const std::string& topology = {}) {
    GroupSpec group;
    group.key = leaf(name);
    group.gang = minimum > 1;
    group.minimum = minimum;
    group.topology_key = topology;
    queue.set_group(group, now);
  }

  // What is popped next: "pod", or "group:pod,pod"; empty if nothing is.
  std::string pop() {
    const auto next = queue.pop(now);
    if (!next) return "";
    if (const auto* pod = std::get_if<PendingPod>(&*next)) return pod->pod->meta().name;
    const Group& group = std::get<Group>(*next);
    std::string out = group.key.name + ":";
    for (const PendingPod& pod : group.pods)
      out += (out.back() == ':' ? "" : ",") + pod.pod->meta().name;
    return out;
  }
  void refuse(const std::string& name, std::vector<std::string> plugins = {"Fit"}) {
    queue.refused(name, Fate::Rejected, std::move(plugins), now);
  }
  void refuse_group(const std::string& group, const std::vector<std::string>& pods) {
    for (const std::string& pod : pods) refuse(pod);
    queue.finish_group(leaf(group), Fate::Rejected, now);
  }
  void node_added() { queue.wake({Resource::Node, Action::Add, nullptr, nullptr}, now); }
  void pod_deleted(std::optional<std::int32_t> priority_max = {}) {
    queue.wake({Resource::AssignedPod, Action::Delete, nullptr, nullptr}, now, priority_max);
  }

  Time now{seconds{1000}};
  std::set<std::pair<std::string, Resource>> helps{
      {"Fit", Resource::Node}, {"Fit", Resource::AssignedPod}, {"Taint", Resource::Node}};
  int asked = 0;
  SchedulingQueue queue{
      {}, [this](std::string_view plugin, const api::Object&, const ClusterEvent& event) {
        ++asked;
        return helps.contains({std::string(plugin), event.resource});
      }};
};

using LonePods = QueueTest;
using Groups = QueueTest;

TEST_F(LonePods, ArePoppedByPriorityThenAgeThenArrival) {
  put("low-1");
  put("low-2");
  now += seconds{1};
  put("low-3");
  put("high", {.priority = 10});
  EXPECT_EQ(pop(), "high");
  EXPECT_EQ(pop(), "low-1");
  EXPECT_EQ(pop(), "low-2");
  EXPECT_EQ(pop(), "low-3");
  EXPECT_EQ(pop(), "");
}

TEST_F(LonePods, RestUntilAnEventCouldHelp) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a", {"Taint"});
  EXPECT_EQ(queue.counts().resting, 1U);
  now += seconds{30};
  pod_deleted();
  EXPECT_EQ(pop(), "") << "a freed slot does not lift a taint";
  node_added();
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, AreTakenFromBackoffWhenNothingElseIsActive) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a");
  node_added();
  EXPECT_EQ(queue.counts().backoff, 1U);
  put("b");
  EXPECT_EQ(pop(), "b");
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, WaitOutTheBackoffAfterAnError) {
  put("a");
  for (const int wait_s : {1, 2, 4, 8, 10, 10}) {
    EXPECT_EQ(pop(), "a");
    queue.refused("a", Fate::Failed, {}, now);
    node_added();
    EXPECT_EQ(pop(), "");
    now += seconds{wait_s} + milliseconds{999};
    EXPECT_EQ(pop(), "") << "the second of expiry still counts";
    now += milliseconds{1};
    EXPECT_EQ(queue.next_deadline(), now);
  }
}

TEST_F(LonePods, RefusedByNobodyWaitForANode) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a", {});
  EXPECT_EQ(pop(), "");
  node_added();
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, AreTriedAgainAfterFiveMinutesAnyway) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a", {"Nobody"});
  EXPECT_EQ(queue.next_deadline(), now + minutes{5});
  now += minutes{5};
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, OnlyUpToThePriorityOfAReleasedNomination) {
  put("low", {.priority = 1});
  put("high", {.priority = 5});
  EXPECT_EQ(pop(), "high");
  refuse("high");
  EXPECT_EQ(pop(), "low");
  refuse("low");
  pod_deleted(3);
  EXPECT_EQ(pop(), "low");
  EXPECT_EQ(pop(), "");
}

TEST_F(LonePods, WaitBehindTheirGates) {
  put("a", {.gated = true});
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue.counts().gated, 1U);
  put("b");
  put("a");
  EXPECT_EQ(queue.counts().gated, 0U);
  EXPECT_EQ(pop(), "a") << "it has been waiting longer";
  EXPECT_EQ(pop(), "b");
}

TEST_F(LonePods, ReplayEventsThatCameInFlight) {
  put("a");
  put("b");
  EXPECT_EQ(pop(), "a");
  node_added();
  refuse("a");
  EXPECT_EQ(queue.counts().backoff, 1U);
  EXPECT_EQ(pop(), "b");
  refuse("b");
  EXPECT_EQ(queue.counts().resting, 1U) << "the event came before b was popped";
}

TEST_F(LonePods, OfOneShapeAreWokenOneAtATime) {
  for (const char* name : {"a", "b", "c", "d"}) put(name, {.shape = 7});
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_EQ(pop(), name);
    refuse(name);
  }
  now += seconds{60};
  asked = 0;
  node_added();
  EXPECT_EQ(asked, 1) << "one answer is good for all";
  EXPECT_EQ(queue.counts().active, 1U);
  EXPECT_EQ(pop(), "a");
  queue.placed("a", now);
  EXPECT_EQ(pop(), "b");
  refuse("b");
  EXPECT_EQ(pop(), "") << "what b was refused, c would be";
  EXPECT_EQ(queue.counts().resting, 3U);
  now += seconds{60};
  node_added();
  EXPECT_EQ(pop(), "c");
  queue.remove_pod("c", now);
  EXPECT_EQ(pop(), "d") << "the next takes the place of one that is deleted";
}

TEST_F(LonePods, OfOneShapeFollowTheirSpokesmanToOtherPlugins) {
  for (const char* name : {"a", "b", "c"}) put(name, {.shape = 7});
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(pop(), name);
    refuse(name, {"Fit"});
  }
  now += seconds{60};
  pod_deleted();
  EXPECT_EQ(pop(), "a");
  refuse("a", {"Taint"});
  now += seconds{60};
  pod_deleted();
  EXPECT_EQ(pop(), "") << "all of them now wait for a taint to go";
  node_added();
  EXPECT_EQ(pop(), "b");
}

TEST_F(LonePods, OfOneShapeGoOnAfterAnErrorOfTheFirst) {
  for (const char* name : {"a", "b"}) put(name, {.shape = 7});
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(pop(), name);
    refuse(name);
  }
  now += seconds{60};
  node_added();
  EXPECT_EQ(pop(), "a");
  queue.refused("a", Fate::Failed, {}, now);
  EXPECT_EQ(pop(), "b");
}

TEST_F(LonePods, KeepTheirBackoffWhenABindingFails) {
  put("a");
  for (const int wait_s : {1, 2, 4}) {
    EXPECT_EQ(pop(), "a");
    queue.placed("a", now);
    EXPECT_TRUE(queue.is_away("a"));
    EXPECT_EQ(pop(), "");
    queue.bind_failed("a", now);
    EXPECT_EQ(pop(), "");
    now += seconds{wait_s + 1};
  }
}

TEST_F(LonePods, AreGoneWhenDeletedInFlight) {
  put("a");
  EXPECT_EQ(pop(), "a");
  queue.remove_pod("a", now);
  refuse("a");
  queue.placed("a", now);
  EXPECT_FALSE(queue.knows("a"));
  node_added();
  EXPECT_EQ(pop(), "");
}

TEST_F(Groups, ArePoppedWholeInTheOrderOfTheirPods) {
  put_group("g", 3);
  put("b", {.group = "g"});
  put("a", {.group = "g"});
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue.counts().gated, 1U);
  now += seconds{1};
  put("lone");
  put("c", {.priority = 1, .group = "g"});
  EXPECT_EQ(pop(), "g:c,a,b") << "the group waits since its first pod";
  EXPECT_EQ(pop(), "lone");
}

TEST_F(Groups, WaitForTheirObjectAndAreReported) {
  put("a", {.group = "g"});
  EXPECT_EQ(queue.counts().incomplete, 1U);
  EXPECT_EQ(pop(), "");
  EXPECT_TRUE(queue.take_stranded(now).empty());
  now += seconds{3};
  const auto stranded = queue.take_stranded(now);
  ASSERT_EQ(stranded.size(), 1U);
  EXPECT_EQ(stranded[0].why, "pod group \"g\" does not exist");
  EXPECT_TRUE(queue.take_stranded(now).empty()) << "told once";
  put_group("g", 1);
  EXPECT_EQ(queue.counts().incomplete, 0U);
  EXPECT_EQ(pop(), "g:a");
}

// L8: the first event that could help retries a group that failed many times; L9: nothing else
// does.
TEST_F(Groups, RestUntilAnEventCouldHelpAndAreTriedAtOnce) {
  put_group("g", 2);
  put("a", {.group = "g", .shape = 1});
  put("b", {.group = "g", .shape = 1});
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(pop(), "g:a,b");
    refuse_group("g", {"a", "b"});
    node_added();
    now += seconds{2};
  }
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  now += minutes{4};
  EXPECT_EQ(pop(), "") << "nothing happened, so nothing is tried";
  now += minutes{1};
  ASSERT_EQ(pop(), "g:a,b");
  refuse_group("g", {"a", "b"});
  now += seconds{2};
  asked = 0;
  node_added();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(queue.counts().active, 1U)
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
  queue.remove_pod("c", now);
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
  queue.placed("a", now);
  queue.finish_group(leaf("basic"), std::nullopt, now);
  EXPECT_EQ(queue.counts().gated, 1U);

  put_group("racked", 1, "rack");
  put("c", {.group = "racked"});
  ASSERT_EQ(pop(), "racked:c");
  refuse_group("racked", {"c"});
  put("d", {.group = "racked", .gated = true});
  node_added();
  EXPECT_EQ(pop(), "");
  queue.remove_pod("d", now);
  EXPECT_EQ(pop(), "racked:c") << "the gate holder is gone, so is the gate";
}

// L12, L13: the caller says who is present; here, that it matters.
TEST_F(Groups, MembersThatArePresentCountForTheQuorum) {
  put_group("g", 4);
  put("new", {.group = "g"});
  for (const char* name : {"a", "b", "c"}) queue.set_present(make_pod(name), leaf("g"), now);
  EXPECT_EQ(pop(), "g:new");
  refuse_group("g", {"new"});
  queue.remove_pod("a", now);  // terminating
  node_added();
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue.counts().gated, 1U);
}

// L14.
TEST_F(Groups, KeepTheirBackoffWhenBindingsFail) {
  put_group("g", 1);
  put("a", {.group = "g"});
  for (const int wait_s : {1, 2, 4}) {
    ASSERT_EQ(pop(), "g:a");
    queue.placed("a", now);
    queue.finish_group(leaf("g"), std::nullopt, now);
    EXPECT_EQ(pop(), "");
    queue.bind_failed("a", now);
    now += seconds{wait_s};
    EXPECT_EQ(pop(), "");
    now += seconds{1};
  }
  ASSERT_EQ(pop(), "g:a");
  queue.placed("a", now);
  queue.finish_group(leaf("g"), std::nullopt, now);
  queue.bound("a");
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:b");
  queue.placed("b", now);
  queue.finish_group(leaf("g"), std::nullopt, now);
  queue.bind_failed("b", now);
  now += seconds{2};
  EXPECT_EQ(pop(), "g:b") << "a success forgives the failures before it";
}

// The same search over the same cluster would stop at the same place.
TEST_F(Groups, AnUnresolvedGroupRestsUntilAnEventCouldHelp) {
  put_group("g", 1);
  put("a", {.group = "g", .shape = 1});
  ASSERT_EQ(pop(), "g:a");
  queue.refused("a", Fate::Unresolved, {"Fit"}, now);
  queue.finish_group(leaf("g"), Fate::Unresolved, now);
  now += minutes{4};
  EXPECT_EQ(pop(), "");
  node_added();
  EXPECT_EQ(pop(), "g:a");
}

TEST_F(Groups, ATreeThatIsRefusedAsAWholeFailsOnce) {
  put_group("g", 3);
  for (const char* pod : {"a", "b", "c"}) put(pod, {.group = "g"});
  for (const int wait_s : {1, 2}) {
    ASSERT_EQ(pop(), "g:a,b,c");
    for (const char* pod : {"a", "b", "c"}) queue.placed(pod, now);
    queue.finish_group(leaf("g"), std::nullopt, now);
    const std::vector<std::string> all{"a", "b", "c"};
    queue.tree_bind_failed(leaf("g"), all, now);
    node_added();
    EXPECT_EQ(pop(), "") << "an event is no reason to hurry after an error";
    now += seconds{wait_s};
    EXPECT_EQ(pop(), "");
    now += seconds{1};
  }
  ASSERT_EQ(pop(), "g:a,b,c");
  for (const char* pod : {"a", "b", "c"}) queue.placed(pod, now);
  queue.finish_group(leaf("g"), std::nullopt, now);
  queue.remove_pod("b", now);
  const std::vector<std::string> rest{"a", "c"};
  queue.tree_bind_failed(leaf("g"), rest, now);
  now += minutes{1};
  EXPECT_EQ(pop(), "") << "two of three";
  EXPECT_EQ(queue.counts().gated, 1U);
}

TEST_F(Groups, LeftoversRestAndNewcomersAreTriedAtOnce) {
  put_group("g", 1);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  queue.placed("a", now);
  refuse("b");
  queue.finish_group(leaf("g"), std::nullopt, now);
  EXPECT_EQ(queue.counts().resting, 1U);
  EXPECT_EQ(pop(), "");
  node_added();
  ASSERT_EQ(pop(), "g:b");
  put("c", {.group = "g"});
  queue.placed("b", now);
  queue.finish_group(leaf("g"), std::nullopt, now);
  EXPECT_EQ(pop(), "g:c");
}

TEST_F(Groups, WhoseObjectIsDeletedLeaveTheQueue) {
  put_group("g", 1);
  put("a", {.group = "g"});
  queue.remove_group(leaf("g"), now);
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue.counts().incomplete, 1U);
  put_group("g", 1);
  ASSERT_EQ(pop(), "g:a");
  queue.remove_group(leaf("g"), now);
  refuse("a");
  queue.finish_group(leaf("g"), Fate::Rejected, now);
  EXPECT_EQ(queue.counts().incomplete, 1U);
  EXPECT_EQ(queue.counts().resting, 0U);
}

TEST_F(Groups, AfterAnErrorWaitForTimeAlone) {
  put_group("g", 1);
  put("a", {.group = "g"});
  ASSERT_EQ(pop(), "g:a");
  queue.refused("a", Fate::Failed, {}, now);
  queue.finish_group(leaf("g"), Fate::Failed, now);
  node_added();
  EXPECT_EQ(pop(), "");
  now += seconds{2};
  EXPECT_EQ(pop(), "g:a");
}

TEST_F(Groups, ConstrainedOnesAreAlsoWokenByLabels) {
  helps = {};
  put_group("racked", 1, "rack");
  put_group("free", 1);
  put("a", {.group = "racked"});
  put("b", {.group = "free"});
  ASSERT_EQ(pop(), "racked:a");
  refuse_group("racked", {"a"});
  ASSERT_EQ(pop(), "free:b");
  refuse_group("free", {"b"});
  queue.wake({Resource::Node, Action::UpdateNodeLabel, nullptr, nullptr}, now);
  EXPECT_EQ(pop(), "racked:a");
  EXPECT_EQ(pop(), "");
}

TEST_F(Groups, ThatAreInvalidWaitForTheTreeToChange) {
  put_group("g", 1);
  put("a", {.group = "g"});
  ASSERT_EQ(pop(), "g:a");
  queue.refused("a", Fate::Invalid, {}, now);
  queue.finish_group(leaf("g"), Fate::Invalid, now);
  now += seconds{30};
  node_added();
  EXPECT_EQ(pop(), "");
  put("b", {.group = "g"});
  EXPECT_EQ(pop(), "g:a,b");
}

TEST_F(Groups, RefusedWithoutAReasonWaitForRoom) {
  put_group("g", 1);
  put("a", {.group = "g"});
  ASSERT_EQ(pop(), "g:a");
  refuse("a", {});
  queue.finish_group(leaf("g"), Fate::Rejected, now);
  EXPECT_EQ(pop(), "");
  pod_deleted();
  EXPECT_EQ(pop(), "g:a");
}

}  // namespace
}  // namespace muster::scheduler
