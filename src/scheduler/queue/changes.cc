#include "scheduler/queue/changes.h"

#include <map>
#include <string_view>

#include "api/views/amounts.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"

namespace muster::scheduler {

namespace {

using api::Amounts;

// Whether `b` asks for less of something than `a` does. Absent means 0, so that removed is less.
bool asks_less(const Amounts& a, const Amounts& b) {
  if (b.cpu_milli < a.cpu_milli || b.memory < a.memory || b.ephemeral_storage < a.ephemeral_storage)
    return true;
  for (const auto& [name, amount] : a.scalars)
    if (b.of(name) < amount) return true;
  return false;
}

std::map<std::string_view, std::string_view> statuses(
    const std::vector<api::Condition>& conditions) {
  std::map<std::string_view, std::string_view> out;
  for (const api::Condition& condition : conditions) out[condition.type] = condition.status;
  return out;
}

}  // namespace

std::vector<ClusterEvent> node_changes(const api::ObjectPtr& before, const api::ObjectPtr& after) {
  std::vector<ClusterEvent> out;
  const auto add = [&](Action action) { out.push_back({Resource::Node, action, before, after}); };
  const auto& was = before->view<api::NodeView>();
  const auto& is = after->view<api::NodeView>();
  const bool uncordoned = was.unschedulable && !is.unschedulable;
  if (uncordoned) add(Action::UpdateNodeTaint);
  if (was.allocatable != is.allocatable || was.allocatable_pods != is.allocatable_pods)
    add(Action::UpdateNodeAllocatable);
  if (before->meta().labels != after->meta().labels) add(Action::UpdateNodeLabel);
  if (was.taints != is.taints && !uncordoned) add(Action::UpdateNodeTaint);
  if (statuses(was.conditions) != statuses(is.conditions)) add(Action::UpdateNodeCondition);
  if (before->meta().annotations != after->meta().annotations) add(Action::UpdateNodeAnnotation);
  if (was.declared_features != is.declared_features) add(Action::UpdateNodeDeclaredFeature);
  return out;
}

std::vector<ClusterEvent> pod_changes(const api::ObjectPtr& before, const api::ObjectPtr& after,
                                      Resource resource) {
  std::vector<ClusterEvent> out;
  const auto add = [&](Action action) { out.push_back({resource, action, before, after}); };
  const auto& was = before->view<api::PodView>();
  const auto& is = after->view<api::PodView>();
  if (before->meta().labels != after->meta().labels) add(Action::UpdatePodLabel);
  if (asks_less(was.needs.usage, is.needs.usage)) add(Action::UpdatePodScaleDown);
  if (asks_less(is.needs.usage, was.needs.usage)) add(Action::UpdatePodScaleUp);
  if (!was.scheduling_gates.empty() && is.scheduling_gates.empty())
    add(Action::UpdatePodSchedulingGatesEliminated);
  if (was.needs.tolerations.size() != is.needs.tolerations.size()) add(Action::UpdatePodToleration);
  return out;
}

}  // namespace muster::scheduler
