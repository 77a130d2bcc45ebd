// What the scheduler says in conditions and events, and how it judges nodes that others overfill.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/metrics.h"
#include "scheduler/scheduler_testing.h"
#include "scheduler/waits_for_words.h"

namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::World;

TEST(WaitsForWords, EachIsACondition) {
  struct Case {
    WaitsFor what;
    const char *reason, *message, *ending;
  };
  for (const Case& c : {Case{WaitsFor::Node, "Node", "no node has room for this pod",
                             "; this pod waits for a node"},
                        Case{WaitsFor::Siblings, "Siblings",
                             "there is room for this pod, but not for all that its group needs",
                             "; this pod waits for its siblings"},
                        Case{WaitsFor::Evictions, "Evictions", "room is being made for this pod",
                             "; this pod waits until others have left"}}) {
    const api::Condition condition = waits_for_condition(c.what);
    EXPECT_EQ(condition.type, "scheduling.muster.dev/WaitsFor");
    EXPECT_EQ(condition.status, "True");
    EXPECT_EQ(condition.reason, c.reason);
    EXPECT_EQ(condition.message, c.message);
    EXPECT_EQ(member_message(*testing::pod_object("p", {.group = "g"}), c.what),
              std::string(kGroupUnschedulable) + " (see pod group \"g\")" + c.ending);
  }
  EXPECT_EQ(waits_for_condition(WaitsFor::Nothing).status, "") << "there is none";
  EXPECT_EQ(waits_for_condition(WaitsFor::Nothing).type, "scheduling.muster.dev/WaitsFor");
}

class Words : public ::testing::Test {
 protected:
  Words() { world_.synced(); }
  void later(Duration passed) {
    world_.now += passed;
    world_.settle();
  }

  Metrics metrics_;
  World world_{{.metrics = &metrics_}};
};

// --- events ---

TEST_F(Words, EventsSayWhoDecidedWhat) {
  world_.node("n1", {.cpu = "1"});
  world_.pod("p");
  world_.pod("q");
  world_.settle();
  const auto bound = world_.requests("Successfully assigned ns/p to n1");
  ASSERT_THAT(bound, SizeIs(1));
  for (const char* part : {R"("type":"Normal")", R"("reason":"Scheduled")", R"("action":"Binding")",
                           R"("reportingComponent":"default-scheduler")",
                           R"("reportingInstance":"default-scheduler-muster")"})
    EXPECT_THAT(bound[0], HasSubstr(part));
  const auto failed = world_.requests(R"("reason":"FailedScheduling")");
  ASSERT_THAT(failed, SizeIs(1));
  for (const char* part : {R"("type":"Warning")", R"("action":"Scheduling")", R"("name":"q")"})
    EXPECT_THAT(failed[0], HasSubstr(part));
}

TEST_F(Words, APodThatIsDeletedInTheQueueIsSkipped) {
  world_.node("n1", {.cpu = "1"});
  world_.pod("p", {.cpu = "2"});
  world_.settle();
  world_.log.clear();
  world_.pod("p", {.cpu = "2", .terminating = true});
  world_.settle();
  EXPECT_THAT(world_.requests("skip schedule deleting pod: ns/p"), SizeIs(1));
  world_.pod("bound", {.node = "n1", .phase = "Running"});
  world_.pod("bound", {.node = "n1", .phase = "Running", .terminating = true});
  world_.settle();
  EXPECT_THAT(world_.requests("skip schedule"), SizeIs(1)) << "it was not in the queue";
}

// --- groups ---

TEST_F(Words, ARefusedGroupSaysSoOnceAndItsMembersInTheirWords) {
  world_.node("n1", {.cpu = "1"});
  world_.gang("g", 2);
  for (const char* name : {"a", "b"}) world_.pod(name, {.group = "g"});
  world_.settle();
  const auto condition = world_.requests("podgroups/ns/g/status");
  ASSERT_THAT(condition, SizeIs(1));
  EXPECT_THAT(condition[0], HasSubstr(R"("type":"PodGroupInitiallyScheduled")"));
  EXPECT_THAT(condition[0],
              AllOf(HasSubstr(R"("status":"False")"), HasSubstr(R"("reason":"Unschedulable")")));
  EXPECT_THAT(world_.requests("pods/ns/a/status"), SizeIs(1));
  EXPECT_THAT(world_.requests(R"("involvedObject":{"kind":"PodGroup","namespace":"ns","name":"g")"),
              SizeIs(1))
      << "one event about the group";
  EXPECT_EQ(world_.scheduler.numbers().unschedulable, 2U);
}

TEST_F(Words, APlacedGroupSaysThatItWasScheduled) {
  world_.node("n1");
  world_.gang("g", 2);
  for (const char* name : {"a", "b"}) world_.pod(name, {.group = "g"});
  world_.settle();
  const auto condition = world_.requests("podgroups/ns/g/status");
  ASSERT_THAT(condition, SizeIs(1));
  EXPECT_THAT(condition[0],
              AllOf(HasSubstr(R"("status":"True")"), HasSubstr(R"("reason":"Scheduled")")));
}

// The numbers of a refusal change with every event; three are written at once, then one in ten
// seconds, and the newest of those that waited.
TEST_F(Words, NumbersOfAGroupAreWrittenAtAPace) {
  world_.node("n1");
  for (int i = 0; i < 9; ++i) world_.pod(fmt::format("p{}", i), {.group = "g"});
  const auto written = [&] { return world_.requests("podgroups/ns/g/status").size(); };
  const auto refuse = [&](int minimum) {
    world_.gang("g", minimum);
    world_.settle();
    const Time asked = world_.now;
    while (world_.scheduler.numbers().backoff > 0 && world_.now < asked + seconds{1})
      later(std::chrono::milliseconds{100});
  };
  for (const int minimum : {5, 6, 7}) refuse(minimum);
  const std::size_t burst = written();
  EXPECT_GE(burst, 1U);
  EXPECT_LE(burst, 3U);
  for (const int minimum : {8, 9}) refuse(minimum);
  later(seconds{40});
  const auto all = world_.requests("podgroups/ns/g/status");
  EXPECT_GT(all.size(), burst);
  EXPECT_THAT(all.back(), HasSubstr("of 9 pods")) << "the newest";
}

TEST_F(Words, PodsOfAGroupThatDoesNotExistAreNamed) {
  world_.node("n1");
  world_.pod("p", {.group = "nowhere"});
  world_.settle();
  later(minutes{10});
  EXPECT_THAT(world_.requests(
                  R"(pods of pod group \"nowhere\" wait: pod group \"nowhere\" does not exist)"),
              SizeIs(1));
}

// --- nodes that others overfill ---

class Crowded : public Words {
 protected:
  // A pod that somebody else bound; `requests` are members of an object.
  static api::ObjectPtr foreign_pod(const std::string& name, const std::string& requests) {
    return testing::parse(api::kinds::pod(),
                          R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":")" +
                              name +
                              R"("},"spec":{"schedulerName":"other","nodeName":"n1",)"
                              R"("containers":[{"name":"c","image":"i","resources":{"requests":{)" +
                              requests + R"(}}}]},"status":{"phase":"Running"}})");
  }
  void foreign(const std::string& name, const std::string& requests = R"("cpu":"1")",
               client::Event::Type type = client::Event::Type::Added) {
    world_.scheduler.apply(client::Event{type, foreign_pod(name, requests)}, world_.now);
  }
  void gone(const std::string& name) {
    foreign(name, R"("cpu":"1")", client::Event::Type::Deleted);
  }
  std::string said() {
    later(seconds{3});
    const auto events = world_.requests("pods request more than the node has: ");
    if (events.size() != 1) return fmt::format("{} events", events.size());
    constexpr std::string_view kBegin = "than the node has: ";
    const std::size_t from = events[0].find(kBegin) + kBegin.size();
    return events[0].substr(from, events[0].find('"', from) - from);
  }
  void node(const std::string& allocatable) {
    world_.scheduler.apply(
        client::Event{
            client::Event::Type::Added,
            testing::parse(
                api::kinds::node(),
                R"({"metadata":{"name":"n1","uid":"u"},"spec":{},"status":{"allocatable":)" +
                    allocatable + "}}")},
        world_.now);
  }
};

TEST_F(Crowded, EveryResourceBeyondWhatThereIsIsNamed) {
  node(R"({"cpu":"1","memory":"1Ki","ephemeral-storage":"1Ki","example.com/gpu":"1","pods":"1"})");
  foreign("a", R"("cpu":"2","memory":"2Ki","ephemeral-storage":"3Ki","example.com/gpu":"4")");
  foreign("b", "");
  EXPECT_EQ(said(),
            "cpu 2000m of 1000m, ephemeral-storage 3072 of 1024, example.com/gpu 4 of 1, memory "
            "2048 of 1024, pods 2 of 1");
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_overcommitted_nodes 1"));
}

TEST_F(Crowded, WhatIsUsedUpIsNotExceeded) {
  node(R"({"cpu":"2","memory":"1Gi","pods":"2"})");
  foreign("a");
  foreign("b");
  EXPECT_EQ(said(), "0 events");
}

// Each resource of the pod that came counts.
TEST_F(Crowded, ANodeIsSuspectedForAnyResourceOfThePod) {
  for (const char* resource : {"memory", "ephemeral-storage", "example.com/gpu"}) {
    World world;
    world.synced();
    world.scheduler.apply(
        client::Event{
            client::Event::Type::Added,
            testing::parse(
                api::kinds::node(),
                fmt::format(R"({{"metadata":{{"name":"n1","uid":"u"}},"spec":{{}},)"
                            R"("status":{{"allocatable":{{"cpu":"8","{}":"1","pods":"9"}}}}}})",
                            resource))},
        world.now);
    world.scheduler.apply(client::Event{client::Event::Type::Added,
                                        foreign_pod("p", fmt::format(R"("{}":"2")", resource))},
                          world.now);
    world.now += seconds{3};
    world.settle();
    EXPECT_THAT(world.requests(fmt::format("{} 2 of 1", resource)), SizeIs(1)) << resource;
  }
}

TEST_F(Crowded, IsSaidAgainOnlyAfterItWasOver) {
  world_.node("n1", {.cpu = "1"});
  foreign("a");
  foreign("b");
  later(seconds{3});
  foreign("c");
  later(seconds{3});
  EXPECT_THAT(world_.requests("Overcommitted"), SizeIs(1));
  gone("c");
  later(seconds{3});
  EXPECT_THAT(world_.requests("Overcommitted"), SizeIs(1));
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_overcommitted_nodes 1"));
  gone("b");
  later(seconds{3});
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_overcommitted_nodes 0"));
  later(minutes{20});
  world_.log.clear();
  foreign("d");
  later(seconds{3});
  EXPECT_THAT(world_.requests("events"), SizeIs(1));
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_overcommitted_nodes 1"));
}

TEST_F(Crowded, ANodeThatShrinksIsReportedAndOneThatGrowsIsNot) {
  world_.node("n1", {.cpu = "2"});
  foreign("a");
  foreign("b");
  world_.node("n1", {.cpu = "1"});
  later(seconds{1});
  EXPECT_THAT(world_.requests("Overcommitted"), SizeIs(0)) << "in two seconds";
  later(seconds{2});
  EXPECT_THAT(world_.requests("Overcommitted"), SizeIs(1));
  world_.node("n1", {.cpu = "2"});
  later(seconds{3});
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_overcommitted_nodes 0"));
}

TEST_F(Crowded, ANodeThatIsGoneIsNotReported) {
  world_.node("n1", {.cpu = "1"});
  foreign("a");
  foreign("b");
  world_.delete_node("n1");
  later(seconds{3});
  EXPECT_THAT(world_.requests("Overcommitted"), SizeIs(0));
}

// --- who is woken ---

TEST_F(Words, AFinishedPodIsNotWaitedFor) {
  world_.node("n1", {.cpu = "1"});
  world_.pod("p", {.cpu = "2"});
  world_.settle();
  EXPECT_EQ(world_.scheduler.numbers().unschedulable_now, 1U);
  world_.pod("p", {.cpu = "2", .phase = "Failed"});
  world_.settle();
  EXPECT_EQ(world_.scheduler.numbers().unschedulable_now, 0U);
  world_.node("n1", {.cpu = "4"});
  world_.settle();
  EXPECT_EQ(world_.node_of("p"), "");
}

TEST_F(Words, ATerminatingPodFreesWhatWasDecidedForIt) {
  world_.node("n1", {.cpu = "1"});
  world_.pod("p");
  world_.run();
  ASSERT_THAT(world_.requests("pods/ns/p/binding"), SizeIs(1));
  world_.pod("q");
  world_.run();
  EXPECT_EQ(world_.scheduler.numbers().unschedulable_now, 1U);
  world_.pod("p", {.terminating = true});
  world_.calls.clear();
  world_.run();
  EXPECT_THAT(world_.requests("pods/ns/q/binding"), SizeIs(1));
}

TEST_F(Words, ANodeOfTheSameNameIsANewOne) {
  world_.node("n1", {.cpu = "1"});
  world_.pod("p", {.cpu = "2"});
  world_.settle();
  const auto another = testing::parse(
      api::kinds::node(),
      R"({"metadata":{"name":"n1","uid":"another","labels":{"kubernetes.io/hostname":"n1"}},"spec":{},"status":{"allocatable":{"cpu":"2","memory":"64Gi","pods":"110"}}})");
  world_.scheduler.apply(client::Event{client::Event::Type::Modified, another}, world_.now);
  later(minutes{1});
  EXPECT_EQ(world_.node_of("p"), "n1");
}

}  // namespace
}  // namespace muster::scheduler
