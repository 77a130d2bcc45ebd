#include "api/views/group_view.h"

#include "api/validation/workloads_testing.h"

namespace muster::api {
namespace {

TEST(GroupView, ReadsAPodGroup) {
  const auto view = GroupView::of(decoded("scheduling/v1beta1", "PodGroup", R"(
metadata: {name: g, namespace: lab}
spec:
  parentCompositePodGroupName: p
  workloadRef: {workloadName: w, templateName: t}
  schedulingPolicy: {gang: {minCount: 4}}
  schedulingConstraints: {topology: [{key: example.com/rack}]}
  resourceClaims: [{name: a, resourceClaimName: x}]
  disruptionMode: {all: {}}
  priorityClassName: high
  priority: -3
  preemptionPolicy: Never
status:
  conditions:
  - {type: PodGroupInitiallyScheduled, status: "False", reason: Unschedulable, message: waits, lastTransitionTime: "2026-08-20T10:00:00Z"}
)"));
  EXPECT_TRUE(view->gang);
  EXPECT_EQ(view->minimum, 4);
  EXPECT_EQ(view->topology_key, "example.com/rack");
  EXPECT_EQ(view->parent, "p");
  EXPECT_EQ(view->workload, "w");
  EXPECT_EQ(view->template_name, "t");
  EXPECT_EQ(view->priority_class, "high");
  EXPECT_EQ(view->priority, -3);
  EXPECT_EQ(view->preemption, GroupPreemption::Never);
  EXPECT_TRUE(view->disrupted_together);
  EXPECT_TRUE(view->has_claims);
  const GroupCondition* condition = view->condition("PodGroupInitiallyScheduled");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, "False");
  EXPECT_EQ(condition->reason, "Unschedulable");
  EXPECT_EQ(condition->message, "waits");
  EXPECT_EQ(condition->last_transition, parse_time("2026-08-20T10:00:00Z"));
  EXPECT_EQ(view->condition("DisruptionTarget"), nullptr);
}

TEST(GroupView, ReadsACompositeAndDefaults) {
  const auto composite = GroupView::of(
      decoded("scheduling/v1alpha3", "CompositePodGroup",
              "spec: {schedulingPolicy: {gang: {minGroupCount: 2}}, disruptionMode: {single: {}}, "
              "preemptionPolicy: PreemptLowerPriority}"));
  EXPECT_TRUE(composite->gang);
  EXPECT_EQ(composite->minimum, 2);
  EXPECT_FALSE(composite->disrupted_together);
  EXPECT_EQ(composite->preemption, GroupPreemption::LowerPriority);

  const auto bare = GroupView::of(JsonObject());
  EXPECT_FALSE(bare->gang);
  EXPECT_EQ(bare->minimum, 1);
  EXPECT_EQ(bare->preemption, GroupPreemption::OfPods);
  EXPECT_EQ(bare->topology_key, "");
  EXPECT_TRUE(bare->conditions.empty());
}

}  // namespace
}  // namespace muster::api
