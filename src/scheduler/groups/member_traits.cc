#include "scheduler/groups/member_traits.h"

#include <string>

#include "api/views/pod_view.h"
#include "base/check.h"

namespace muster::scheduler {

bool TraitsBook::change(const api::Object* before, const api::Object* after) {
  bool is_other = false;
  // Counted in first: what the member asks for now as before never goes.
  if (after != nullptr && count(*after, +1)) is_other = true;
  if (before != nullptr && count(*before, -1)) is_other = true;
  return is_other;
}

bool TraitsBook::count(const api::Object& pod, std::int64_t change) {
  const auto& view = pod.view<api::PodView>();
  if (view.scheduling_group.empty() || view.is_terminal()) return false;
  const GroupKey key{GroupKind::PodGroup, pod.meta().name_space, view.scheduling_group};
  Counts& counts = groups_[key];
  const MemberTraits traits{view.scheduler_name, view.priority, view.never_preempts};
  std::int64_t& count = counts[traits];
  count += change;
  CHECK_THAT(count >= 0, "{}/{} has {} members of a kind", key.name_space, key.name, count);
  const bool is_other = count == 0 || (count == 1 && change > 0);
  if (count == 0) counts.erase(traits);
  if (counts.empty()) groups_.erase(key);
  return is_other;
}

bool TraitsBook::agree(const GroupKey& group, const GroupSpec& root) const {
  const auto at = groups_.find(group);
  if (at == groups_.end()) return true;
  if (at->second.size() > 1) return false;
  const MemberTraits& traits = at->second.begin()->first;
  return traits.priority == root.priority &&
         traits.never_preempts == root.never_preempts.value_or(traits.never_preempts);
}

std::vector<MemberTraits> TraitsBook::of(std::string_view name_space,
                                         std::string_view group) const {
  std::vector<MemberTraits> out;
  const auto at = groups_.find({GroupKind::PodGroup, std::string(name_space), std::string(group)});
  if (at == groups_.end()) return out;
  for (const auto& [traits, count] : at->second) out.push_back(traits);
  return out;
}

}  // namespace muster::scheduler
