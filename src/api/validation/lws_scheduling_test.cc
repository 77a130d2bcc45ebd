#include "api/validation/lws_scheduling.h"

#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

namespace muster::api {
namespace {

// A LeaderWorkerSet with two replicas of `size` pods.
struct Set {
  std::string scheduling = {};  // empty: none
  std::string more = {};        // of its spec
  std::string pod = {};         // of its workers' spec
  std::string leader = {};      // of the spec of leaders; empty: as workers
  std::string annotations = {};
  int size = 4;

  std::string text() const {
    const auto pods = [](std::string_view name, std::string_view members) {
      return fmt::format(R"("{}":{{"spec":{{"containers":[{{"name":"c","image":"i"}}]{}{}}}}})",
                         name, members.empty() ? "" : ",", members);
    };
    return fmt::format(
        R"({{"metadata":{{"name":"l","annotations":{{{}}}}},"spec":{{"replicas":2,
        "leaderWorkerTemplate":{{"size":{},{}{}}}{}{}{}{}}}}})",
        annotations, size, pods("workerTemplate", pod),
        leader.empty() ? "" : "," + pods("leaderTemplate", leader),
        scheduling.empty() ? "" : ",\"scheduling\":", scheduling, more.empty() ? "" : ",", more);
  }
};

void expect_set(const Set& set, const Sentences& want) {
  expect({"leaderworkerset.x-k8s.io", "LeaderWorkerSet", set.text(), want});
}
void expect_update(const Set& old, const Set& now, const Sentences& want) {
  expect({"leaderworkerset.x-k8s.io", "LeaderWorkerSet", now.text(), want, old.text()});
}

constexpr std::string_view kLeaderReady = R"("startupPolicy":"LeaderReady")";
constexpr std::string_view kExclusive =
    R"("leaderworkerset.sigs.k8s.io/exclusive-topology":"rack")";
constexpr std::string_view kInTurn =
    "spec.scheduling: Forbidden: spec.startupPolicy LeaderReady makes workers wait for their "
    "leader, and a gang of both makes the leader wait for its workers: give the leader a policy of "
    "its own";

TEST(LwsScheduling, EachShapeIsAccepted) {
  for (const std::string_view shape :
       {"", "{}", R"({"replica":{}})", R"({"schedulingPolicy":{"gang":{}}})",
        R"({"replica":{"schedulingPolicy":{"basic":{}},"disruptionMode":{"all":{}}}})",
        R"({"replica":{"leader":{},"worker":{"schedulingPolicy":{"gang":{"minCount":3}}}}})",
        R"({"schedulingPolicy":{"gang":{"minGroupCount":1}},
            "replica":{"schedulingPolicy":{"gang":{"minGroupCount":2}},"worker":{}}})"})
    expect_set({.scheduling = std::string(shape)}, {});
}

TEST(LwsScheduling, WhatContradictsItselfIsRefused) {
  const std::string gang = R"({"schedulingPolicy":{"gang":{}}})";
  const std::string ready(kLeaderReady);
  for (const std::string& scheduling :
       {std::string("{}"), gang, fmt::format(R"({{"replica":{}}})", gang)})
    expect_set({.scheduling = scheduling, .more = ready}, {std::string(kInTurn)});
  expect_set({.scheduling = fmt::format(R"({{"replica":{{"worker":{}}}}})", gang), .more = ready},
             {});
  expect_set({.scheduling = "{}", .more = ready, .size = 1}, {});

  const std::string refused =
      "metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: Forbidden: places "
      "pods one after the other; use spec.scheduling's schedulingConstraints instead of both";
  const std::string exclusive(kExclusive);
  expect_set({.scheduling = "{}", .annotations = exclusive}, {refused});
  expect_set({.scheduling = R"({"replica":{"schedulingPolicy":{"basic":{}},
                               "schedulingConstraints":{"topology":[{"key":"rack"}]}}})",
              .annotations = exclusive},
             {refused});
  expect_set(
      {.scheduling = R"({"replica":{"schedulingPolicy":{"basic":{}}}})", .annotations = exclusive},
      {});
}

TEST(LwsScheduling, MinimumsAreWhatThereIs) {
  const std::string replica = "spec.scheduling.replica.";
  const std::string of_gang = "schedulingPolicy.gang.";
  expect_set({.scheduling = R"({"replica":{"schedulingPolicy":{"gang":{"minGroupCount":2}}}})"},
             {replica + of_gang +
              "minGroupCount: Forbidden: this group consists of pods, all of which are needed"});
  expect_set(
      {.scheduling =
           R"({"replica":{"worker":{},"schedulingPolicy":{"gang":{"minGroupCount":3}}}})"},
      {replica + of_gang +
       "minGroupCount: Invalid value: 3: must not be greater than the number of its groups (2)"});
  expect_set(
      {.scheduling = R"({"replica":{"worker":{"schedulingPolicy":{"gang":{"minCount":2}}}}})"},
      {replica + "worker." + of_gang +
       "minCount: Invalid value: 2: must be the number of its pods (3)"});
  expect_set({.scheduling = R"({"replica":{"leader":{}}})", .size = 1},
             {"spec.leaderWorkerTemplate.size: Invalid value: 1: must be at least 2 where "
              "spec.scheduling.replica tells leaders from workers"});
}

TEST(LwsScheduling, PodsHaveOnePriorityAndNoGroupOfTheirOwn) {
  const std::string high = R"("priorityClassName":"high")";
  expect_set({.scheduling = "{}", .pod = high, .leader = high}, {});
  expect_set({.scheduling = "{}", .pod = high, .leader = R"("priorityClassName":"low")"},
             {"spec.leaderWorkerTemplate.leaderTemplate.spec.priorityClassName: Invalid value: "
              "\"low\": must be \"high\" as in workerTemplate: what is scheduled as one workload "
              "has one priority"});
  expect_set({.pod = high, .leader = R"("priorityClassName":"low")"}, {});
  expect_set({.scheduling = "{}", .pod = R"("schedulingGroup":{"podGroupName":"g"})"},
             {"spec.leaderWorkerTemplate.workerTemplate.spec.schedulingGroup: Forbidden: the pods' "
              "groups are made from spec.scheduling"});
}

TEST(LwsScheduling, MayNotChange) {
  const Sentences fixed = {
      "spec.scheduling: Forbidden: may not change: groups and pods were made from it; delete the "
      "set and create it again"};
  const Set none;
  const Set replica{.scheduling = "{}"};
  const Set whole{.scheduling = R"({"schedulingPolicy":{"gang":{}}})"};
  const Set basic{.scheduling = R"({"schedulingPolicy":{"basic":{}}})"};
  const Set both{.scheduling = R"({"schedulingPolicy":{"gang":{}},"replica":{"worker":{}}})"};
  const Set rack{.scheduling =
                     R"({"replica":{"schedulingConstraints":{"topology":[{"key":"rack"}]}}})"};
  for (const auto& [old, now] : {std::pair{&none, &replica},
                                 {&replica, &none},
                                 {&replica, &whole},
                                 {&whole, &basic},
                                 {&whole, &both},
                                 {&replica, &rack}})
    expect_update(*old, *now, fixed);
  expect_update(both, both, {});
  // The number of workers may; an explicit minimum follows it.
  const auto workers = [](int size) {
    return Set{
        .scheduling = fmt::format(
            R"({{"replica":{{"worker":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}}}})",
            size - 1),
        .size = size};
  };
  expect_update(workers(4), workers(6), {});
  expect_update({.scheduling = "{}", .pod = R"("priorityClassName":"low")"},
                {.scheduling = "{}", .pod = R"("priorityClassName":"high")"},
                {"spec.leaderWorkerTemplate.workerTemplate.spec.priorityClassName: Invalid value: "
                 "\"high\": must stay \"low\": the Workload of the set was made with it"});
}

}  // namespace
}  // namespace muster::api
