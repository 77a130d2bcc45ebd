#include "api/validation/seed_fields.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(SeedFields, SaysWhereAFieldOfTheProposalsWent) {
  struct Case {
    std::string_view kind, path, want;
  };
  constexpr Case kCases[] = {
      {"PodGroup", "spec.podGroupTemplateRef", "use spec.workloadRef"},
      {"PodGroup", "spec.podGroupTemplateReference", "use spec.workloadRef"},
      {"PodGroup", "spec.workloadRef.name", "use spec.workloadRef.workloadName"},
      {"PodGroup", "status.scheduledPods",
       "there is no such count; the pods that name the group tell"},
      {"PodGroup", "spec.podGroupTemplateName", "use spec.workloadRef.templateName"},
      {"PodGroup", "spec.workloadRef.podGroupTemplateName", "use spec.workloadRef.templateName"},
      {"Workload", "spec.podGroups", "use spec.podGroupTemplates"},
      {"PodGroup", "spec.scheduleConstraints", "use spec.schedulingConstraints"},
      {"PodGroup", "spec.topologyConstraints", "use spec.schedulingConstraints.topology"},
      {"Workload", "spec.podGroupTemplate.x", ""},
      {"Pod", "spec.podGroups", ""},
      {"PodGroup", "status.policy", ""},
      {"CronJob", "spec.scheduling.policy", ""},
      {"Pod", "spec.workloadRef", "use spec.schedulingGroup.podGroupName"},
      {"Workload", "spec.podGroupTemplate", "use spec.podGroupTemplates"},
      {"Workload", "spec.controllerRef.apiVersion", "use spec.controllerRef.apiGroup"},
      {"Workload", "spec.podGroupTemplates[3].policy",
       "use spec.podGroupTemplates[3].schedulingPolicy"},
      {"CompositePodGroup", "spec.schedulingConstraints.topology[0].level",
       "use spec.schedulingConstraints.topology[0].key"},
      {"Job", "spec.scheduling.disruption", "use spec.scheduling.disruptionMode"},
      {"Job", "spec.scheduling.constraints", "use spec.scheduling.schedulingConstraints"},
      {"CronJob", "spec.jobTemplate.spec.scheduling.policy",
       "use spec.jobTemplate.spec.scheduling.schedulingPolicy"},
      {"Job", "spec.template.policy", ""},
      {"Pod", "spec.policy", ""},
      {"PodGroup", "spec.foo", ""},
      {"PodGroup", "policy", ""},
  };
  for (const Case& c : kCases) EXPECT_EQ(seed_field_hint(c.kind, c.path), c.want) << c.path;
}

TEST(SeedFields, ExplainsWarningsOfDecoding) {
  std::vector<std::string> warnings = {
      "unknown field \"spec.podGroupTemplateRef\"", "unknown field \"spec.foo\"",
      "duplicate field \"spec.podGroupTemplateRef\"", "unknown field \"status.scheduledPods\""};
  explain_seed_fields("PodGroup", warnings);
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                "unknown field \"spec.podGroupTemplateRef\": use spec.workloadRef",
                "unknown field \"spec.foo\"", "duplicate field \"spec.podGroupTemplateRef\"",
                "unknown field \"status.scheduledPods\": there is no such count; the "
                "pods that name the group tell"}));
}

}  // namespace
}  // namespace muster::api
