// What a pod that fits nowhere says of itself: why, and whether evictions would help. The numbers
// before the names are those of worked examples that were computed by kube-scheduler's rules.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using testing::PodText;

class FitMessages : public ::testing::Test {
 protected:
  void put(const api::ObjectPtr& object) {
    world_.scheduler.apply(client::Event{client::Event::Type::Added, object}, world_.now);
  }
  static std::string memory(const std::string& amount) {
    return R"(,"resources":{"requests":{"memory":")" + amount + R"("}})";
  }
  // The message of the condition that is written for a new pod.
  std::string message_of(const PodText& pod) {
    world_.synced();
    world_.pod("asks", pod);
    world_.run();
    std::vector<std::string> written = world_.requests("ns/asks/status");
    std::erase_if(written, [](const std::string& request) {
      return request.find("PodScheduled") == std::string::npos;  // a nomination
    });
    if (written.size() != 1) return "";
    constexpr std::string_view kBegin = R"("message":")";
    const std::size_t from = written[0].find(kBegin) + kBegin.size();
    return written[0].substr(from, written[0].find('"', from) - from);
  }

  testing::World world_;
};

TEST_F(FitMessages, L1EveryReasonIsCountedAndNobodyCanBeEvicted) {
  for (const char* name : {"c1", "c2"}) {
    put(NodeSample{.name = name, .cpu = "1"}.make());
    world_.pod(std::string("on-") + name, {.node = name, .phase = "Running"});
  }
  put(NodeSample{.name = "d", .cpu = "1", .memory = "2Gi"}.make());
  world_.pod("on-d", {.node = "d", .phase = "Running", .spec = memory("1Gi")});
  for (const char* name : {"t1", "t2"})
    put(NodeSample{.name = name, .taints = R"([{"key":"k","effect":"NoSchedule"}])"}.make());
  EXPECT_EQ(
      message_of({.spec = memory("2Gi")}),
      "0/5 nodes are available: 1 Insufficient memory, 2 node(s) had untolerated taint(s), 3 "
      "Insufficient cpu. preemption: 0/5 nodes are available: 2 Preemption is not helpful for "
      "scheduling, 3 No preemption victims found for incoming pod.");
}

// Sorted as texts.
TEST_F(FitMessages, L2TenComesBeforeTwo) {
  for (int i = 0; i < 10; ++i)
    put(NodeSample{.name = "c" + std::to_string(i), .labels = {{"d", "ssd"}}, .unschedulable = true}
            .make());
  for (int i = 0; i < 2; ++i) put(NodeSample{.name = "w" + std::to_string(i)}.make());
  EXPECT_EQ(message_of({.spec = R"(,"nodeSelector":{"d":"ssd"})"}),
            "0/12 nodes are available: 10 node(s) were unschedulable, 2 node(s) didn't match Pod's "
            "node affinity/selector. preemption: 0/12 nodes are available: 12 Preemption is not "
            "helpful for scheduling.");
}

TEST_F(FitMessages, L3WhatIsWrongBeforeAnyNodeIsLookedAtStandsAlone) {
  for (const char* name : {"a", "b", "c"}) put(NodeSample{.name = name}.make());
  put(testing::parse(api::kinds::persistent_volume_claim(),
                     R"({"metadata":{"name":"data","namespace":"ns","uid":"d"},"spec":{}})"));
  EXPECT_EQ(
      message_of({.spec = R"(,"volumes":[{"name":"v","persistentVolumeClaim":)"
                          R"({"claimName":"data"}}])"}),
      "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: "
      "0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
}

TEST_F(FitMessages, L4NodesThatAreNotLookedAtNameWhoNarrowedThem) {
  for (const char* name : {"a", "b", "c", "d"}) put(NodeSample{.name = name, .cpu = "1"}.make());
  world_.pod("on-a", {.priority = -1, .node = "a", .phase = "Running"});
  EXPECT_EQ(message_of({.spec = R"(,"preemptionPolicy":"Never","affinity":{"nodeAffinity":{)"
                                R"("requiredDuringSchedulingIgnoredDuringExecution":{)"
                                R"("nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name",)"
                                R"("operator":"In","values":["a"]}]}]}}})"}),
            "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity]. preemption: not eligible due to preemptionPolicy=Never.");
}

// Ours says in addition how many must go at least.
TEST_F(FitMessages, L5AVictimIsAnnounced) {
  for (const char* name : {"n1", "n2"}) {
    put(NodeSample{.name = name, .memory = "2Gi"}.make());
    world_.pod(std::string("on-") + name, {.priority = std::string_view(name) == "n2" ? 0 : 9,
                                           .node = name,
                                           .phase = "Running",
                                           .spec = memory("2Gi")});
  }
  EXPECT_EQ(message_of({.priority = 5, .spec = memory("1Gi")}),
            "0/2 nodes are available: 2 Insufficient memory. preemption: found a potential "
            "placement for pod on node n2, preempting 1 victims (at least 1 needed)");
}

TEST_F(FitMessages, L7WithoutNodesThereIsNothingToSayOfThem) {
  EXPECT_EQ(message_of({}), "no nodes available to schedule pods");
}

}  // namespace
}  // namespace muster::scheduler
