#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/plugins/default_profile.h"

// H1: what a model answers depends on the objects it holds, not on how they came.
namespace muster::scheduler {
namespace {

using api::Gate;
using api::Gates;
using api::ObjectPtr;

// All objects by kind and name, as a list of them would show.
using World = std::map<std::string, ObjectPtr>;

std::string key_of(const ObjectPtr& object) {
  return object->kind().kind + "/" + object->meta().name;
}

int any(int below) { return *rc::gen::inRange(0, below); }
bool one_in(int n) { return any(n) == 0; }
std::string any_of(const std::vector<std::string>& texts) { return *rc::gen::elementOf(texts); }

// The same object under another uid, made at some time: names change hands.
ObjectPtr born(const ObjectPtr& object, const std::string& uid, int second) {
  api::Json document = object->document();
  api::JsonObject& metadata = api::ensure_object(document.as_object(), "metadata");
  metadata["uid"] = uid;
  metadata["creationTimestamp"] = fmt::format("2026-01-01T00:00:{:02}Z", second);
  return api::Object::make(object->kind(), document);
}

ObjectPtr any_node() {
  NodeSample node{.name = fmt::format("n{}", any(5)), .cpu = std::to_string(1 + any(4))};
  if (!one_in(5)) node.labels["rack"] = fmt::format("r{}", any(2));
  node.unschedulable = one_in(8);
  if (one_in(8)) node.taints = R"([{"key":"k","value":"v","effect":"NoSchedule"}])";
  return node.make();
}

// A pod in any phase of its life, of any group or none.
ObjectPtr any_pod() {
  const std::string name = fmt::format("p{}", any(12));
  PodSample pod{.name = name, .cpu = std::to_string(1 + any(2))};
  if (!one_in(4)) pod.group = fmt::format("g{}", any(4));
  if (one_in(12)) pod.priority = 1;
  std::vector<std::string> spec;
  if (one_in(12)) spec.emplace_back(R"("schedulerName":"other")");
  if (one_in(8)) spec.emplace_back(R"("schedulingGates":[{"name":"wait"}])");
  if (one_in(12)) spec.emplace_back(R"("preemptionPolicy":"Never")");
  pod.spec = fmt::format("{}", fmt::join(spec, ","));
  const int phase = any(10);
  if (phase >= 5) pod.node_name = fmt::format("n{}", any(6));
  if (phase == 7) pod.status = R"("phase":"Succeeded")";
  if (phase == 8) pod.status = R"("phase":"Failed")";
  pod.terminating = one_in(8);
  return born(pod.make(), fmt::format("{}-{}", name, any(2)), any(3));
}

ObjectPtr any_group(bool is_leaf) {
  const std::string name = is_leaf ? fmt::format("g{}", any(4)) : fmt::format("c{}", any(3));
  std::string spec = fmt::format(R"("schedulingPolicy":{{"gang":{{"{}":{}}}}},"priority":{})",
                                 is_leaf ? "minCount" : "minGroupCount", 1 + any(is_leaf ? 3 : 2),
                                 one_in(12) ? 1 : 0);
  if (one_in(3)) spec += R"(,"schedulingConstraints":{"topology":[{"key":"rack"}]})";
  if (one_in(6)) spec += R"(,"preemptionPolicy":"Never")";
  // Out of order, missing, in a circle: whatever comes.
  if (!one_in(3)) spec += fmt::format(R"(,"parentCompositePodGroupName":"c{}")", any(4));
  if (one_in(2))
    spec += fmt::format(R"(,"workloadRef":{{"workloadName":"w","templateName":"{}"}})",
                        any_of({"root", "leaf"}));
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{{}}},"status":{{}}}})", name,
      spec));
  const ObjectPtr made = api::Object::make(
      is_leaf ? api::kinds::pod_group() : api::kinds::composite_pod_group(), document->value);
  return born(made, fmt::format("{}-{}", name, any(2)), any(3));
}

ObjectPtr any_workload() {
  const std::string leaf = R"("podGroupTemplates":[{"name":"leaf"}])";
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"w","namespace":"default","uid":"w"}},"spec":{{{}}}}})",
      one_in(2) ? leaf
                : fmt::format(R"("compositePodGroupTemplates":[{{"name":"root",{}}}])", leaf)));
  return api::Object::make(api::kinds::workload(), document->value);
}

ObjectPtr any_object() {
  switch (any(8)) {
    case 0: return any_node();
    case 1: return any_group(true);
    case 2: return any_group(false);
    case 3: return one_in(3) ? any_workload() : any_node();
    default: return any_pod();
  }
}

Gates any_gates() {
  Gates gates;
  if (one_in(8)) gates = gates.without(Gate::CompositePodGroup);
  if (one_in(8)) gates = gates.without(Gate::TopologyAwareWorkloadScheduling);
  if (one_in(4)) gates = gates.without(Gate::PodGroupPreemptionPolicy);
  if (one_in(16)) gates = gates.without(Gate::GenericWorkload);
  return gates;
}

std::unique_ptr<ClusterModel> new_model(const Gates& gates) {
  ModelOptions options;
  options.gates = gates;
  return std::make_unique<ClusterModel>(default_profile(), options);
}

std::unique_ptr<ClusterModel> built_from(const World& world, const Gates& gates) {
  auto model = new_model(gates);
  for (const auto& [key, object] : world) model->put(object);
  return model;
}

// Puts or deletes an object, in the model and in the world.
void change(ClusterModel& model, World& world) {
  const ObjectPtr object = any_object();
  if (one_in(4)) {
    const auto at = world.find(key_of(object));
    if (at == world.end()) return;
    model.remove(*at->second);
    world.erase(at);
    return;
  }
  model.put(object);
  world[key_of(object)] = object;
}

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

// Decides, assumes and takes it back, as when every binding fails.
void try_in_vain(ClusterModel& model) {
  for (const GroupKey& root : model.roots()) {
    if (!model.runnable(root)) continue;
    const Plan plan = attempt(model, root);
    for (const Assignment& one : plan.assignments) model.assume(one.pod, one.node);
    for (const Assignment& one : plan.assignments) RC_ASSERT(model.forget(*one.pod) == one.pod);
  }
}

RC_GTEST_PROP(Model, AnswersLikeOneBuiltFromTheSameObjects, ()) {
  const Gates gates = any_gates();
  const auto live = new_model(gates);
  World world;
  const int steps = 20 + any(60);
  for (int step = 0; step < steps; ++step) {
    change(*live, world);
    if (one_in(8)) try_in_vain(*live);
  }
  const auto fresh = built_from(world, gates);
  const std::string difference = live->cluster().difference(fresh->cluster());
  RC_ASSERT(difference == "");
  RC_ASSERT(answers(*live) == answers(*fresh));
}

RC_GTEST_PROP(Model, AForkThatIsEditedAnswersLikeOneBuiltWithTheEdit, ()) {
  const Gates gates = any_gates();
  const auto live = new_model(gates);
  World world;
  for (int step = 0; step < 40; ++step) change(*live, world);
  const std::string before = answers(*live);
  const auto fork = live->fork();
  RC_ASSERT(answers(*fork) == before);
  World edited = world;
  const int edits = 1 + any(8);
  for (int edit = 0; edit < edits; ++edit) change(*fork, edited);
  RC_ASSERT(answers(*fork) == answers(*built_from(edited, gates)));
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
