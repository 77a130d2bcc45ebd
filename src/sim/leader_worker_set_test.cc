#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sim/leader_worker_sets_testing.h"

// StatefulSets and LeaderWorkerSets in the whole control plane, with and without trouble.
namespace muster::sim {
namespace {

using std::chrono::seconds;

std::string set_spec(int replicas, std::string_view more = "") {
  return fmt::format(
      R"("replicas":{},"serviceName":"web","selector":{{"matchLabels":{{"app":"web"}}}},{}
      "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c",
      "image":"web:1"}}]}}}})",
      replicas, more);
}

TEST(StatefulSets, ComeInOrderRollFromTheTopAndScale) {
  Play run;
  run.create(stateful_set_kind(), "web", set_spec(3));
  run.advance(seconds{20});
  EXPECT_EQ(run.pods(),
            (Texts{"web-0 Running web:1", "web-1 Running web:1", "web-2 Running web:1"}));
  EXPECT_EQ(run.status(stateful_set_kind(), "web",
                       {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
                        "availableReplicas"}),
            "3 3 3 3 3");
  run.patch(stateful_set_kind(), "web",
            R"({"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}},"template":{"spec":
            {"containers":[{"name":"c","image":"web:2"}]}}}})");
  run.advance(seconds{60});
  EXPECT_EQ(run.pods(),
            (Texts{"web-0 Running web:1", "web-1 Running web:1", "web-2 Running web:2"}));
  run.kill("web-0");
  run.advance(seconds{60});
  EXPECT_EQ(run.pods()[0], "web-0 Running web:1");  // below the partition: as it was
  run.patch(stateful_set_kind(), "web",
            R"({"spec":{"replicas":2,"updateStrategy":{"rollingUpdate":{"partition":0}}}})");
  run.advance(seconds{120});
  EXPECT_EQ(run.pods(), (Texts{"web-0 Running web:2", "web-1 Running web:2"}));
}

TEST(LeaderWorkerSets, RunAsGroupsAndAreMadeAgainAsSuch) {
  Play run;
  run.create(lws_kind(), "llm", lws_spec(2, 3, "{}"));
  run.advance(seconds{20});
  const Texts running{"llm-0 Running llm:1 grouped",   "llm-0-1 Running llm:1 grouped",
                      "llm-0-2 Running llm:1 grouped", "llm-1 Running llm:1 grouped",
                      "llm-1-1 Running llm:1 grouped", "llm-1-2 Running llm:1 grouped"};
  EXPECT_EQ(run.pods(), running);
  EXPECT_EQ(run.all(api::kinds::workload()).size(), 1U);
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 2U);
  EXPECT_EQ(run.condition("llm", "Available"), "True/AllGroupsReady");
  EXPECT_EQ(run.condition("llm", "WorkloadSchedulingCreated"), "True/Created");
  EXPECT_EQ(run.status(lws_kind(), "llm", {"replicas", "readyReplicas", "updatedReplicas"}),
            "2 2 2");

  const std::string leader = run.pod("llm-1")->meta().uid;
  const std::string other = run.pod("llm-0")->meta().uid;
  run.kill("llm-1-2");
  run.advance(seconds{120});
  EXPECT_EQ(run.pods(), running);
  EXPECT_NE(run.pod("llm-1")->meta().uid, leader);
  EXPECT_EQ(run.pod("llm-0")->meta().uid, other);
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 2U);

  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":0}})");
  run.advance(seconds{120});
  EXPECT_EQ(run.pods(), Texts{});
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 0U);
  EXPECT_EQ(run.all(api::kinds::workload()).size(), 1U);
  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":2}})");
  run.advance(seconds{60});
  EXPECT_EQ(run.pods(), running);
}

TEST(LeaderWorkerSets, RollOverReplicaByReplica) {
  Play run;
  run.create(lws_kind(), "llm", lws_spec(3, 2, "{}"));
  run.advance(seconds{20});
  run.patch(lws_kind(), "llm", kNewImage);
  for (int i = 0; i < 3000 && run.condition("llm", "UpdateInProgress") != "False/GroupsUpdating";
       ++i) {
    run.step();
    int serving = 0;
    for (const std::string name : {"llm-0", "llm-1", "llm-2"}) {
      const api::ObjectPtr leader = run.pod(name);
      const api::ObjectPtr worker = run.pod(name + "-1");
      if (leader != nullptr && worker != nullptr && !leader->meta().deletion_time &&
          leader->view<api::PodView>().phase == "Running" &&
          worker->view<api::PodView>().phase == "Running")
        ++serving;
    }
    ASSERT_GE(serving, 2);
  }
  run.advance(seconds{60});
  EXPECT_EQ(run.pods(), (Texts{"llm-0 Running llm:2 grouped", "llm-0-1 Running llm:2 grouped",
                               "llm-1 Running llm:2 grouped", "llm-1-1 Running llm:2 grouped",
                               "llm-2 Running llm:2 grouped", "llm-2-1 Running llm:2 grouped"}));
  EXPECT_EQ(run.condition("llm", "Available"), "True/AllGroupsReady");
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 3U);
}

// All three levels, and more replicas while it is updated than there are otherwise.
TEST(LeaderWorkerSets, RunAsTreesThatScaleAndSurge) {
  Play run;
  const std::string gang = R"("schedulingPolicy":{"gang":{}})";
  run.create(lws_kind(), "llm",
             lws_spec(2, 3, fmt::format(R"({{{0},"replica":{{{0},"worker":{{{0}}}}}}})", gang),
                      R"(,"rolloutStrategy":{"type":"RollingUpdate","rollingUpdateConfiguration":
                      {"maxUnavailable":0,"maxSurge":1,"partition":0}})"));
  run.advance(seconds{30});
  EXPECT_EQ(run.pods().size(), 6U);
  EXPECT_EQ(run.condition("llm", "Available"), "True/AllGroupsReady");
  EXPECT_EQ(run.all(api::kinds::composite_pod_group()).size(), 3U);  // the root, one per replica
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 4U);
  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":3}})");
  run.advance(seconds{60});
  EXPECT_EQ(run.pods().size(), 9U);
  EXPECT_EQ(run.status(lws_kind(), "llm", {"readyReplicas"}), "3");
  run.patch(lws_kind(), "llm", kNewImage);
  std::size_t most = 0;
  for (int i = 0; i < 500; ++i) {
    run.step();
    most = std::max(most, run.pods().size());
  }
  run.advance(seconds{60});
  EXPECT_GT(most, 9U);
  for (const std::string& pod : run.pods())
    EXPECT_NE(pod.find("Running llm:2 grouped"), std::string::npos) << pod;
  EXPECT_EQ(run.pods().size(), 9U);
  EXPECT_EQ(run.all(api::kinds::composite_pod_group()).size(), 4U);
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 6U);
}

TEST(LeaderWorkerSets, WithoutGroupsAndOfSizeOne) {
  Play run;
  run.create(lws_kind(), "solo", lws_spec(2, 1, ""));
  run.create(lws_kind(), "late", lws_spec(1, 2, "", R"(,"startupPolicy":"LeaderReady")"));
  run.advance(seconds{20});
  EXPECT_EQ(run.pods(), (Texts{"late-0 Running llm:1", "late-0-1 Running llm:1",
                               "solo-0 Running llm:1", "solo-1 Running llm:1"}));
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 0U);
}

TEST(LeaderWorkerSets, WorkersWaitForAReadyLeaderIfAsked) {
  Play run;
  std::string spec = lws_spec(1, 2, "", R"(,"startupPolicy":"LeaderReady")");
  constexpr std::string_view kSmall = R"("cpu":"1")";
  spec.replace(spec.find(kSmall), kSmall.size(), R"("cpu":"99")");  // more than a node has
  run.create(lws_kind(), "late", spec);
  run.advance(seconds{20});
  EXPECT_EQ(run.pods(), Texts{"late-0 Pending llm:1"});
}

TEST(LeaderWorkerSets, ThatContradictThemselvesAreRefused) {
  Play run;
  const auto made = run.world().ask(client::create_request(
      lws_kind(), "default",
      parsed(fmt::format(R"({{"metadata":{{"name":"llm"}},"spec":{{{}}}}})",
                         lws_spec(1, 2, "{}", R"(,"startupPolicy":"LeaderReady")")))));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("makes the leader wait for its workers"), std::string::npos);
}

// Created, then rolled over.
std::vector<std::string> outcome(const Trouble& trouble, Duration pause, std::uint64_t seed = 1,
                                 int* writes = nullptr) {
  Play run(trouble, seed);
  run.create(lws_kind(), "llm", lws_spec(2, 2, "{}"));
  run.advance(pause);
  run.patch(lws_kind(), "llm", kNewImage);
  run.advance(pause * 5);
  if (writes != nullptr) *writes = run.writes();
  return run.end();
}

TEST(LeaderWorkerSets, ARestartAfterAnyWriteChangesNothingInTheEnd) {
  int writes = 0;
  const std::vector<std::string> expected = outcome({}, seconds{20}, 1, &writes);
  ASSERT_GT(writes, 30);
  EXPECT_EQ(expected[0], "llm-0 Running llm:2 grouped");
  for (int crash = 0; crash < writes; ++crash)
    ASSERT_EQ(outcome({.crash_at = crash}, seconds{30}), expected)
        << "restarted after write " << crash;
}

TEST(LeaderWorkerSets, ConflictsErrorsAndLateFeedsChangeNothingInTheEnd) {
  const std::vector<std::string> expected = outcome({}, seconds{20});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    ASSERT_EQ(outcome({.flaky = 4}, seconds{120}, seed), expected) << "conflicts, seed " << seed;
    ASSERT_EQ(outcome({.late = 2}, seconds{120}, seed), expected) << "late feeds, seed " << seed;
  }
}

// The sum of a metric over all its series.
double sum_of(const Metrics& metrics, std::string_view name) {
  const std::string text = metrics.text();
  double sum = 0;
  for (std::size_t at = text.find(fmt::format("\n{}{{", name)); at != std::string::npos;
       at = text.find(fmt::format("\n{}{{", name), at + 1))
    sum += std::stod(text.substr(text.find("} ", at) + 2, 32));
  return sum;
}

// What a rollout costs grows with the replicas it changes, not with their square: writes, looks of
// all controllers, objects that they read.
TEST(LeaderWorkerSets, ARolloutCostsInProportionToItsReplicas) {
  struct Cost {
    double writes, looks, reads;
  };
  const auto cost = [](int replicas) {
    Play run({}, 1, 4 + replicas / 4);
    run.create(lws_kind(), "llm",
               lws_spec(replicas, 8, "{}",
                        R"(,"rolloutStrategy":{"type":"RollingUpdate","rollingUpdateConfiguration":
                        {"maxUnavailable":4,"maxSurge":0,"partition":0}})"));
    run.advance(seconds{60});
    EXPECT_EQ(run.condition("llm", "Available"), "True/AllGroupsReady");
    const auto now = [&run] {
      const Metrics& metrics = run.world().metrics();
      return Cost{static_cast<double>(run.writes()), sum_of(metrics, "workqueue_adds_total"),
                  sum_of(metrics, "muster_controller_objects_read_total")};
    };
    const Cost before = now();
    run.patch(lws_kind(), "llm", kNewImage);
    run.advance(seconds{60 + 15 * replicas});
    EXPECT_EQ(run.condition("llm", "Available"), "True/AllGroupsReady");
    EXPECT_EQ(run.status(lws_kind(), "llm", {"updatedReplicas"}), std::to_string(replicas));
    const Cost after = now();
    const double each = replicas;
    const Cost out{(after.writes - before.writes) / each, (after.looks - before.looks) / each,
                   (after.reads - before.reads) / each};
    fmt::print("{} replicas of 8: each {:.1f} writes, {:.1f} looks, {:.1f} objects read\n",
               replicas, out.writes, out.looks, out.reads);
    return out;
  };
  const Cost small = cost(8);
  std::vector<int> sizes{32, 128};
  if (std::getenv("MUSTER_TEST_LONG") != nullptr) sizes.push_back(1000);
  for (const int size : sizes) {
    const Cost large = cost(size);
    EXPECT_LT(large.writes, small.writes * 1.2) << size;
    EXPECT_LT(large.looks, small.looks * 1.2) << size;
    EXPECT_LT(large.reads, small.reads * 1.2) << size;
  }
}

}  // namespace
}  // namespace muster::sim
