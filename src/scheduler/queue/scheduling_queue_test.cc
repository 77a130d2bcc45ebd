#include "scheduler/queue/scheduling_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/kinds/kind.h"

namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

GroupKey leaf(std::string name) { return {GroupKind::PodGroup, "ns", std::move(name)}; }

struct PodOptions {
  std::int32_t priority = 0;
  std::string group = {};
  bool gated = false;
  std::uint64_t class_hash = 0;
  std::string node = {};
};

api::ObjectPtr make_pod(const std::string& name, const PodOptions& options = {}) {
  std::string spec =
      fmt::format(R"("schedulerName":"default-scheduler","priority":{})", options.priority);
  if (!options.group.empty())
    spec += fmt::format(R"(,"schedulingGroup":{{"podGroupName":"{}"}})", options.group);
  if (options.gated) spec += R"(,"schedulingGates":[{"name":"wait"}])";
  if (!options.node.empty()) spec += fmt::format(R"(,"nodeName":"{}")", options.node);
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"{0}"}},"spec":{{{1}}},"status":{{}}}})",
      name, spec));
  return api::Object::make(api::kinds::pod(), document->value);
}

api::ObjectPtr make_group(const std::string& name, std::int32_t minimum,
                          const std::string& topology) {
  std::string spec = fmt::format(R"("schedulingPolicy":{{"gang":{{"minCount":{}}}}})", minimum);
  if (!topology.empty())
    spec += fmt::format(R"(,"schedulingConstraints":{{"topology":[{{"key":"{}"}}]}})", topology);
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"group-{0}"}},"spec":{{{1}}},"status":{{}}}})",
      name, spec));
  return api::Object::make(api::kinds::pod_group(), document->value);
}

using Names = std::vector<std::string>;

// A queue over a model, whose plugins are helped by what the test says, and that counts how often
// it asks.
class QueueTest : public ::testing::Test, private ModelListener {
 protected:
  QueueTest() { model.set_listener(this); }
  void TearDown() override { EXPECT_EQ(queue.inconsistency(), ""); }

  void on_pod(const PodChange&) override {}
  void on_node(const NodeChange&) override {}
  void on_group(const GroupChange& change) override { queue.group_changed(change, now); }
  void on_workload(const TreeFaults::Anchors& judged) override { queue.trees_judged(judged, now); }

  void put(const std::string& name, const PodOptions& options) {
    QueuePod pod;
    pod.pod = make_pod(name, options);
    pod.priority = options.priority;
    if (!options.group.empty()) pod.group = leaf(options.group);
    pod.gated = options.gated;
    pod.class_hash = options.class_hash;
    model.put(pod.pod);
    queue.set_pod(std::move(pod), {}, now);
  }
  void put(const std::string& name) { put(name, PodOptions{}); }
  // It waits no more, and is gone.
  void remove(const std::string& name) {
    if (const auto pod = model.pod("ns", name)) model.remove(*pod);
    queue.remove_pod(name, now);
  }
  // A member that has a node comes, or goes.
  void put_running(const std::string& name, const std::string& group) {
    model.put(make_pod(name, {.group = group, .node = "n1"}));
    queue.members_changed(leaf(group), true, now);
  }
  void remove_running(const std::string& name, const std::string& group) {
    model.remove(*model.pod("ns", name));
    queue.members_changed(leaf(group), true, now);
  }

  void put_group(const std::string& name, std::int32_t minimum, const std::string& topology = {}) {
    model.put(make_group(name, minimum, topology));
  }
  void remove_group(const std::string& name) { model.remove(*make_group(name, 1, "")); }

  // What is popped next: "pod", or "group:pod,pod"; empty if nothing is.
  std::string pop() {
    auto next = queue.pop(now);
    if (!next) return "";
    std::string name;
    std::string out;
    if (const auto* pod = std::get_if<PendingPod>(&*next)) {
      out = name = pod->pod->meta().name;
    } else {
      const Group& group = std::get<Group>(*next);
      name = group.key.name;
      out = name + ":";
      for (const PendingPod& member : group.pods)
        out += (out.back() == ':' ? "" : ",") + member.pod->meta().name;
    }
    popped.insert_or_assign(name, std::move(*next));
    return out;
  }

  // How the attempt at what was popped under that name ends.
  struct Ending {
    Names placed = {};
    Names refused = {};
    Names plugins = {"Fit"};
    Outcome outcome = Outcome::Unschedulable;  // of those refused
    Outcome root = Outcome::Placed;            // of the group
  };
  void finish(const std::string& name, const Ending& ending) {
    Plan plan;
    for (const std::string& pod : ending.placed) {
      const api::ObjectPtr known = model.pod("ns", pod);
      if (known != nullptr) model.assume(known, "n1");
      plan.assignments.push_back({known != nullptr ? known : make_pod(pod), "n1"});
    }
    for (const std::string& pod : ending.refused)
      plan.refusals.push_back({make_pod(pod), ending.outcome, "", ending.plugins});
    const SchedulingQueue::Popped& entity = popped.at(name);
    if (std::holds_alternative<Group>(entity))
      plan.groups.push_back({leaf(name), nullptr, ending.root, "", ""});
    queue.finish(entity, plan, now);
  }
  void refuse(const std::string& pod, const Names& plugins = {"Fit"}) {
    finish(pod, {.refused = {pod}, .plugins = plugins});
  }
  void place(const std::string& pod) { finish(pod, {.placed = {pod}}); }
  void refuse_group(const std::string& group, const Names& pods, const Names& plugins = {"Fit"}) {
    finish(group, {.refused = pods, .plugins = plugins, .root = Outcome::Unschedulable});
  }
  void place_group(const std::string& group, const Names& pods) { finish(group, {.placed = pods}); }
  void fail_binding(const std::string& pod) {
    model.forget(*model.pod("ns", pod));
    queue.bind_failed(pod, now);
  }
  void fail_tree_binding(const std::string& group, const Names& pods) {
    for (const std::string& pod : pods) model.forget(*model.pod("ns", pod));
    queue.tree_bind_failed(leaf(group), pods, now);
  }

  void node_added() { queue.wake({Resource::Node, Action::Add, nullptr, nullptr}, now); }
  void pod_deleted(std::optional<std::int32_t> priority_max = {}) {
    queue.wake({Resource::AssignedPod, Action::Delete, nullptr, nullptr}, now, priority_max);
  }

  Time now{seconds{1000}};
  std::set<std::pair<std::string, Resource>> helps{
      {"Fit", Resource::Node}, {"Fit", Resource::AssignedPod}, {"Taint", Resource::Node}};
  int asked = 0;
  ClusterModel model{default_profile(), {}};
  SchedulingQueue queue{
      {}, model, [this](std::string_view plugin, const api::Object&, const ClusterEvent& event) {
        ++asked;
        return helps.contains({std::string(plugin), event.resource});
      }};
  std::map<std::string, SchedulingQueue::Popped> popped;
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
    finish("a", {.refused = {"a"}, .outcome = Outcome::Error});
    node_added();
    EXPECT_EQ(pop(), "");
    now += seconds{wait_s} + milliseconds{999};
    EXPECT_EQ(pop(), "") << "the second of expiry still counts";
    now += milliseconds{1};
    EXPECT_EQ(queue.next_deadline(), now);
  }
}

TEST_F(LonePods, OfThoseInBackoffTheFirstToExpireIsTakenFirst) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a");
  node_added();
  EXPECT_EQ(pop(), "a");
  refuse("a");
  put("b");
  EXPECT_EQ(pop(), "b");
  refuse("b");
  node_added();
  EXPECT_EQ(queue.counts().backoff, 2U);
  EXPECT_EQ(pop(), "b") << "refused once, it waits for a second; a waits for two";
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, ARejectionEndsARowOfErrors) {
  put("a");
  EXPECT_EQ(pop(), "a");
  finish("a", {.refused = {"a"}, .outcome = Outcome::Error});
  now += seconds{2};
  EXPECT_EQ(pop(), "a");
  node_added();
  refuse("a");
  EXPECT_EQ(pop(), "a") << "in the backoff of a rejection, from which an idle scheduler takes it";
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
  for (const char* name : {"a", "b", "c", "d"}) put(name, {.class_hash = 7});
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
  place("a");
  EXPECT_EQ(pop(), "b");
  refuse("b");
  EXPECT_EQ(pop(), "") << "what b was refused, c would be";
  EXPECT_EQ(queue.counts().resting, 3U);
  now += seconds{60};
  node_added();
  EXPECT_EQ(pop(), "c");
  remove("c");
  EXPECT_EQ(pop(), "d") << "the next takes the place of one that is deleted";
}

TEST_F(LonePods, OfOneShapeFollowTheirSpokesmanToOtherPlugins) {
  for (const char* name : {"a", "b", "c"}) put(name, {.class_hash = 7});
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
  for (const char* name : {"a", "b"}) put(name, {.class_hash = 7});
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(pop(), name);
    refuse(name);
  }
  now += seconds{60};
  node_added();
  EXPECT_EQ(pop(), "a");
  finish("a", {.refused = {"a"}, .outcome = Outcome::Error});
  EXPECT_EQ(pop(), "b");
}

TEST_F(LonePods, KeepTheirBackoffWhenABindingFails) {
  put("a");
  for (const int wait_s : {1, 2, 4}) {
    EXPECT_EQ(pop(), "a");
    place("a");
    EXPECT_TRUE(queue.is_committing("a"));
    EXPECT_EQ(pop(), "");
    fail_binding("a");
    EXPECT_EQ(pop(), "");
    now += seconds{wait_s + 1};
  }
}

TEST_F(LonePods, AreGoneWhenDeletedInFlight) {
  put("a");
  EXPECT_EQ(pop(), "a");
  remove("a");
  refuse("a");
  place("a");
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
  EXPECT_TRUE(queue.drain_stranded(now).empty());
  now += seconds{3};
  const auto stranded = queue.drain_stranded(now);
  ASSERT_EQ(stranded.size(), 1U);
  EXPECT_EQ(stranded[0].why, "pod group \"g\" does not exist");
  EXPECT_TRUE(queue.drain_stranded(now).empty()) << "once";
  put_group("g", 1);
  EXPECT_EQ(queue.counts().incomplete, 0U);
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
  EXPECT_EQ(queue.counts().gated, 1U);

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
  EXPECT_EQ(queue.counts().gated, 1U);
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
    now += seconds{wait_s};
    EXPECT_EQ(pop(), "");
    now += seconds{1};
  }
  ASSERT_EQ(pop(), "g:a");
  place_group("g", {"a"});
  queue.bound(leaf("g"));
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:b");
  place_group("g", {"b"});
  fail_binding("b");
  now += seconds{2};
  EXPECT_EQ(pop(), "g:b") << "a success forgives the failures before it";
}

// The same search over the same cluster would stop at the same place.
TEST_F(Groups, AnUnresolvedGroupRestsUntilAnEventCouldHelp) {
  put_group("g", 1);
  put("a", {.group = "g", .class_hash = 1});
  ASSERT_EQ(pop(), "g:a");
  finish("g", {.refused = {"a"}, .outcome = Outcome::Unresolved, .root = Outcome::Unresolved});
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
    place_group("g", {"a", "b", "c"});
    fail_tree_binding("g", {"a", "b", "c"});
    node_added();
    EXPECT_EQ(pop(), "") << "an event is no reason to hurry after an error";
    now += seconds{wait_s};
    EXPECT_EQ(pop(), "");
    now += seconds{1};
  }
  ASSERT_EQ(pop(), "g:a,b,c");
  place_group("g", {"a", "b", "c"});
  remove("b");
  fail_tree_binding("g", {"a", "c"});
  now += minutes{1};
  EXPECT_EQ(pop(), "") << "two of three";
  EXPECT_EQ(queue.counts().gated, 1U);
}

TEST_F(Groups, LeftoversRestAndNewcomersAreTriedAtOnce) {
  put_group("g", 1);
  put("a", {.group = "g"});
  put("b", {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b");
  finish("g", {.placed = {"a"}, .refused = {"b"}});
  EXPECT_EQ(queue.counts().resting, 1U);
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
  EXPECT_EQ(queue.counts().incomplete, 1U);
  put_group("g", 1);
  ASSERT_EQ(pop(), "g:a");
  remove_group("g");
  refuse_group("g", {"a"});
  EXPECT_EQ(queue.counts().incomplete, 1U);
  EXPECT_EQ(queue.counts().resting, 0U);
}

TEST_F(Groups, AfterAnErrorWaitForTimeAlone) {
  put_group("g", 1);
  put("a", {.group = "g"});
  ASSERT_EQ(pop(), "g:a");
  finish("g", {.refused = {"a"}, .outcome = Outcome::Error, .root = Outcome::Error});
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
  now += seconds{30};
  EXPECT_EQ(pop(), "");
  model.put(make_pod("a", {.group = "g", .node = "n1"}));
  queue.remove_pod("a", now);
  EXPECT_EQ(pop(), "g:b");
}

// B8: the domain that it pinned the group to is open again.
TEST_F(Groups, AreWokenWhenARunningMemberLeaves) {
  put_group("g", 1, "rack");
  put_running("old", "g");
  put("new", {.group = "g"});
  ASSERT_EQ(pop(), "g:new");
  refuse_group("g", {"new"});
  now += seconds{30};
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
  EXPECT_EQ(queue.counts().backoff, 1U);
  ASSERT_EQ(pop(), "g:a,b") << "nothing else is active";
  finish("g", {.placed = {"a"}, .refused = {"b"}});
  node_added();
  EXPECT_EQ(queue.counts().active, 1U);
  EXPECT_EQ(queue.counts().backoff, 0U);
}

// T3f: a pod of exactly the released nomination's priority may use the room.
TEST_F(LonePods, UpToThePriorityOfAReleasedNominationIsInclusive) {
  put("equal", {.priority = 5});
  EXPECT_EQ(pop(), "equal");
  refuse("equal");
  pod_deleted(5);
  EXPECT_EQ(pop(), "equal");
}

}  // namespace
}  // namespace muster::scheduler
