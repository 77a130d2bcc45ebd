#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/cycle/model_testing.h"
#include "scheduler/framework/binding_plugin.h"
#include "scheduler/plugins/default_profile.h"

// H1: what a model answers depends on the objects it holds, not on how they came.
namespace muster::scheduler {
namespace {

using api::Gates;
using api::ObjectPtr;
using model_testing::any;
using model_testing::any_gates;
using model_testing::built_from;
using model_testing::change;
using model_testing::new_model;
using model_testing::Objects;
using model_testing::one_in;

std::string text_of(const Plan& plan) {
  std::string out;
  for (const Assignment& one : plan.assignments)
    out += fmt::format("  {} -> {}\n", one.pod->meta().uid, one.node);
  for (const Refusal& one : plan.refusals)
    out += fmt::format("  {} refused ({}): {} by {}\n", one.pod->meta().uid,
                       static_cast<int>(one.outcome), one.message, fmt::join(one.plugins, ","));
  for (const GroupVerdict& one : plan.groups) {
    out += fmt::format("  {}/{} ({}) in '{}': {}\n", static_cast<int>(one.key.kind), one.key.name,
                       static_cast<int>(one.outcome), one.domain, one.message);
    for (const DomainBound& bound : one.bounds)
      out += fmt::format("    '{}' {} {} {}\n", bound.domain, bound.fits_at_most, bound.needed,
                         bound.ready);
  }
  return out;
}

// Every attempt that could be made, and what keeps the others from being made.
std::string answers(ClusterModel& model) {
  std::string out;
  for (const GroupKey& root : model.roots()) model.compare(root);
  for (const GroupKey& root : model.roots()) {
    out += fmt::format("{}/{}: {}\n", static_cast<int>(root.kind), root.name,
                       model.fault(root) != nullptr ? "invalid" : "valid");
    if (model.runnable(root)) out += text_of(attempt(model, root));
  }
  for (const ObjectPtr& pod : model.lone(PodRole::Waiting))
    out += pod->meta().name + ":\n" + text_of(attempt(model, pod));
  return out;
}

// Decides, holds what the pods need, assumes and takes it back, as when every binding fails.
void carry_out_in_vain(ClusterModel& model, const Plan& plan) {
  bool is_held = true;
  for (const Assignment& one : plan.assignments)
    for (const auto& entry : model.profile_of(*one.pod).reserves())
      is_held =
          is_held && entry.plugin->reserve(one.pod, one.node, model.cluster()).refusal.empty();
  if (is_held)
    for (const Assignment& one : plan.assignments) model.assume(one.pod, one.node);
  for (const Assignment& one : plan.assignments)
    for (const auto& entry : model.profile_of(*one.pod).reserves())
      entry.plugin->unreserve(one.pod, model.cluster());
  if (is_held)
    for (const Assignment& one : plan.assignments) RC_ASSERT(model.forget(*one.pod) == one.pod);
}

void try_in_vain(ClusterModel& model) {
  for (const GroupKey& root : model.roots())
    if (model.runnable(root)) carry_out_in_vain(model, attempt(model, root));
  for (const ObjectPtr& pod : model.lone(PodRole::Waiting))
    carry_out_in_vain(model, attempt(model, pod));
}

RC_GTEST_PROP(Model, AnswersLikeOneBuiltFromTheSameObjects, ()) {
  const Gates gates = any_gates();
  const auto live = new_model(gates);
  Objects objects;
  const bool about_others = !one_in(3);
  const int steps = 20 + any(100);
  for (int step = 0; step < steps; ++step) {
    change(*live, objects, about_others);
    if (one_in(8)) try_in_vain(*live);
  }
  const auto fresh = built_from(objects, gates);
  live->nominations().count_nobody();
  const std::string difference = live->cluster().difference(fresh->cluster());
  RC_LOG() << model_testing::text_of(objects);
  RC_ASSERT(difference == "");
  const std::string expected = answers(*fresh);
  RC_ASSERT(answers(*live->fork()) == expected);
  // Classes that are kept to save work may ask about others when nobody does any more, and less can
  // be proven then. A fork keeps none.
  if (!about_others) RC_ASSERT(answers(*live) == expected);
}

RC_GTEST_PROP(Model, AForkThatIsEditedAnswersLikeOneBuiltWithTheEdit, ()) {
  const Gates gates = any_gates();
  const auto live = new_model(gates);
  Objects objects;
  for (int step = 0; step < 40; ++step) change(*live, objects);
  const std::string before = answers(*live);
  const auto fork = live->fork();
  RC_ASSERT(answers(*fork) == before);
  Objects edited = objects;
  const int edits = 1 + any(8);
  for (int edit = 0; edit < edits; ++edit) change(*fork, edited);
  RC_ASSERT(answers(*fork->fork()) == answers(*built_from(edited, gates)));
  RC_ASSERT(answers(*live) == before);
}

TEST(Model, CountsWhatIsAssumedUntilItIsConfirmedOrForgotten) {
  ClusterModel model(default_profile(), {});
  model.put(NodeSample{.name = "n1", .cpu = "1"}.make());
  const ObjectPtr a = PodSample{.name = "a", .cpu = "1"}.make();
  const ObjectPtr b = PodSample{.name = "b", .cpu = "1"}.make();
  model.put(a);
  model.put(b);
  model.assume(a, "n1");
  EXPECT_EQ(model.assumed_node(a->meta().uid), "n1");
  EXPECT_TRUE(attempt(model, b).assignments.empty());
  const auto fork = model.fork();
  EXPECT_EQ(model.forget(*a), a);
  EXPECT_EQ(attempt(model, b).assignments.size(), 1U);
  EXPECT_TRUE(attempt(*fork, b).assignments.empty()) << "the fork keeps what it was forked with";
  fork->put(PodSample{.name = "a", .cpu = "1", .node_name = "n1"}.make());
  EXPECT_EQ(fork->assumed_node(a->meta().uid), "");
  EXPECT_EQ(fork->forget(*a), nullptr) << "the API has the last word";
  EXPECT_TRUE(attempt(*fork, b).assignments.empty());
}

TEST(Model, APodThatTerminatesBeforeItIsBoundGivesItsNodeBack) {
  ClusterModel model(default_profile(), {});
  model.put(NodeSample{.name = "n1", .cpu = "1"}.make());
  const ObjectPtr a = PodSample{.name = "a", .cpu = "1"}.make();
  const ObjectPtr b = PodSample{.name = "b", .cpu = "1"}.make();
  model.put(a);
  model.put(b);
  model.assume(a, "n1");
  EXPECT_TRUE(attempt(model, b).assignments.empty());
  model.put(PodSample{.name = "a", .cpu = "1", .terminating = true}.make());
  EXPECT_EQ(model.assumed_node(a->meta().uid), "");
  EXPECT_EQ(attempt(model, b).assignments.size(), 1U);
}

ObjectPtr group_of(const std::string& name, const std::string& spec,
                   const std::string& annotations = "") {
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default","annotations":{{{}}}}},"spec":{{{}}},"status":{{}}}})",
      name, annotations, spec));
  return api::Object::make(api::kinds::pod_group(), document->value);
}

GroupKey key_of(const std::string& leaf) { return {GroupKind::PodGroup, "default", leaf}; }

constexpr const char* kGangOfOne = R"("schedulingPolicy":{"gang":{"minCount":1}})";

TEST(Model, ListsWaitingPodsInTheOrderOfTheQueue) {
  ClusterModel model(default_profile(), {});
  using model_testing::born;
  model.put(born(PodSample{.name = "b"}.make(), "b", 1));
  model.put(born(PodSample{.name = "late"}.make(), "late", 2));
  model.put(born(PodSample{.name = "a"}.make(), "a", 1));
  model.put(born(PodSample{.name = "high", .priority = 1}.make(), "high", 3));
  std::string names;
  for (const ObjectPtr& pod : model.lone(PodRole::Waiting)) names += pod->meta().name + " ";
  EXPECT_EQ(names, "high a b late ");
}

TEST(Model, RoomKeptForATreeDoesNotCountAgainstIt) {
  ClusterModel model(default_profile(), {});
  model.put(NodeSample{.name = "n1", .cpu = "1"}.make());
  model.put(group_of("g", kGangOfOne));
  model.put(PodSample{.name = "a", .cpu = "1", .nominated_node = "n1", .group = "g"}.make());
  model.put(PodSample{.name = "lone", .cpu = "1"}.make());
  EXPECT_TRUE(attempt(model, model.pod("default", "lone")).assignments.empty());
  EXPECT_EQ(attempt(model, key_of("g")).assignments.size(), 1U);
}

TEST(Model, MembersThatShareAClaimForOnePodDoNotRunTogether) {
  ClusterModel model(default_profile(), {});
  for (const char* name : {"n1", "n2"}) model.put(NodeSample{.name = name}.make());
  model.put(ClassSample{}.make());
  model.put(VolumeSample{.name = "v", .claim = "c"}.make());
  model.put(ClaimSample{.name = "c", .volume = "v", .mode = "ReadWriteOncePod"}.make());
  model.put(group_of("g", R"("schedulingPolicy":{"gang":{"minCount":2}})"));
  model.put(PodSample{.name = "a", .group = "g", .spec = mounts({"c"})}.make());
  model.put(PodSample{.name = "b", .group = "g", .spec = mounts({"d"})}.make());
  model.put(ClaimSample{.name = "d"}.make());
  EXPECT_EQ(attempt(model, key_of("g")).assignments.size(), 2U);
  model.put(PodSample{.name = "b", .group = "g", .spec = mounts({"c"})}.make());
  EXPECT_TRUE(attempt(model, key_of("g")).assignments.empty());
}

TEST(Model, AGroupOfAnotherPriorityClassIsJudgedAgain) {
  ClusterModel model(default_profile(), {});
  const auto composite = api::parse_json(
      R"({"metadata":{"name":"c","namespace":"default"},"spec":{"schedulingPolicy":{"basic":{}},"priorityClassName":"high"}})");
  model.put(api::Object::make(api::kinds::composite_pod_group(), composite->value));
  const std::string child = std::string(kGangOfOne) + R"(,"parentCompositePodGroupName":"c")";
  model.put(group_of("g", child + R"(,"priorityClassName":"high")"));
  EXPECT_EQ(model.fault(key_of("g")), nullptr);
  model.put(group_of("g", child + R"(,"priorityClassName":"urgent")"));
  EXPECT_NE(model.fault(key_of("g")), nullptr);
}

TEST(Model, PodsOfAnInvalidGroupAreNotTriedOneByOne) {
  ClusterModel model(default_profile(), {});
  constexpr const char* kBasic = R"("schedulingPolicy":{"basic":{}})";
  model.put(group_of("g", kBasic));
  model.put(PodSample{.name = "a", .group = "g"}.make());
  EXPECT_TRUE(model.loose(key_of("g")));
  model.put(group_of("g", kBasic, R"("scheduling.muster.dev/preferred-topology":"no label")"));
  EXPECT_FALSE(model.loose(key_of("g")));
}

TEST(Model, AGroupInsistsOnItsPreferredDomainFromItsOldestPodOn) {
  ClusterModel model(default_profile(), {});
  model.put(group_of("g", kGangOfOne,
                     R"("scheduling.muster.dev/preferred-topology":"rack",)"
                     R"("scheduling.muster.dev/preferred-topology-wait":"10m")"));
  using model_testing::born;
  const ObjectPtr young = born(PodSample{.name = "a", .group = "g"}.make(), "a", 9);
  const ObjectPtr old = born(PodSample{.name = "b", .group = "g"}.make(), "b", 4);
  const auto fill = [&](const GroupKey&, std::vector<PendingPod>& pods) {
    for (const ObjectPtr& pod : {young, old})
      pods.push_back({.pod = pod, .attempts = 0, .queued_at = {}, .nominated = {}});
  };
  model.put(young);
  model.put(old);
  const Time end = *old->meta().creation_time + std::chrono::minutes{10};
  EXPECT_EQ(model.build(key_of("g"), fill, end - Duration{1}).insists_until, end);
  EXPECT_EQ(model.build(key_of("g"), fill, end).insists_until, std::nullopt);
}

TEST(Model, ATreeIsComparedWithItsWorkloadUntilItWasScheduled) {
  ClusterModel model(default_profile(), {});
  const std::string spec =
      std::string(kGangOfOne) + R"(,"workloadRef":{"workloadName":"w","templateName":"t"})";
  model.put(group_of("g", spec));
  const ObjectPtr pod = model_testing::born(PodSample{.name = "a", .group = "g"}.make(), "a", 4);
  model.put(pod);
  EXPECT_EQ(model.comparison_due(key_of("g"), Time{}),
            *pod->meta().creation_time + model.options().compare_patience);
  api::Json scheduled = group_of("g", spec)->document();
  scheduled.as_object()["status"] = api::JsonObject{
      {"conditions",
       api::JsonArray{api::JsonObject{
           {"type", "PodGroupInitiallyScheduled"}, {"status", "True"}, {"reason", "Scheduled"}}}}};
  model.put(api::Object::make(api::kinds::pod_group(), scheduled));
  EXPECT_EQ(model.comparison_due(key_of("g"), Time{}), std::nullopt);
}

// H1: members that are not queued have a say, here through the traits of a running one.
TEST(Model, AttemptsCarryTheTraitsOfAllMembers) {
  ClusterModel model(default_profile(), {});
  model.put(NodeSample{.name = "n1"}.make());
  const auto document = api::parse_json(
      R"({"metadata":{"name":"g","namespace":"default"},"spec":{"schedulingPolicy":{"gang":{"minCount":1}}},"status":{}})");
  model.put(api::Object::make(api::kinds::pod_group(), document->value));
  model.put(PodSample{.name = "new", .cpu = "1", .group = "g"}.make());
  model.put(PodSample{.name = "old",
                      .cpu = "1",
                      .node_name = "n1",
                      .group = "g",
                      .spec = R"("schedulerName":"other")"}
                .make());
  const Plan plan = attempt(model, GroupKey{GroupKind::PodGroup, "default", "g"});
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].outcome, Outcome::Error);
}

}  // namespace
}  // namespace muster::scheduler
