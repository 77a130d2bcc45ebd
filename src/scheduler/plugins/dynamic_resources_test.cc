#include "scheduler/plugins/dynamic_resources.h"

#include <gtest/gtest.h>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"

namespace muster::scheduler {
namespace {

std::optional<std::string> refusal_of(const std::string& spec) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n"}.make());
  Profile profile;
  profile.add<DynamicResources>(1);
  Standing standing(cluster.class_of(PodSample{.name = "p", .spec = spec}.make()), profile,
                    cluster);
  standing.catch_up();
  NodeId node{};
  EXPECT_TRUE(cluster.find_node("n", node));
  if (!standing.refused_everywhere()) {
    EXPECT_TRUE(standing.is_feasible(node));
    return std::nullopt;
  }
  EXPECT_FALSE(standing.is_feasible(node));
  EXPECT_EQ(standing.caps()[node], 0);
  const Standing::Answer answer = standing.ask(node);
  EXPECT_EQ(answer.verdict.reasons().front(), standing.refused_everywhere()->reason);
  EXPECT_EQ(answer.verdict.remedy(), Remedy::None);
  return standing.refused_everywhere()->reason;
}

// No device is allocated, so that the order of a request's alternatives (N5) decides nothing.
TEST(DynamicResources, RefusesPodsWithClaims) {
  EXPECT_EQ(refusal_of(R"("resourceClaims":[{"name":"gpu","resourceClaimName":"x"}])"),
            "DynamicResources allocation is not supported");
  EXPECT_EQ(refusal_of(R"("resourceClaims":[])"), std::nullopt);
}

}  // namespace
}  // namespace muster::scheduler
