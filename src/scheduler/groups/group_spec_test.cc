#include "scheduler/groups/group_spec.h"

#include <gtest/gtest.h>

#include "api/kinds/kind.h"

namespace muster::scheduler {
namespace {

using api::Gate;
using api::Gates;

api::ObjectPtr make(const api::Kind& kind) {
  const auto document = api::parse_json(R"({
      "metadata": {"name": "g", "namespace": "ns", "uid": "g"},
      "spec": {"parentCompositePodGroupName": "c",
               "workloadRef": {"workloadName": "w", "templateName": "t"},
               "schedulingPolicy": {"gang": {"minCount": 3, "minGroupCount": 3}},
               "schedulingConstraints": {"topology": [{"key": "rack"}]},
               "preemptionPolicy": "Never", "priority": 7}})");
  return api::Object::make(kind, document->value);
}

TEST(GroupSpec, ReadsWhatTheForestNeeds) {
  for (const api::Kind* kind : {&api::kinds::pod_group(), &api::kinds::composite_pod_group()}) {
    const auto group = read_group(make(*kind), {});
    ASSERT_TRUE(group);
    EXPECT_EQ(group->parent, "c");
    EXPECT_EQ(group->workload + "/" + group->template_name, "w/t");
    EXPECT_EQ(group->minimum, 3);
    EXPECT_EQ(group->topology_key, "rack");
    EXPECT_EQ(group->priority, 7);
    EXPECT_EQ(group->never_preempts, true);
  }
  EXPECT_FALSE(read_group(make(api::kinds::workload()), {}));
}

// What is stored stays, but a gate that is off takes its meaning away.
TEST(GroupSpec, GatesThatAreOffTakeTheirFieldsAway) {
  const api::ObjectPtr leaf = make(api::kinds::pod_group());
  const api::ObjectPtr composite = make(api::kinds::composite_pod_group());
  EXPECT_FALSE(read_group(leaf, Gates().without(Gate::GenericWorkload)));
  EXPECT_FALSE(read_group(composite, Gates().without(Gate::CompositePodGroup)));
  EXPECT_EQ(read_group(leaf, Gates().without(Gate::CompositePodGroup))->parent, "");
  EXPECT_EQ(read_group(leaf, Gates().without(Gate::TopologyAwareWorkloadScheduling))->topology_key,
            "");
  EXPECT_EQ(read_group(leaf, Gates().without(Gate::PodGroupPreemptionPolicy))->never_preempts,
            std::nullopt);
}

}  // namespace
}  // namespace muster::scheduler
