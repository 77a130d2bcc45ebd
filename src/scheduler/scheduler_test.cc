#include "scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "api/kinds/kind.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/half_bound.h"
#include "scheduler/plugins/plugin_registry.h"

namespace muster::scheduler {
namespace {

using client::Event;
using std::chrono::minutes;
using std::chrono::seconds;

// What a test says of a pod; what it does not say has the value a new pod has.
struct PodText {
  std::string uid = {};  // "uid-<name>" if empty
  std::string cpu = "1";
  std::int32_t priority = 0;
  std::string scheduler = "default-scheduler";
  std::string node = {};
  std::string gate = {};
  std::string group = {};
  std::string phase = "Pending";
  bool terminating = false;
};

struct NodeText {
  std::string cpu = "4";
  bool cordoned = false;
  std::string label = {};
};

api::ObjectPtr parse(const api::Kind& kind, const std::string& text) {
  const auto document = api::parse_json(text);
  EXPECT_TRUE(document.has_value()) << text;
  return api::Object::make(kind, document->value);
}

api::ObjectPtr pod_object(const std::string& name, const PodText& pod) {
  const std::string uid = pod.uid.empty() ? "uid-" + name : pod.uid;
  return parse(
      api::kinds::pod(),
      fmt::format(
          R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"{}","generation":1{}}},"spec":{{"schedulerName":"{}",)"
          R"("priority":{}{}{}{},"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}},)"
          R"("status":{{"phase":"{}"}}}})",
          name, uid, pod.terminating ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
          pod.scheduler, pod.priority, pod.node.empty() ? "" : R"(,"nodeName":")" + pod.node + "\"",
          pod.gate.empty() ? "" : R"(,"schedulingGates":[{"name":")" + pod.gate + "\"}]",
          pod.group.empty() ? "" : R"(,"schedulingGroup":{"podGroupName":")" + pod.group + "\"}",
          pod.cpu, pod.phase));
}

api::ObjectPtr node_object(const std::string& name, const NodeText& node) {
  return parse(
      api::kinds::node(),
      fmt::format(
          R"({{"metadata":{{"name":"{}","uid":"uid-{}","labels":{{"kubernetes.io/hostname":"{}"{}}}}},)"
          R"("spec":{{"unschedulable":{}}},)"
          R"("status":{{"allocatable":{{"cpu":"{}","memory":"64Gi","pods":"110"}}}}}})",
          name, name, name, node.label.empty() ? "" : R"(,"x":")" + node.label + "\"",
          node.cordoned, node.cpu));
}

// Not inlined: GCC 12 would warn about members of an Answer that are not there.
[[gnu::noinline]] client::Outcome accepted() { return api::Answer{api::StatusAnswer{}, {}}; }

// A scheduler and an API that answers when told to, and remembers every request as one line.
class World {
 public:
  struct Call {
    api::Request request;
    std::uint64_t ticket;
  };

  explicit World(SchedulerOptions options = {})
      : scheduler(std::move(options), [this](api::Request request, std::uint64_t ticket) {
          log.push_back(line(request));
          calls.push_back({std::move(request), ticket});
        }) {}

  void pod(const std::string& name, PodText text = {}) {
    const bool is_new = pods.insert_or_assign(name, text).second;
    tell(is_new ? Event::Type::Added : Event::Type::Modified, pod_object(name, text));
  }
  void delete_pod(const std::string& name) {
    const api::ObjectPtr last = pod_object(name, pods.at(name));
    pods.erase(name);
    tell(Event::Type::Deleted, last);
  }
  void node(const std::string& name, NodeText text = {}) {
    const bool is_new = nodes.insert_or_assign(name, text).second;
    tell(is_new ? Event::Type::Added : Event::Type::Modified, node_object(name, text));
  }
  void delete_node(const std::string& name) {
    const api::ObjectPtr last = node_object(name, nodes.at(name));
    nodes.erase(name);
    tell(Event::Type::Deleted, last);
  }
  // A minimum of 0: a Basic group.
  void gang(const std::string& name, int minimum) {
    gangs[name] = minimum;
    tell(Event::Type::Added, gang_object(name, minimum));
  }
  static api::ObjectPtr gang_object(const std::string& name, int minimum) {
    const std::string policy =
        minimum == 0 ? R"("basic":{})" : fmt::format(R"("gang":{{"minCount":{}}})", minimum);
    return parse(api::kinds::pod_group(),
                 fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"uid-{}"}},)"
                             R"("spec":{{"schedulingPolicy":{{{}}}}}}})",
                             name, name, policy));
  }
  void synced() { scheduler.apply(client::Synced{}, now); }

  // Everything that can be tried without an answer or the passage of time.
  void run() {
    while (scheduler.run_once(now, 10) > 0) {
    }
  }
  // Answers every call as a server does, and lets the watch tell of bindings.
  void answer() {
    while (!calls.empty()) {
      Call call = std::move(calls.front());
      calls.pop_front();
      if (call.request.kind == &api::kinds::group_binding()) {
        answer_tree(call);
        continue;
      }
      if (call.request.subresource != "binding") {
        scheduler.apply(client::Called{call.ticket, accepted()}, now);
        continue;
      }
      const auto at = pods.find(call.request.name);
      const bool is_gone = at == pods.end();
      const auto wanted = api::find_string(*api::find(call.request.body, "metadata"), "uid");
      if (is_gone || !at->second.node.empty() ||
          pod_object(at->first, at->second)->meta().uid != wanted) {
        refuse(call.ticket, is_gone ? Reason::NotFound : Reason::Conflict);
        continue;
      }
      scheduler.apply(client::Called{call.ticket, accepted()}, now);
      PodText bound = at->second;
      bound.node = api::find_string(*api::find(call.request.body, "target"), "name");
      pod(call.request.name, bound);
    }
  }
  // All pods of a GroupBinding or none, as the server does it.
  void answer_tree(const Call& call) {
    const api::Json& items = *api::find_path(call.request.body, "spec.pods");
    for (const api::Json& item : items.as_array()) {
      const auto at = pods.find(std::string(api::find_string(item, "name")));
      if (at == pods.end() || !at->second.node.empty() ||
          !nodes.contains(std::string(api::find_string(item, "nodeName"))))
        return refuse(call.ticket, Reason::Conflict);
    }
    scheduler.apply(client::Called{call.ticket, accepted()}, now);
    for (const api::Json& item : items.as_array()) {
      const std::string name(api::find_string(item, "name"));
      PodText bound = pods.at(name);
      bound.node = api::find_string(item, "nodeName");
      pod(name, bound);
    }
  }
  void refuse(std::uint64_t ticket, Reason reason) {
    scheduler.apply(client::Called{ticket, fail(reason, "refused with {}", reason_name(reason))},
                    now);
  }
  void settle() {
    do {
      run();
      answer();
    } while (scheduler.run_once(now, 1) > 0 || !calls.empty());
  }

  std::string node_of(const std::string& pod) const { return pods.at(pod).node; }
  // The requests since the last look that contain `part`.
  std::vector<std::string> requests(const std::string& part) {
    std::vector<std::string> out;
    for (const std::string& request : log)
      if (request.find(part) != std::string::npos) out.push_back(request);
    return out;
  }

  Time now{seconds{1'000'000'000}};
  std::vector<std::string> log;
  std::deque<Call> calls;
  std::map<std::string, PodText> pods;
  std::map<std::string, NodeText> nodes;
  std::map<std::string, int> gangs;
  Scheduler scheduler;

 private:
  static std::string line(const api::Request& request) {
    return fmt::format("{} {}/{}/{}/{} {}", static_cast<int>(request.verb), request.kind->plural,
                       request.name_space, request.name, request.subresource,
                       api::to_text(request.body));
  }
  void tell(Event::Type type, const api::ObjectPtr& object) {
    scheduler.apply(client::Event{type, object}, now);
  }
};

TEST(Scheduler, WatchesPodsAndNodes) {
  const World world;
  const auto kinds = world.scheduler.watched_kinds();
  ASSERT_GE(kinds.size(), 2U);
  EXPECT_EQ(kinds[0], &api::kinds::pod());
  EXPECT_EQ(kinds[1], &api::kinds::node());
}

TEST(Scheduler, BindsAPodToANode) {
  World world;
  world.node("n1");
  world.pod("p");
  world.run();
  EXPECT_TRUE(world.calls.empty()) << "not before the watch has told everything";
  world.synced();
  EXPECT_EQ(world.scheduler.next_deadline(), world.now);
  world.run();
  ASSERT_EQ(world.requests("binding").size(), 1U);
  EXPECT_EQ(world.requests("binding")[0],
            R"(3 pods/ns/p/binding {"metadata":{"name":"p","namespace":"ns","uid":"uid-p"},)"
            R"("target":{"kind":"Node","name":"n1"}})");
  EXPECT_EQ(world.scheduler.numbers().binding, 1U);
  world.answer();
  EXPECT_EQ(world.node_of("p"), "n1");
  EXPECT_EQ(world.requests("Successfully assigned ns/p to n1").size(), 1U);
  const Scheduler::Numbers numbers = world.scheduler.numbers();
  EXPECT_EQ(numbers.scheduled, 1U);
  EXPECT_EQ(numbers.attempts, 1U);
  EXPECT_EQ(numbers.binding, 0U);
  EXPECT_EQ(world.scheduler.next_deadline(), std::nullopt);
}

TEST(Scheduler, PodsThatCameBeforeTheNodesAreBoundWhenANodeJoins) {
  World world;
  world.synced();
  world.pod("a");
  world.pod("b");
  world.settle();
  ASSERT_EQ(world.requests("status").size(), 2U);
  EXPECT_NE(world.requests("status")[0].find(
                R"("reason":"Unschedulable","message":"no nodes available to schedule pods")"),
            std::string::npos);
  EXPECT_EQ(world.scheduler.numbers().unschedulable_now, 2U);
  world.node("n1");
  world.settle();
  EXPECT_EQ(world.node_of("a"), "n1");
  EXPECT_EQ(world.node_of("b"), "n1");
}

TEST(Scheduler, SaysWhyAPodWaitsAndTriesAgainWhenRoomIsMade) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("first");
  world.settle();
  world.pod("second");
  world.settle();
  EXPECT_EQ(world.node_of("second"), "");
  const auto patches = world.requests("second/status");
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_NE(patches[0].find(R"("type":"PodScheduled","observedGeneration":1,"status":"False")"),
            std::string::npos)
      << patches[0];
  EXPECT_NE(patches[0].find("0/1 nodes are available: 1 Insufficient cpu."), std::string::npos)
      << patches[0];
  EXPECT_EQ(world.requests("FailedScheduling").size(), 1U);
  EXPECT_EQ(world.scheduler.numbers().unschedulable, 1U);

  world.node("n1", {.cpu = "1", .label = "changed"});
  world.run();
  EXPECT_EQ(world.scheduler.numbers().attempts, 2U) << "a label cannot help";
  world.delete_pod("first");
  world.settle();
  EXPECT_EQ(world.node_of("second"), "n1");
}

TEST(Scheduler, WakesPodsWhenANodeIsUncordoned) {
  World world;
  world.synced();
  world.node("n1", {.cordoned = true});
  world.pod("p");
  world.settle();
  EXPECT_EQ(world.node_of("p"), "");
  EXPECT_EQ(world.requests("1 node(s) were unschedulable").size(), 2U)
      << "the condition and the event";
  world.node("n1", {.cordoned = false});
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
}

TEST(Scheduler, HoldsGatedPodsBackInSilence) {
  World world;
  world.synced();
  world.node("n1");
  world.pod("p", {.gate = "wait"});
  world.settle();
  EXPECT_TRUE(world.log.empty());
  EXPECT_EQ(world.scheduler.numbers().gated, 1U);
  world.pod("p");
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
}

TEST(Scheduler, LeavesThePodsOfOtherSchedulersAlone) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("theirs", {.scheduler = "other"});
  world.settle();
  EXPECT_TRUE(world.log.empty());
  world.pod("theirs", {.scheduler = "other", .node = "n1"});
  world.pod("ours");
  world.settle();
  EXPECT_EQ(world.node_of("ours"), "") << "but counts what they use";
}

// Two profiles: the usual one spreads, "packer" fills nodes.
SchedulerOptions two_profiles() {
  Profile packs;
  for (const RegisteredPlugin& plugin : plugin_registry()) {
    PluginArgs args;
    args.fit.strategy = AllocationStrategy::MostAllocated;
    if (plugin.name != "NodeResourcesBalancedAllocation")
      packs.add(plugin.make(args), Points::all(), plugin.weight);
  }
  SchedulerOptions options;
  options.profiles.add("packer", packs);
  return options;
}

TEST(Scheduler, EachPodIsPlacedByTheProfileItAsksFor) {
  World world(two_profiles());
  world.synced();
  world.node("n1", {.cpu = "8"});
  world.node("n2", {.cpu = "8"});
  world.pod("first", {.node = "n1"});
  world.pod("packed", {.scheduler = "packer"});
  world.pod("spread");
  world.pod("foreign", {.scheduler = "somebody-else"});
  world.settle();
  EXPECT_EQ(world.node_of("packed"), "n1");
  EXPECT_EQ(world.node_of("spread"), "n2");
  EXPECT_EQ(world.node_of("foreign"), "");
  EXPECT_EQ(world.requests(R"("reportingComponent":"packer")").size(), 1U);
  EXPECT_EQ(world.requests(R"("reportingInstance":"default-scheduler-muster")").size(), 1U);
}

TEST(Scheduler, AGangIsPlacedByTheProfileThatItsPodsAskFor) {
  World world(two_profiles());
  world.synced();
  for (const char* node : {"n1", "n2", "n3"}) world.node(node, {.cpu = "8"});
  world.pod("first", {.node = "n2"});
  world.gang("g", 2);
  world.pod("a", {.scheduler = "packer", .group = "g"});
  world.pod("b", {.scheduler = "packer", .group = "g"});
  world.settle();
  EXPECT_EQ(world.node_of("a"), "n2");
  EXPECT_EQ(world.node_of("b"), "n2");
}

TEST(Scheduler, AGangWhosePodsAskForTwoProfilesIsAnError) {
  World world(two_profiles());
  world.synced();
  world.node("n1");
  world.gang("g", 2);
  world.pod("a", {.group = "g"});
  world.pod("b", {.scheduler = "packer", .group = "g"});
  world.settle();
  EXPECT_EQ(world.node_of("a"), "");
  EXPECT_FALSE(world.requests("should have the same .spec.schedulerName set").empty());
}

TEST(Scheduler, RequeuesAPodWhoseBindingConflicts) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.run();
  ASSERT_EQ(world.calls.size(), 1U);
  world.refuse(world.calls[0].ticket, Reason::Conflict);
  world.calls.pop_front();
  world.run();
  EXPECT_EQ(world.scheduler.numbers().backoff, 1U);
  EXPECT_EQ(world.scheduler.numbers().errors, 1U);
  const auto patches = world.requests("p/status");
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_NE(patches[0].find(
                R"("reason":"SchedulerError","message":"running Bind plugin \"DefaultBinder\": )"),
            std::string::npos)
      << patches[0];
  ASSERT_TRUE(world.scheduler.next_deadline());
  world.answer();
  world.now = *world.scheduler.next_deadline();
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1") << "the room it had assumed was free again";
}

// On a server without GroupBindings.
TEST(Scheduler, AGangBoundOneByOneIsFinishedAfterARefusal) {
  World world;
  world.synced();
  for (const char* name : {"n1", "n2", "n3"}) world.node(name, {.cpu = "1"});
  world.gang("g", 3);
  for (const char* name : {"a", "b", "c"}) world.pod(name, {.group = "g"});
  world.run();
  const auto second = std::ranges::find(world.calls, "b", [](const World::Call& call) {
    return call.request.subresource == "binding" ? call.request.name : "";
  });
  ASSERT_NE(second, world.calls.end());
  const std::uint64_t ticket = second->ticket;
  world.calls.erase(second);
  world.refuse(ticket, Reason::Conflict);
  world.answer();
  EXPECT_EQ(world.node_of("b"), "");
  EXPECT_NE(world.node_of("a"), "");
  world.now += seconds{30};
  world.settle();
  EXPECT_NE(world.node_of("b"), "");
  world.log.clear();
  world.now += minutes{5};
  world.settle();
  EXPECT_TRUE(world.requests("of the 3 pods that it needs are bound").empty());
}

TEST(Scheduler, AGangThatStaysHalfBoundIsReported) {
  World world;
  world.synced();
  for (const char* name : {"n1", "n2"}) world.node(name, {.cpu = "1"});
  world.gang("g", 2);
  for (const char* name : {"a", "b"}) world.pod(name, {.group = "g"});
  world.run();
  // Somebody else fills the node while its binding is refused.
  const auto binding = std::ranges::find(
      world.calls, "binding", [](const World::Call& call) { return call.request.subresource; });
  ASSERT_NE(binding, world.calls.end());
  const World::Call call = *binding;
  world.calls.erase(binding);
  const std::string node(api::find_string(*api::find(call.request.body, "target"), "name"));
  world.pod("thief", {.scheduler = "other", .node = node});
  world.refuse(call.ticket, Reason::Conflict);
  world.settle();
  EXPECT_TRUE(world.requests("of the 2 pods that it needs are bound").empty());
  world.now += HalfBound::kPatience + seconds{1};
  world.settle();
  const auto events = world.requests("only 1 of the 2 pods that it needs are bound");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].find("refused with Conflict"), std::string::npos) << events[0];
  world.delete_pod("thief");
  world.now += minutes{1};
  world.settle();
  EXPECT_NE(world.node_of(call.request.name), "");
}

TEST(Scheduler, DropsAPodThatSomebodyElseBound) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.node("n2", {.cpu = "1"});
  world.pod("p");
  world.run();
  ASSERT_EQ(world.calls.size(), 1U);
  const std::string ours(
      api::find_string(*api::find(world.calls[0].request.body, "target"), "name"));
  const std::string other = ours == "n1" ? "n2" : "n1";
  world.pod("p", {.node = other});
  world.answer();  // refuses: it has a node
  world.pod("q");
  world.settle();
  EXPECT_EQ(world.node_of("q"), ours) << "the room we had assumed is free";
  EXPECT_EQ(world.scheduler.numbers().errors, 0U);
}

TEST(Scheduler, WakesOthersWhenABindingLeavesItsRoom) {
  for (const bool bound_elsewhere : {false, true}) {
    World world;
    world.synced();
    world.node("n1", {.cpu = "1"});
    world.pod("p");
    world.pod("q");
    world.run();
    ASSERT_EQ(world.requests("binding").size(), 1U);
    EXPECT_EQ(world.scheduler.numbers().unschedulable_now, 1U);
    if (bound_elsewhere) {
      world.pod("p", {.node = "n2"});
    } else {
      world.refuse(world.calls[0].ticket, Reason::Conflict);
      world.calls.pop_front();
    }
    world.settle();
    EXPECT_EQ(world.node_of("q"), "n1");
  }
}

TEST(Scheduler, FreesTheRoomOfAPodThatIsDeletedWhileItIsBound) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.pod("q");
  world.run();
  ASSERT_EQ(world.requests("binding").size(), 1U);
  world.delete_pod("p");
  world.settle();
  EXPECT_EQ(world.node_of("q"), "n1");
  EXPECT_EQ(world.scheduler.numbers().scheduled, 1U);
}

TEST(Scheduler, SkipsPodsThatTerminate) {
  World world;
  world.synced();
  world.pod("p", {.terminating = true});
  world.pod("q");
  world.settle();
  world.pod("q", {.terminating = true});
  world.node("n1");
  world.settle();
  EXPECT_TRUE(world.requests("binding").empty());
  EXPECT_EQ(world.requests("skip schedule deleting pod: ns/q").size(), 1U);
}

TEST(Scheduler, AsksABusyServerAgain) {
  World world;
  world.synced();
  world.node("n1");
  world.pod("p");
  world.run();
  world.refuse(world.calls[0].ticket, Reason::ServiceUnavailable);
  world.calls.clear();
  ASSERT_TRUE(world.scheduler.next_deadline());
  world.now = *world.scheduler.next_deadline();
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
  EXPECT_EQ(world.scheduler.numbers().errors, 0U);
}

TEST(Scheduler, NoticesThatANameChangedHands) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.settle();
  world.pod("p", {.uid = "another"});
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1") << "the old one's room is free";
}

TEST(Scheduler, FinishedPodsMakeRoom) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.pod("q");
  world.settle();
  EXPECT_EQ(world.node_of("q"), "");
  world.pod("p", {.node = "n1", .phase = "Succeeded"});
  world.settle();
  EXPECT_EQ(world.node_of("q"), "n1");
}

TEST(Scheduler, HigherPriorityGoesFirst) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("low");
  world.pod("high", {.priority = 100});
  world.settle();
  EXPECT_EQ(world.node_of("high"), "n1");
  EXPECT_EQ(world.node_of("low"), "");
}

TEST(Scheduler, PausesWhileTheServerIsBehind) {
  World world({.binds_in_flight_max = 2});
  world.synced();
  world.node("n1", {.cpu = "16"});
  for (const char* name : {"a", "b", "c"}) world.pod(name);
  world.run();
  EXPECT_EQ(world.requests("binding").size(), 2U);
  EXPECT_EQ(world.scheduler.numbers().active, 1U);
  world.settle();
  EXPECT_EQ(world.node_of("c"), "n1");
}

// One freed slot wakes one of many equal pods, and the next only if that one was placed.
TEST(Scheduler, AttemptsForAFreedSlotDoNotGrowWithThoseWhoWait) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  for (int i = 0; i < 100; ++i) world.pod("p" + std::to_string(i));
  world.settle();
  const auto before = world.scheduler.numbers().attempts;
  world.now += minutes{1};
  for (const auto& [name, text] : std::map(world.pods))
    if (!text.node.empty()) world.delete_pod(name);
  world.settle();
  EXPECT_LE(world.scheduler.numbers().attempts - before, 2U);
  EXPECT_EQ(world.scheduler.numbers().scheduled, 2U);
}

// Everything that happens in a made-up day, with refused bindings; the log of all requests.
std::vector<std::string> made_up_day(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&random](std::uint32_t bound) { return random() % bound; };
  World world({.binds_in_flight_max = 5});
  world.synced();
  for (int step = 0; step < 400; ++step) {
    const std::string pod = "p" + std::to_string(below(40));
    const std::string node = "n" + std::to_string(below(6));
    switch (below(8)) {
      case 0:
      case 1:
      case 2:
        if (!world.pods.contains(pod))
          world.pod(pod, {.uid = pod + "-" + std::to_string(step),
                          .cpu = std::to_string(1 + below(3)),
                          .priority = static_cast<std::int32_t>(below(3)),
                          .gate = below(8) == 0 ? "wait" : ""});
        break;
      case 3:
        if (world.pods.contains(pod)) world.delete_pod(pod);
        break;
      case 4:
        world.node(node, {.cpu = std::to_string(2 + below(6)), .cordoned = below(4) == 0});
        break;
      case 5:
        if (world.nodes.contains(node) && below(3) == 0) world.delete_node(node);
        break;
      case 6:
        if (!world.calls.empty() && below(2) == 0) {
          const Reason reasons[] = {Reason::Conflict, Reason::ServiceUnavailable,
                                    Reason::InternalError};
          world.refuse(world.calls.front().ticket, reasons[below(3)]);
          world.calls.pop_front();
        }
        break;
      default: world.now += seconds{below(5)}; break;
    }
    if (below(3) > 0) world.run();
    if (below(3) == 0) world.answer();
  }
  world.now += minutes{10};
  world.settle();
  return world.log;
}

TEST(Scheduler, TheSameInputsGiveTheSameRequests) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const auto once = made_up_day(seed);
    EXPECT_GT(once.size(), 20U);
    EXPECT_EQ(once, made_up_day(seed));
  }
}

// --- nobody is forgotten ---

// What a fresh look at all objects would place; empty if nothing.
std::string placeable(const World& world) {
  ClusterModel model(default_profile(), {});
  for (const auto& [name, text] : world.nodes) model.put(node_object(name, text));
  for (const auto& [name, minimum] : world.gangs) model.put(World::gang_object(name, minimum));
  for (const auto& [name, text] : world.pods) model.put(pod_object(name, text));
  for (const api::ObjectPtr& pod : model.lone(PodRole::Waiting))
    if (!attempt(model, pod).assignments.empty()) return pod->meta().name;
  for (const GroupKey& root : model.roots())
    if (model.runnable(root) && !attempt(model, root).assignments.empty()) return root.name;
  return {};
}

// One thing that may happen. Most of it frees room, makes nodes acceptable or changes a group.
void happen(World& world, std::mt19937& random) {
  const auto below = [&random](std::uint32_t bound) { return random() % bound; };
  const std::string pod = "p" + std::to_string(below(60));
  const std::string node = "n" + std::to_string(below(5));
  const std::string group = "g" + std::to_string(below(6));
  switch (below(8)) {
    case 0:
    case 1:
    case 2:
      if (!world.pods.contains(pod))
        world.pod(pod, {.cpu = std::to_string(1 + below(3)),
                        .gate = below(10) == 0 ? "wait" : "",
                        .group = below(3) == 0 ? "" : group});
      break;
    case 3:
    case 4:
      if (world.pods.contains(pod)) world.delete_pod(pod);
      break;
    case 5:
      if (const auto at = world.pods.find(pod); at != world.pods.end()) {
        PodText text = at->second;
        text.gate.clear();
        if (!text.node.empty() && below(2) == 0)
          text.phase = below(3) == 0 ? "Failed" : "Succeeded";
        if (!text.node.empty() && below(4) == 0) text.terminating = true;
        world.pod(pod, text);
      }
      break;
    case 6: world.gang(group, static_cast<int>(below(5))); break;
    default:
      if (world.nodes.contains(node) && below(3) == 0)
        world.delete_node(node);
      else
        world.node(node, {.cpu = std::to_string(1 + below(6)), .cordoned = below(4) == 0});
      break;
  }
}

// After any sequence of events, when everything that is due was tried, nothing is left that a fresh
// attempt would place: every wake-up came. No time passes, so that no flush helps.
TEST(Scheduler, WhatAFreshAttemptWouldPlaceIsNeverLeftResting) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    World world({.group_bindings = seed % 2 == 0});
    world.synced();
    for (int step = 0; step < 150; ++step) {
      happen(world, random);
      if (random() % 2 == 0) continue;
      world.settle();
      ASSERT_EQ(placeable(world), "") << "after step " << step;
    }
  }
}

// B9: the numbers of the group move with every deletion; the conditions of its members do not.
TEST(Scheduler, MembersOfARefusedGangSayWhatHoldsForThem) {
  World world;
  world.synced();
  for (const char* node : {"n1", "n2"}) world.node(node);
  for (int i = 0; i < 6; ++i) world.pod("web" + std::to_string(i));
  world.settle();
  world.gang("g", 3);
  for (const char* pod : {"a", "b", "c"}) world.pod(pod, {.cpu = "3", .group = "g"});
  world.settle();
  const auto said = [&world](const std::string& words) { return world.requests(words).size(); };
  EXPECT_EQ(said("this pod waits for a node"), 6U) << "a condition and an event each";
  EXPECT_EQ(said("podgroups/ns/g/status"), 1U);
  world.log.clear();
  world.now += seconds{5};
  world.delete_pod("web0");
  world.delete_pod("web1");
  world.delete_pod("web2");
  world.delete_pod("web3");
  world.settle();
  EXPECT_EQ(said("pods/ns/a/status"), 1U) << "once, to say that a node would take it now";
  EXPECT_GE(said("this pod waits for its siblings"), 3U);
}

// --- trees that are bound by one GroupBinding ---

// Two nodes of four cpus and a gang of three that asks for two each.
class Trees : public ::testing::Test {
 protected:
  Trees() : world_({.group_bindings = true}) {
    world_.node("n1");
    world_.node("n2");
    world_.gang("train", 3);
    for (const char* name : {"a", "b", "c"}) world_.pod(name, {.cpu = "2", .group = "train"});
    world_.synced();
  }
  std::size_t trees_sent() { return world_.requests("groupbindings").size(); }
  int bound() {
    int count = 0;
    for (const auto& [name, pod] : world_.pods) count += pod.node.empty() ? 0 : 1;
    return count;
  }

  World world_;
};

TEST_F(Trees, AreBoundByOneRequestThatCarriesTheCondition) {
  world_.run();
  ASSERT_EQ(trees_sent(), 1U);
  EXPECT_EQ(world_.calls.size(), 1U) << "nothing else is written";
  const std::string request = world_.requests("groupbindings")[0];
  for (
      const char* part :
      {R"("root":{"kind":"PodGroup","name":"train","uid":"uid-train"})", R"("uid":"uid-a")",
       R"("uid":"uid-b")", R"("uid":"uid-c")",
       R"("condition":{"type":"PodGroupInitiallyScheduled","status":"True","reason":"Scheduled","message":""})"})
    EXPECT_NE(request.find(part), std::string::npos) << part << "\n" << request;
  EXPECT_EQ(world_.scheduler.numbers().binding, 3U);
  world_.answer();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(world_.scheduler.numbers().scheduled, 3U);
  EXPECT_EQ(world_.scheduler.numbers().binding, 0U);
  EXPECT_TRUE(world_.requests("/binding ").empty());
  EXPECT_EQ(world_.requests("Successfully assigned").size(), 3U);
  EXPECT_EQ(world_.requests("Successfully placed the pods that it needs").size(), 1U);
}

TEST_F(Trees, LonePodsAreStillBoundByThemselves) {
  world_.pod("web");
  world_.settle();
  EXPECT_EQ(world_.requests("pods/ns/web/binding").size(), 1U);
}

TEST_F(Trees, ARaceIsRetriedAsAWholeWithoutAWord) {
  world_.run();
  world_.delete_node("n2");  // on its way to us when we decided
  world_.node("n3");
  world_.answer();
  EXPECT_EQ(bound(), 0) << "all or nothing";
  EXPECT_EQ(world_.scheduler.numbers().binding, 0U);
  world_.settle();
  EXPECT_EQ(trees_sent(), 1U) << "backoff first";
  world_.now += seconds{2};
  world_.settle();
  EXPECT_EQ(trees_sent(), 2U);
  EXPECT_EQ(bound(), 3);
  EXPECT_TRUE(world_.requests("FailedScheduling").empty());
  EXPECT_TRUE(world_.requests("SchedulerError").empty());
}

TEST_F(Trees, WhatTheyGaveBackIsFreeForOthers) {
  world_.run();
  world_.pod("big", {.cpu = "4"});
  world_.run();
  EXPECT_TRUE(world_.requests("pods/ns/big/binding").empty()) << "no room beside the gang";
  const std::uint64_t ticket = world_.calls.front().ticket;
  world_.calls.pop_front();
  world_.refuse(ticket, Reason::Conflict);
  world_.settle();
  EXPECT_EQ(world_.requests("pods/ns/big/binding").size(), 1U);
}

TEST_F(Trees, AVanishedPodTakesTheTreeBackToTheQueue) {
  world_.run();
  world_.delete_pod("b");
  world_.answer();
  EXPECT_EQ(bound(), 0);
  world_.now += seconds{30};
  world_.settle();
  EXPECT_EQ(bound(), 0) << "two of three";
  world_.pod("d", {.cpu = "2", .group = "train"});
  world_.now += seconds{2};
  world_.settle();
  EXPECT_EQ(bound(), 3);
}

TEST_F(Trees, ARefusalThatComesAgainIsTold) {
  for (int i = 1; i <= 2; ++i) {
    world_.run();
    ASSERT_EQ(trees_sent(), static_cast<std::size_t>(i));
    while (!world_.calls.empty()) {
      const World::Call call = world_.calls.front();
      world_.calls.pop_front();
      if (call.request.kind == &api::kinds::group_binding())
        world_.refuse(call.ticket, Reason::Conflict);
    }
    EXPECT_EQ(world_.requests("binding all pods together failed: refused with Conflict").empty(),
              i == 1);
    world_.now += seconds{5};
  }
  EXPECT_EQ(world_.requests(R"("involvedObject":{"kind":"PodGroup")").size(), 1U)
      << "one event about the group";
}

TEST_F(Trees, AnyOtherErrorIsToldAtOnce) {
  world_.run();
  const std::uint64_t ticket = world_.calls.front().ticket;
  world_.calls.pop_front();
  world_.refuse(ticket, Reason::Forbidden);
  EXPECT_FALSE(world_.requests("binding all pods together failed: refused with Forbidden").empty());
  EXPECT_FALSE(world_.requests("podgroups/ns/train/status").empty());
}

// The fifth pod was placed in the belief that the gang is there.
TEST_F(Trees, PodsThatJoinWaitForTheGangTheyCountOn) {
  world_.run();
  world_.pod("d", {.cpu = "1", .group = "train"});
  world_.run();
  EXPECT_EQ(trees_sent(), 1U);
  const std::uint64_t ticket = world_.calls.front().ticket;
  world_.calls.pop_front();
  world_.refuse(ticket, Reason::Conflict);
  EXPECT_EQ(trees_sent(), 1U) << "it falls with the gang";
  world_.now += seconds{2};
  world_.settle();
  EXPECT_EQ(bound(), 4);
}

TEST_F(Trees, ExtrasThatComeBeforeTheWatchShowsTheConditionDoNotTakeItBack) {
  world_.run();
  world_.answer();  // the binding says Scheduled; the watch has shown the pods, not yet the group
  ASSERT_EQ(bound(), 3);
  world_.pod("d", {.cpu = "16", .group = "train"});
  world_.settle();
  EXPECT_EQ(world_.requests("pods/ns/d/status").size(), 1U) << "the extra pod says why it waits";
  EXPECT_TRUE(world_.requests("podgroups/ns/train/status").empty());
}

TEST_F(Trees, AServerThatDoesNotKnowThemGetsBindings) {
  world_.run();
  const std::uint64_t ticket = world_.calls.front().ticket;
  world_.calls.pop_front();
  world_.refuse(ticket, Reason::NotFound);
  world_.settle();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(world_.requests("/binding ").size(), 3U);
  EXPECT_EQ(world_.requests("podgroups/ns/train/status").size(), 1U);
  world_.gang("more", 1);
  world_.pod("e", {.cpu = "1", .group = "more"});
  world_.settle();
  EXPECT_EQ(trees_sent(), 1U) << "and is not asked again";
  EXPECT_EQ(bound(), 4);
}

TEST_F(Trees, AFailedTreeHasAnEventOnItsGroup) {
  world_.delete_node("n2");
  world_.settle();
  EXPECT_EQ(trees_sent(), 0U);
  const auto events = world_.requests(R"("kind":"PodGroup")");
  ASSERT_FALSE(events.empty());
  EXPECT_NE(events[0].find("2 of 3 pods fit; short of 1 × cpu 2"), std::string::npos) << events[0];
}

}  // namespace
}  // namespace muster::scheduler
