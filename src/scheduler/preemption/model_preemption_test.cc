#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "scheduler/cycle/attempt.h"
#include "scheduler/cycle/model_testing.h"
#include "scheduler/preemption/preemption.h"

// Whom to evict depends on what is there, not on how it came: what the cluster keeps for the next
// search has followed every change.
namespace muster::scheduler {
namespace {

using api::ObjectPtr;
using model_testing::any;
using model_testing::change;
using model_testing::one_in;

std::string victims_of(const PreemptionPlan& plan) {
  std::string out = fmt::format("  {}, at least {}: {}\n", static_cast<int>(plan.answer),
                                plan.victims_at_least, plan.message);
  for (const PreemptionPlan::Place& one : plan.nominated)
    out += fmt::format("  {} waits on {}\n", one.pod->meta().uid, one.node);
  for (const VictimUnit& unit : plan.victims) {
    out += fmt::format("  unit of {}\n", unit.group ? unit.group->name : "a pod");
    for (const VictimUnit::Pod& one : unit.pods)
      out += fmt::format("    {} on {} exceeds '{}'\n", one.pod->meta().uid, one.node, one.exceeds);
  }
  for (const ObjectPtr& pod : plan.leaving) out += fmt::format("  {} ends\n", pod->meta().uid);
  return out;
}

// Whom each that waits would evict.
std::string victims(ClusterModel& model) {
  const PreemptionArgs args;
  std::string out;
  for (const GroupKey& root : model.roots()) {
    if (!model.runnable(root)) continue;
    const Group tree = model.build(root);
    model.count_nominated(tree);
    out += root.name + ":\n" + victims_of(preempt_for_group(model, tree, args, Time{}));
  }
  for (const ObjectPtr& pod : model.lone(PodRole::Waiting)) {
    const PendingPod pending{.pod = pod, .attempts = 0, .queued_at = Time{}, .nominated = {}};
    model.count_nominated(pending);
    if (attempt(model, pod).assignments.empty())
      out += pod->meta().name + ":\n" + victims_of(preempt_for_pod(model, pending, args, Time{}));
  }
  return out;
}

RC_GTEST_PROP(ModelPreemption, EvictsLikeOneBuiltFromTheSameObjects, ()) {
  const api::Gates gates = model_testing::any_gates();
  const auto live = model_testing::new_model(gates);
  model_testing::Objects objects;
  const bool about_others = !one_in(3);
  const int steps = 20 + any(100);
  for (int step = 0; step < steps; ++step) {
    change(*live, objects, about_others);
    if (one_in(8)) victims(*live);
  }
  RC_LOG() << model_testing::text_of(objects);
  const std::string expected = victims(*model_testing::built_from(objects, gates));
  RC_ASSERT(victims(*live->fork()) == expected);
  // A fork keeps no class only to save work; see the property of attempts.
  if (!about_others) RC_ASSERT(victims(*live) == expected);
}

}  // namespace
}  // namespace muster::scheduler
