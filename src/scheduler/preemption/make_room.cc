#include "scheduler/preemption/preemption.h"

namespace muster::scheduler {

PreemptionPlan make_room_for_group(ClusterModel& model, const Group& root, Time now) {
  const Profile& profile = model.profile_of(root);
  PreemptionPlan plan;
  for (const auto& entry : profile.group_post_filters()) {
    std::string before = std::move(plan.message);
    const std::uint64_t steps = plan.steps;
    plan = entry.plugin == nullptr
               ? preempt_for_group(model, root, profile.settings().preemption, now)
               : entry.plugin->make_room(model, root, now);
    plan.steps += steps;
    if (plan.found()) break;
    if (!before.empty() && !plan.message.empty()) before += ", ";
    plan.message.insert(0, before);
  }
  return plan;
}

}  // namespace muster::scheduler
