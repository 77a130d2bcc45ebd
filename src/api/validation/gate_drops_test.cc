#include "api/validation/gate_drops.h"

#include "api/validation/workloads_testing.h"

namespace muster::api {
namespace {

const Gates kOff = Gates()
                       .without(Gate::CompositePodGroup)
                       .without(Gate::TopologyAwareWorkloadScheduling)
                       .without(Gate::PodGroupPreemptionPolicy);

Json yaml(std::string_view text) {
  Result<ParsedJson> parsed = parse_yaml(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? std::move(parsed->value) : Json();
}

constexpr std::string_view kGroup =
    "{spec: {parentCompositePodGroupName: p, schedulingConstraints: {}, resourceClaims: [{name: "
    "a}], preemptionPolicy: Never, priority: 1}, status: {conditions: [], resourceClaimStatuses: "
    "[{name: a}]}}";

TEST(GateDrops, ANewGroupLosesWhatIsOff) {
  Json group = yaml(kGroup);
  drop_disabled_pod_group_fields(group, nullptr, kOff);
  EXPECT_EQ(group, yaml("{spec: {priority: 1}, status: {conditions: []}}"));
  group = yaml(kGroup);
  drop_disabled_pod_group_fields(group, nullptr, Gates().with(Gate::DRAWorkloadResourceClaims));
  EXPECT_EQ(group, yaml(kGroup));
  group = yaml(kGroup);
  drop_disabled_composite_pod_group_fields(group, nullptr, kOff);
  EXPECT_EQ(find_path(group, "spec.preemptionPolicy"), nullptr);
  EXPECT_NE(find_path(group, "spec.schedulingConstraints"), nullptr);
}

TEST(GateDrops, AStoredGroupKeepsWhatItUses) {
  const Json old = yaml(kGroup);
  Json group = yaml(kGroup);
  drop_disabled_pod_group_fields(group, &old, kOff);
  EXPECT_EQ(group, old);
  const Json bare = yaml("{spec: {resourceClaims: [], preemptionPolicy: Never}}");
  group = yaml(kGroup);
  drop_disabled_pod_group_fields(group, &bare, kOff);
  EXPECT_EQ(group,
            yaml("{spec: {preemptionPolicy: Never, priority: 1}, status: {conditions: []}}"));
}

TEST(GateDrops, TemplatesMeetTheirStoredSelvesByName) {
  const Json old = yaml(
      "{spec: {podGroupTemplates: [{name: a, preemptionPolicy: Never}, {name: b}], "
      "compositePodGroupTemplates: [{name: r, compositePodGroupTemplates: [{name: s, "
      "podGroupTemplates: [{name: t, schedulingConstraints: {}}]}]}]}}");
  Json now = yaml(
      "{spec: {podGroupTemplates: [{name: b, preemptionPolicy: Never}, {name: a, "
      "preemptionPolicy: Never, schedulingConstraints: {}}], compositePodGroupTemplates: [{name: "
      "r, preemptionPolicy: Never, compositePodGroupTemplates: [{name: s, "
      "compositePodGroupTemplates: [{name: u}], podGroupTemplates: [{name: t, "
      "schedulingConstraints: {}, resourceClaims: [{name: c}]}]}]}]}}");
  drop_disabled_workload_fields(now, &old, kOff);
  EXPECT_EQ(now, yaml("{spec: {podGroupTemplates: [{name: b}, {name: a, preemptionPolicy: Never}], "
                      "compositePodGroupTemplates: [{name: r, compositePodGroupTemplates: [{name: "
                      "s, podGroupTemplates: [{name: t, schedulingConstraints: {}}]}]}]}}"));
}

TEST(GateDrops, ANewWorkloadLosesItsComposites) {
  Json now = yaml("{spec: {compositePodGroupTemplates: [{name: r}]}}");
  drop_disabled_workload_fields(now, nullptr, kOff);
  EXPECT_EQ(now, yaml("{spec: {}}"));
}

TEST(GateDrops, PodsLoseTheirGroup) {
  Json pod = yaml("{spec: {schedulingGroup: {podGroupName: g}, nodeName: a1}}");
  const Json old = pod;
  drop_disabled_pod_fields(pod, nullptr, Gates());
  EXPECT_EQ(pod, old);
  drop_disabled_pod_fields(pod, &old, Gates().without(Gate::GenericWorkload));
  EXPECT_EQ(pod, old);
  drop_disabled_pod_fields(pod, nullptr, Gates().without(Gate::GenericWorkload));
  EXPECT_EQ(pod, yaml("{spec: {nodeName: a1}}"));
}

}  // namespace
}  // namespace muster::api
