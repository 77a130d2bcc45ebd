#include "controllers/node_lifecycle/node_status.h"

#include <fmt/format.h>

#include <string>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

const Time kNow{std::chrono::seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

api::ObjectPtr node(std::string_view conditions, std::string_view labels = "") {
  return object(api::kinds::node(),
                fmt::format(R"({{"metadata":{{"name":"n1","uid":"u1","labels":{{{}}},)"
                            R"("creationTimestamp":"2025-12-31T00:00:00Z"}},)"
                            R"("status":{{"conditions":[{}]}}}})",
                            labels, conditions));
}

TEST(NodeStatus, ReadinessIsWhatTheConditionReadySays) {
  EXPECT_EQ(readiness(*node("")), Readiness::Unsaid);
  EXPECT_EQ(readiness(*node(R"({"type":"DiskPressure","status":"True"})")), Readiness::Unsaid);
  EXPECT_EQ(readiness(*node(R"({"type":"Ready","status":"True"})")), Readiness::True);
  EXPECT_EQ(readiness(*node(R"({"type":"Ready","status":"False"})")), Readiness::False);
  EXPECT_EQ(readiness(*node(R"({"type":"Ready","status":"Unknown"})")), Readiness::Unknown);
}

TEST(NodeStatus, TheHeartbeatIsThatOfTheConditionReady) {
  EXPECT_EQ(heartbeat_text(*node("")), "");
  EXPECT_EQ(heartbeat_text(*node(
                R"({"type":"DiskPressure","status":"True","lastHeartbeatTime":"d"},
                   {"type":"Ready","status":"True","lastHeartbeatTime":"r"})")),
            "r");
}

TEST(NodeStatus, ASilentNodeIsDeclaredSoInEveryConditionOfItsKubelet) {
  const auto request = declare_silent(
      *node(R"({"type":"Ready","status":"True"},{"type":"DiskPressure","status":"Unknown"},
               {"type":"PIDPressure","status":"False"},{"type":"Other","status":"True"})"),
      kNow);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->subresource, "status");
  EXPECT_EQ(
      api::to_text(request->body),
      R"({"metadata":{"uid":"u1"},"status":{"conditions":[{"type":"Ready","status":"Unknown",)"
      R"("reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status.",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"MemoryPressure","status":"Unknown",)"
      R"("reason":"NodeStatusNeverUpdated","message":"Kubelet never posted node status.",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z","lastHeartbeatTime":"2025-12-31T00:00:00Z"},)"
      R"({"type":"PIDPressure","status":"Unknown","reason":"NodeStatusUnknown",)"
      R"("message":"Kubelet stopped posting node status.",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  EXPECT_FALSE(declare_silent(
      *node(R"({"type":"Ready","status":"Unknown"},{"type":"MemoryPressure","status":"Unknown"},
               {"type":"DiskPressure","status":"Unknown"},
               {"type":"PIDPressure","status":"Unknown"})"),
      kNow));
}

TEST(NodeStatus, OnlyAPodThatClaimsToBeReadyIsDeclaredNotReady) {
  const auto pod = [](std::string_view conditions) {
    return object(api::kinds::pod(),
                  fmt::format(R"({{"metadata":{{"name":"p","namespace":"ns","uid":"up"}},)"
                              R"("status":{{"conditions":[{}]}}}})",
                              conditions));
  };
  const auto request = declare_not_ready(*pod(R"({"type":"Ready","status":"True"})"), kNow);
  ASSERT_TRUE(request);
  EXPECT_EQ(api::to_text(request->body),
            R"({"metadata":{"uid":"up"},"status":{"conditions":[{"type":"Ready","status":"False",)"
            R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  EXPECT_TRUE(declare_not_ready(*pod(R"({"type":"Ready","status":"Unknown"})"), kNow));
  EXPECT_FALSE(declare_not_ready(*pod(R"({"type":"Ready","status":"False"})"), kNow));
  EXPECT_FALSE(declare_not_ready(*pod(R"({"type":"Initialized","status":"True"})"), kNow));
}

TEST(NodeStatus, ZonesOfOneNameInTwoRegionsAreTwo) {
  EXPECT_EQ(zone_of(*node("", R"("topology.kubernetes.io/region":"north",
                                 "topology.kubernetes.io/zone":"a")")),
            "north/a");
  EXPECT_EQ(zone_of(*node("", R"("topology.kubernetes.io/zone":"a")")), "/a");
  EXPECT_EQ(zone_of(*node("")), "/");
}

}  // namespace
}  // namespace muster::controllers
