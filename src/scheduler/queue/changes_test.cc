#include "scheduler/queue/changes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/kinds/kind.h"

namespace muster::scheduler {
namespace {

api::ObjectPtr object(const api::Kind& kind, const std::string& text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return api::Object::make(kind, parsed->value);
}

api::ObjectPtr node(const std::string& metadata, const std::string& spec,
                    const std::string& status) {
  return object(api::kinds::node(), R"({"metadata":{"name":"n","uid":"u")" + metadata +
                                        R"(},"spec":{)" + spec + R"(},"status":{)" + status + "}}");
}

api::ObjectPtr pod(const std::string& metadata, const std::string& spec) {
  return object(api::kinds::pod(), R"({"metadata":{"name":"p","namespace":"ns","uid":"u")" +
                                       metadata + R"(},"spec":{)" + spec + R"(},"status":{}})");
}

std::vector<Action> actions(const std::vector<ClusterEvent>& events) {
  std::vector<Action> out;
  for (const ClusterEvent& event : events) out.push_back(event.action);
  return out;
}

constexpr const char* kReady = R"("conditions":[{"type":"Ready","status":"True","reason":"a"}])";

TEST(NodeChanges, AHeartbeatIsNoChange) {
  const auto before = node("", "", kReady);
  const auto after = node(
      "", "", R"("conditions":[{"type":"Ready","status":"True","reason":"b","message":"again"}])");
  EXPECT_TRUE(node_changes(before, after).empty());
}

TEST(NodeChanges, NameEachChangeOnceInUpstreamsOrder) {
  const auto before = node("", R"("unschedulable":true)", R"("allocatable":{"cpu":"1"})");
  const auto after =
      node(R"(,"labels":{"a":"b"},"annotations":{"c":"d"})",
           R"("taints":[{"key":"k","effect":"NoSchedule"}])",
           R"("allocatable":{"cpu":"2"},"conditions":[{"type":"Ready","status":"True"}])");
  EXPECT_EQ(
      actions(node_changes(before, after)),
      (std::vector{Action::UpdateNodeTaint, Action::UpdateNodeAllocatable, Action::UpdateNodeLabel,
                   Action::UpdateNodeCondition, Action::UpdateNodeAnnotation}));
}

// T3e: room for more pods is room.
TEST(NodeChanges, MoreAllocatablePodsAreAChange) {
  const auto before = node("", "", R"("allocatable":{"cpu":"1","pods":"10"})");
  const auto after = node("", "", R"("allocatable":{"cpu":"1","pods":"20"})");
  EXPECT_EQ(actions(node_changes(before, after)), (std::vector{Action::UpdateNodeAllocatable}));
}

TEST(NodeChanges, CordonHelpsNobodyUncordonDoes) {
  const auto open = node("", "", "");
  const auto cordoned = node("", R"("unschedulable":true)", "");
  EXPECT_TRUE(node_changes(open, cordoned).empty());
  EXPECT_EQ(actions(node_changes(cordoned, open)), std::vector{Action::UpdateNodeTaint});
}

// The taint that stands for the cordon goes with it.
TEST(NodeChanges, AnUncordonedNodeIsOneChangeOfTaints) {
  const std::string taint =
      R"("taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}])";
  const auto cordoned = node("", R"("unschedulable":true,)" + taint, "");
  const auto open = node("", "", "");
  EXPECT_EQ(actions(node_changes(cordoned, open)), std::vector{Action::UpdateNodeTaint});
  EXPECT_EQ(actions(node_changes(node("", taint, ""), open)), std::vector{Action::UpdateNodeTaint});
  EXPECT_EQ(actions(node_changes(open, node("", taint, ""))), std::vector{Action::UpdateNodeTaint});
}

TEST(NodeChanges, DeclaredFeaturesAreAChange) {
  const auto before = node("", "", "");
  const auto after = node("", "", R"("declaredFeatures":["a"])");
  EXPECT_EQ(actions(node_changes(before, after)), std::vector{Action::UpdateNodeDeclaredFeature});
}

TEST(NodeChanges, CarryBothVersions) {
  const auto before = node("", "", "");
  const auto after = node(R"(,"labels":{"a":"b"})", "", "");
  const std::vector<ClusterEvent> changes = node_changes(before, after);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].resource, Resource::Node);
  EXPECT_EQ(changes[0].before, before);
  EXPECT_EQ(changes[0].after, after);
}

TEST(PodChanges, CarryBothVersionsAndWhichPodItIs) {
  const auto before = pod("", "");
  const auto after = pod(R"(,"labels":{"a":"b"})", "");
  for (const Resource resource : {Resource::AssignedPod, Resource::TargetPod}) {
    const std::vector<ClusterEvent> changes = pod_changes(before, after, resource);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].resource, resource);
    EXPECT_EQ(changes[0].before, before);
    EXPECT_EQ(changes[0].after, after);
  }
}

TEST(PodChanges, OnlyTheLastGateThatGoesIsAChange) {
  const auto gates = [](const std::string& names) {
    return pod("", R"("schedulingGates":[)" + names + "]");
  };
  const auto two = gates(R"({"name":"a"},{"name":"b"})");
  const auto one = gates(R"({"name":"b"})");
  EXPECT_TRUE(pod_changes(two, one, Resource::TargetPod).empty());
  EXPECT_TRUE(pod_changes(gates(""), one, Resource::TargetPod).empty());
  EXPECT_EQ(actions(pod_changes(one, gates(""), Resource::TargetPod)),
            std::vector{Action::UpdatePodSchedulingGatesEliminated});
}

TEST(PodChanges, NameWhatPluginsWaitFor) {
  const auto before =
      pod("", R"("schedulingGates":[{"name":"g"}],"containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"2","memory":"1Gi"}}}])");
  const auto after = pod(R"(,"labels":{"a":"b"})", R"("tolerations":[{"operator":"Exists"}],
      "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1","memory":"2Gi"}}}])");
  EXPECT_EQ(
      actions(pod_changes(before, after, Resource::TargetPod)),
      (std::vector{Action::UpdatePodLabel, Action::UpdatePodScaleDown, Action::UpdatePodScaleUp,
                   Action::UpdatePodSchedulingGatesEliminated, Action::UpdatePodToleration}));
  EXPECT_TRUE(pod_changes(after, after, Resource::AssignedPod).empty());
}

TEST(PodChanges, LessIsOneChangeAndMoreIsAnother) {
  const auto asks = [](const std::string& cpu) {
    return pod("", R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")" +
                       cpu + R"("}}}])");
  };
  EXPECT_EQ(actions(pod_changes(asks("2"), asks("1"), Resource::AssignedPod)),
            std::vector{Action::UpdatePodScaleDown});
  EXPECT_EQ(actions(pod_changes(asks("1"), asks("2"), Resource::AssignedPod)),
            std::vector{Action::UpdatePodScaleUp});
}

TEST(PodChanges, LessOfAnyResourceIsLess) {
  const auto asks = [](const std::string& requests) {
    return pod("", R"("containers":[{"name":"c","image":"i","resources":{"requests":{)" + requests +
                       "}}}]");
  };
  struct Case {
    std::string more, less;
  };
  const std::vector<Case> cases = {
      {R"("memory":"2Gi")", R"("memory":"1Gi")"},
      {R"("ephemeral-storage":"2Gi")", R"("ephemeral-storage":"1Gi")"},
      {R"("example.com/gpu":"2")", R"("example.com/gpu":"1")"},
      {R"("example.com/gpu":"2")", ""},
  };
  for (const auto& [more, less] : cases) {
    EXPECT_EQ(actions(pod_changes(asks(more), asks(less), Resource::AssignedPod)),
              std::vector{Action::UpdatePodScaleDown})
        << more;
    EXPECT_EQ(actions(pod_changes(asks(less), asks(more), Resource::AssignedPod)),
              std::vector{Action::UpdatePodScaleUp})
        << more;
  }
}

}  // namespace
}  // namespace muster::scheduler
