#include "scheduler/plugins/unjudged_fields.h"

#include <gtest/gtest.h>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"
#include "scheduler/plugins/dynamic_resources.h"

namespace muster::scheduler {
namespace {

std::optional<std::string> refusal_of(const std::string& spec) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n"}.make());
  Profile profile;
  profile.add<UnjudgedFields>(1);
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

TEST(UnjudgedFields, NamesEachField) {
  struct Case {
    const char* spec;
    const char* field;
  };
  const Case cases[] = {
      {R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}})",
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"},
      {R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}})",
       "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"},
      {R"("topologySpreadConstraints":[{"topologyKey":"zone","maxSkew":1,)"
       R"("whenUnsatisfiable":"DoNotSchedule"}])",
       "spec.topologySpreadConstraints"},
      {R"("hostNetwork":true,"hostUsers":false)", "spec.hostUsers"},
      {R"("initContainers":[{"restartPolicyRules":[{"action":"RestartAllContainers"}]}])",
       "spec.containers[*].restartPolicyRules"},
      {R"("initContainers":[{"volumeMounts":[{"bindMountOptions":{}}]}])",
       "spec.containers[*].volumeMounts[*].bindMountOptions"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(refusal_of(c.spec), std::string("not supported by this scheduler yet: ") + c.field);
}

TEST(UnjudgedFields, HasNothingAgainstWhatIsJudgedOrBindsNoNode) {
  EXPECT_EQ(refusal_of(R"("nodeSelector":{})"), std::nullopt);
  EXPECT_EQ(refusal_of(R"("volumes":[{"name":"v","emptyDir":{}},{"name":"w","csi":{"driver":"d"}}])"),
            std::nullopt);
  EXPECT_EQ(refusal_of(R"("hostNetwork":true,"hostUsers":true)"), std::nullopt);
  EXPECT_EQ(refusal_of(R"("topologySpreadConstraints":[{"topologyKey":"zone","maxSkew":1,)"
                       R"("whenUnsatisfiable":"ScheduleAnyway"}])"),
            std::nullopt);
}

TEST(DynamicResources, RefusesPodsWithClaims) {
  EXPECT_EQ(refusal_of(R"("resourceClaims":[{"name":"gpu","resourceClaimName":"x"}])"),
            "DynamicResources allocation is not supported");
  EXPECT_EQ(refusal_of(R"("resourceClaims":[])"), std::nullopt);
}

}  // namespace
}  // namespace muster::scheduler
