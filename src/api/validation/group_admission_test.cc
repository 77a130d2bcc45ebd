#include "api/validation/group_admission.h"

#include "api/validation/workloads_testing.h"

namespace muster::api {
namespace {

const std::vector<PriorityClassFacts> kClasses = {
    {.name = "train-high", .value = 100000, .preemption_policy = "PreemptLowerPriority"},
    {.name = "polite", .value = 10, .preemption_policy = "Never"},
    {.name = "system-cluster-critical", .value = 2'000'000'000, .preemption_policy = ""},
};

Json yaml(std::string_view text) {
  Result<ParsedJson> parsed = parse_yaml(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? std::move(parsed->value) : Json();
}

struct Case {
  std::string_view spec;
  std::string_view want;  // the spec afterwards, or the sentence of the refusal
};

TEST(GroupAdmission, SettlesPriorityClassAndPolicy) {
  constexpr Case kCases[] = {
      {"{}", "{priority: 0, preemptionPolicy: PreemptLowerPriority}"},
      {"{priorityClassName: train-high}",
       "{priorityClassName: train-high, priority: 100000, preemptionPolicy: PreemptLowerPriority}"},
      {"{priorityClassName: train-high, priority: 100000}",
       "{priorityClassName: train-high, priority: 100000, preemptionPolicy: PreemptLowerPriority}"},
      // Ours: upstream refuses this, as its default has already spoken for the group (I11).
      {"{priorityClassName: polite}",
       "{priorityClassName: polite, priority: 10, preemptionPolicy: Never}"},
      {"{priorityClassName: polite, preemptionPolicy: Never}",
       "{priorityClassName: polite, priority: 10, preemptionPolicy: Never}"},
      // Validation then refuses a priority that high (I10).
      {"{priorityClassName: system-cluster-critical}",
       "{priorityClassName: system-cluster-critical, priority: 2000000000, preemptionPolicy: "
       "PreemptLowerPriority}"},
  };
  for (const Case& c : kCases) {
    Json group(JsonObject{{"spec", yaml(c.spec)}});
    const Result<void> settled = resolve_group_priority(group, kClasses, kPodGroupNoun, Gates());
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_EQ(*find(group, "spec"), yaml(c.want)) << c.spec;
  }
}

TEST(GroupAdmission, RefusesWhatContradictsTheClass) {
  constexpr Case kCases[] = {
      {"{priorityClassName: nope}", "no PriorityClass with name nope was found"},
      {"{priorityClassName: train-high, priority: 7}",
       "priority set in the pod group (7) must match the priority computed (100000) based on the "
       "priority class set in the spec"},
      {"{priority: 7}",
       "priority set in the pod group (7) must match the priority computed (0) based on the "
       "priority class set in the spec"},
      {"{priorityClassName: polite, preemptionPolicy: PreemptLowerPriority}",
       "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod "
       "group spec; priority admission controller computed Never from the given PriorityClass "
       "name"},
      {"{preemptionPolicy: Maybe}",
       "the string value of PreemptionPolicy (Maybe) must not be provided in pod group spec; "
       "priority admission controller computed PreemptLowerPriority from the given PriorityClass "
       "name"},
  };
  for (const Case& c : kCases) {
    Json group(JsonObject{{"spec", yaml(c.spec)}});
    const Result<void> settled = resolve_group_priority(group, kClasses, kPodGroupNoun, Gates());
    ASSERT_FALSE(settled) << c.spec;
    EXPECT_EQ(settled.error().reason, Reason::Forbidden);
    EXPECT_EQ(settled.error().message, c.want);
  }
  Json composite = yaml("{spec: {priority: 7, preemptionPolicy: Never}}");
  EXPECT_EQ(resolve_group_priority(composite, {}, kCompositePodGroupNoun, Gates()).error().message,
            "priority set in the composite pod group (7) must match the priority computed (0) "
            "based on the priority class set in the spec");
}

TEST(GroupAdmission, TheLowestGlobalDefaultIsTaken) {
  const std::vector<PriorityClassFacts> classes = {
      {.name = "b", .value = 5, .preemption_policy = "", .global_default = true},
      {.name = "a", .value = 3, .preemption_policy = "Never", .global_default = true},
      {.name = "c", .value = 1, .preemption_policy = ""}};
  Json group = yaml("{spec: {}}");
  ASSERT_TRUE(resolve_group_priority(group, classes, kPodGroupNoun, Gates()));
  EXPECT_EQ(group, yaml("{spec: {priorityClassName: a, priority: 3, preemptionPolicy: Never}}"));
}

TEST(GroupAdmission, WithoutTheGateNothingIsSaidOfPreemption) {
  Json group = yaml("{spec: {priorityClassName: polite, preemptionPolicy: Maybe}}");
  ASSERT_TRUE(resolve_group_priority(group, kClasses, kPodGroupNoun,
                                     Gates().without(Gate::PodGroupPreemptionPolicy)));
  EXPECT_EQ(group, yaml("{spec: {priorityClassName: polite, priority: 10, preemptionPolicy: "
                        "Maybe}}"));
}

TEST(GroupAdmission, APutWithoutAPreemptionPolicyKeepsIt) {
  const Json old = yaml("{spec: {preemptionPolicy: Never}}");
  Json now = yaml("{spec: {priority: 1}}");
  keep_preemption_policy(now, old, Gates().without(Gate::PodGroupPreemptionPolicy));
  EXPECT_EQ(now, yaml("{spec: {priority: 1}}"));
  keep_preemption_policy(now, old, Gates());
  EXPECT_EQ(now, yaml("{spec: {priority: 1, preemptionPolicy: Never}}"));
  now = yaml("{spec: {preemptionPolicy: PreemptLowerPriority}}");
  keep_preemption_policy(now, old, Gates());
  EXPECT_EQ(now, yaml("{spec: {preemptionPolicy: PreemptLowerPriority}}"));
}

TEST(GroupAdmission, AddsAFinalizerOnce) {
  Json group = yaml("{metadata: {finalizers: [a/b]}}");
  add_finalizer(group, "c/d");
  add_finalizer(group, "c/d");
  EXPECT_EQ(group, yaml("{metadata: {finalizers: [a/b, c/d]}}"));
}

}  // namespace
}  // namespace muster::api
