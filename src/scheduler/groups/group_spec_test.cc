#include "scheduler/groups/group_spec.h"

#include <gtest/gtest.h>

#include <chrono>

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

api::ObjectPtr with_annotations(const std::string& annotations) {
  const auto document = api::parse_json(
      R"({"metadata": {"name": "g", "namespace": "ns", "uid": "g", "annotations": {)" +
      annotations + R"(}}, "spec": {"schedulingPolicy": {"basic": {}}}})");
  return api::Object::make(api::kinds::pod_group(), document->value);
}

TEST(GroupSpec, ReadsThePreferredTopology) {
  const auto group =
      read_group(with_annotations(R"("scheduling.muster.dev/preferred-topology": "rack",
      "scheduling.muster.dev/preferred-topology-wait": "1h30m")"),
                 {});
  EXPECT_EQ(group->preferred.key, "rack");
  EXPECT_EQ(group->preferred.wait, std::chrono::minutes{90});
  EXPECT_EQ(group->malformed, "");
  EXPECT_TRUE(group->has_topology());
}

TEST(GroupSpec, NamesTheAnnotationThatIsWrong) {
  const auto wrong = [](const std::string& annotations) {
    const auto group = read_group(with_annotations(annotations), {});
    EXPECT_FALSE(group->has_topology());
    return group->malformed;
  };
  EXPECT_EQ(wrong(R"("scheduling.muster.dev/preferred-topology": "a b")").substr(0, 72),
            R"(annotation scheduling.muster.dev/preferred-topology: "a b" is no label k)");
  EXPECT_EQ(wrong(R"("scheduling.muster.dev/preferred-topology": "rack",
                     "scheduling.muster.dev/preferred-topology-wait": "-1s")"),
            R"(annotation scheduling.muster.dev/preferred-topology-wait: "-1s" is no length of )"
            "time such as 10m");
  EXPECT_EQ(wrong(R"("scheduling.muster.dev/preferred-topology-wait": "1s")"),
            "annotation scheduling.muster.dev/preferred-topology-wait needs "
            "scheduling.muster.dev/preferred-topology");
}

TEST(GroupSpec, AGroupThatNamesNoPreemptionPolicyHasThatOfItsPods) {
  const auto policy = [](const std::string& spec) {
    const auto document =
        api::parse_json(R"({"metadata": {"name": "g", "namespace": "ns"}, "spec": )" + spec + "}");
    return read_group(api::Object::make(api::kinds::pod_group(), document->value), Gates())
        ->never_preempts;
  };
  EXPECT_EQ(policy(R"({"schedulingPolicy": {"gang": {"minCount": 2}}})"), std::nullopt);
  EXPECT_EQ(policy(R"({"preemptionPolicy": "Never"})"), true);
  EXPECT_EQ(policy(R"({"preemptionPolicy": "PreemptLowerPriority"})"), false);
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

TEST(SchedulesAlike, UnlessSomethingDiffersThatAnAttemptReads) {
  GroupSpec group;
  group.key = {GroupKind::PodGroup, "ns", "g"};
  GroupSpec with_object = group;
  with_object.object = make(api::kinds::pod_group());
  EXPECT_TRUE(schedules_alike(group, with_object)) << "as after a status write";
  struct Case {
    const char* field;
    void (*change)(GroupSpec&);
  };
  const Case cases[] = {
      {"parent", [](GroupSpec& one) { one.parent = "c"; }},
      {"gang", [](GroupSpec& one) { one.gang = true; }},
      {"minimum", [](GroupSpec& one) { one.minimum = 2; }},
      {"topology_key", [](GroupSpec& one) { one.topology_key = "rack"; }},
      {"preferred.key", [](GroupSpec& one) { one.preferred.key = "rack"; }},
      {"preferred.wait", [](GroupSpec& one) { one.preferred.wait = std::chrono::minutes{1}; }},
      {"placements", [](GroupSpec& one) { one.placements = "sets"; }},
      {"malformed", [](GroupSpec& one) { one.malformed = "wrong"; }},
      {"priority", [](GroupSpec& one) { one.priority = 1; }},
      {"disrupted_together", [](GroupSpec& one) { one.disrupted_together = true; }},
      {"declared_size", [](GroupSpec& one) { one.declared_size = 3; }},
      {"never_preempts", [](GroupSpec& one) { one.never_preempts = false; }},
      {"workload", [](GroupSpec& one) { one.workload = "w"; }},
      {"template_name", [](GroupSpec& one) { one.template_name = "t"; }},
      {"created", [](GroupSpec& one) { one.created = Time{std::chrono::seconds{1}}; }},
  };
  for (const Case& c : cases) {
    GroupSpec other = group;
    c.change(other);
    EXPECT_FALSE(schedules_alike(group, other)) << c.field;
  }
}

TEST(GroupSpec, ReadsHowManyPodsALeafWillHave) {
  const auto expected = [](const std::string& text) {
    return read_group(with_annotations(R"("scheduling.muster.dev/expected-pods": ")" + text + "\""),
                      {})
        ->declared_size;
  };
  EXPECT_EQ(expected("12"), 12);
  EXPECT_EQ(expected("0"), 0);
  EXPECT_EQ(expected("-3"), 0);
  EXPECT_EQ(expected("many"), 0);
  EXPECT_EQ(read_group(with_annotations(""), {})->declared_size, 0);
}

TEST(GroupSpec, OnlyALeafSaysHowManyPodsItWillHave) {
  const auto document = api::parse_json(
      R"({"metadata": {"name": "c", "namespace": "ns",
          "annotations": {"scheduling.muster.dev/expected-pods": "12"}}, "spec": {}})");
  const auto group =
      read_group(api::Object::make(api::kinds::composite_pod_group(), document->value), {});
  EXPECT_EQ(group->declared_size, 0);
}

TEST(GroupSpec, ABasicGroupNeedsOnePodAndAGangItsMinimum) {
  const auto basic = read_group(with_annotations(""), {});
  EXPECT_FALSE(basic->gang);
  EXPECT_EQ(basic->minimum, 1);
  EXPECT_EQ(basic->created, Time{});
  EXPECT_FALSE(basic->disrupted_together);
  EXPECT_TRUE(read_group(make(api::kinds::pod_group()), {})->gang);
}

TEST(GroupSpec, ItsKeyIsItsKindNamespaceAndName) {
  EXPECT_EQ(group_key(*make(api::kinds::pod_group())), (GroupKey{GroupKind::PodGroup, "ns", "g"}));
  EXPECT_EQ(group_key(*make(api::kinds::composite_pod_group())),
            (GroupKey{GroupKind::CompositePodGroup, "ns", "g"}));
  EXPECT_EQ(group_key(*make(api::kinds::workload())), std::nullopt);
}

TEST(GroupSpec, WasScheduledIfItsConditionSaysSo) {
  const auto was = [](const api::Kind& kind, const std::string& type, const std::string& status) {
    const auto document = api::parse_json(
        R"({"metadata": {"name": "g", "namespace": "ns"}, "spec": {}, "status": {"conditions": [)"
        R"({"type": ")" +
        type + R"(", "status": ")" + status + R"("}]}})");
    return was_scheduled(*read_group(api::Object::make(kind, document->value), {}));
  };
  const std::string of_leaf(scheduled_condition(GroupKind::PodGroup));
  const std::string of_composite(scheduled_condition(GroupKind::CompositePodGroup));
  EXPECT_NE(of_leaf, of_composite);
  EXPECT_TRUE(was(api::kinds::pod_group(), of_leaf, "True"));
  EXPECT_FALSE(was(api::kinds::pod_group(), of_leaf, "False"));
  EXPECT_FALSE(was(api::kinds::pod_group(), of_composite, "True"));
  EXPECT_TRUE(was(api::kinds::composite_pod_group(), of_composite, "True"));
  EXPECT_FALSE(was_scheduled(GroupSpec{})) << "there is no object";
}

}  // namespace
}  // namespace muster::scheduler
