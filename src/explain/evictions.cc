#include "explain/evictions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "scheduler/preemption/preemption.h"

namespace muster::explain {
namespace {

using scheduler::ExtensionPoint;
using scheduler::PreemptionPlan;

constexpr std::size_t kNamesMax = 8;

std::string sentence(const PreemptionPlan& plan, const Naming& naming) {
  if (plan.answer == PreemptionPlan::Answer::Waits)
    return "It waits for pods that are ending already.";
  if (plan.answer != PreemptionPlan::Answer::Preempts) return {};
  std::vector<std::string> names;
  std::size_t unnamed = 0;
  for (const scheduler::VictimUnit& unit : plan.victims)
    for (const scheduler::VictimUnit::Pod& pod : unit.pods) {
      const api::ObjectMeta& meta = pod.pod->meta();
      if (naming.may_name(meta.name_space))
        names.push_back(api::key_text(meta));
      else
        ++unnamed;
    }
  if (unnamed > 0) names.push_back(fmt::format("{} in other namespaces", unnamed));
  const std::size_t count = names.size() + unnamed - (unnamed > 0 ? 1 : 0);
  if (names.size() > kNamesMax) {
    const std::size_t more = names.size() - kNamesMax;
    names.resize(kNamesMax);
    names.push_back(fmt::format("and {} more", more));
  }
  return fmt::format("It may preempt: {} of lower priority would go, at least {} must: {}.",
                     count == 1 ? "1 pod" : fmt::format("{} pods", count), plan.victims_at_least,
                     fmt::join(names, ", "));
}

}  // namespace

std::string evictions_for(scheduler::ClusterModel& model, const scheduler::GroupKey& root, Time now,
                          const Naming& naming) {
  if (!model.runnable(root)) return {};
  const scheduler::Group tree = model.build(root);
  const scheduler::Profile& profile = model.profile_of(tree);
  if (profile.group_post_filters().empty()) return {};
  model.count_nominated(tree);
  return sentence(make_room_for_group(model, tree, now), naming);
}

std::string evictions_for(scheduler::ClusterModel& model, const api::ObjectPtr& pod, Time now,
                          const Naming& naming) {
  const scheduler::Profile& profile = model.profile_of(*pod);
  if (!profile.runs("DefaultPreemption", ExtensionPoint::PostFilter)) return {};
  const scheduler::PendingPod pending{pod, 0, {}, model.nominations().node_of(pod->meta().uid)};
  model.count_nominated(pending);
  return sentence(preempt_for_pod(model, pending, profile.settings().preemption, now), naming);
}

}  // namespace muster::explain
