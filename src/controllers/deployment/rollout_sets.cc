#include "controllers/deployment/rollout_sets.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace muster::controllers {
namespace {

using api::DeploymentView;
using api::ReplicaSetView;

// Older first.
auto age(const api::Object& set) {
  return std::make_tuple(set.meta().creation_time.value_or(Time{}),
                         std::string_view(set.meta().name));
}

void resize(RolloutSet& set, std::int64_t replicas) {
  set.sized = true;
  set.replicas = replicas;
}

std::int64_t available(const RolloutSets& sets) {
  std::int64_t sum = sets.newest ? sets.newest->status().available : 0;
  for (const RolloutSet& set : sets.old) sum += set.status().available;
  return sum;
}

// Has all pods of the Deployment, for the size it has now.
bool is_saturated(const DeploymentView& deployment, const RolloutSets& sets) {
  if (!sets.newest || sets.newest->object == nullptr) return false;
  const RolloutSet& set = *sets.newest;
  return set.replicas == deployment.replicas && set.status().available == deployment.replicas &&
         annotated_number(*set.object, kDesiredReplicas) == deployment.replicas;
}

// By how much the set would change if all kept their share.
std::int64_t share(const DeploymentView& deployment, const RolloutSet& set) {
  if (deployment.replicas == 0) return -set.replicas;
  std::int64_t before = annotated_number(*set.object, kMaxReplicas).value_or(0);
  if (before <= 0) before = deployment.status.replicas;
  if (before <= 0) return 0;
  const std::int64_t after = deployment.replicas + max_surge(deployment);
  return (2 * set.replicas * after + before) / (2 * before) - set.replicas;
}

// The largest first; of equal ones the newer if pods are added, the older if they are taken away.
void sort_by_size(std::vector<RolloutSet*>& sets, bool newer_first) {
  std::ranges::sort(sets, [newer_first](const RolloutSet* a, const RolloutSet* b) {
    if (a->replicas != b->replicas) return a->replicas > b->replicas;
    return newer_first ? age(*b->object) < age(*a->object) : age(*a->object) < age(*b->object);
  });
}

void share_out(const DeploymentView& deployment, std::vector<RolloutSet*> active) {
  std::int64_t sum = 0;
  for (const RolloutSet* set : active) sum += set->replicas;
  const std::int64_t allowed =
      deployment.replicas > 0 ? deployment.replicas + max_surge(deployment) : 0;
  const std::int64_t to_add = allowed - sum;
  sort_by_size(active, to_add > 0);
  std::int64_t added = 0;
  std::vector<std::int64_t> sizes;
  for (const RolloutSet* set : active) {
    const std::int64_t part = to_add == 0 || added == to_add ? 0 : share(deployment, *set);
    const std::int64_t bounded =
        to_add > 0 ? std::min(part, to_add - added) : std::max(part, to_add - added);
    sizes.push_back(set->replicas + bounded);
    added += bounded;
  }
  sizes.front() = std::max<std::int64_t>(0, sizes.front() + to_add - added);
  for (std::size_t i = 0; i < active.size(); ++i) resize(*active[i], sizes[i]);
}

// Old pods that do not work go first: nobody misses them.
void drop_unhealthy(RolloutSets& sets, std::int64_t at_most) {
  std::int64_t dropped = 0;
  for (RolloutSet& set : sets.old) {
    if (dropped >= at_most) break;
    const std::int64_t unhealthy = set.replicas - set.status().available;
    const std::int64_t count = std::min(at_most - dropped, unhealthy);
    if (set.replicas == 0 || count <= 0) continue;
    resize(set, set.replicas - count);
    dropped += count;
  }
}

void drop_spare(const DeploymentView& deployment, RolloutSets& sets) {
  std::int64_t spare = available(sets) - (deployment.replicas - max_unavailable(deployment));
  for (RolloutSet& set : sets.old) {
    if (spare <= 0) break;
    const std::int64_t count = std::min(set.replicas, spare);
    if (count == 0) continue;
    resize(set, set.replicas - count);
    spare -= count;
  }
}

}  // namespace

const ReplicaSetView::Status& RolloutSet::status() const {
  static const ReplicaSetView::Status kNone{};
  return object == nullptr ? kNone : object->view<ReplicaSetView>().status;
}

std::int64_t RolloutSet::replicas_before() const {
  return object == nullptr ? 0 : object->view<ReplicaSetView>().replicas;
}

std::vector<RolloutSet*> RolloutSets::all() {
  std::vector<RolloutSet*> out;
  for (RolloutSet& set : old) out.push_back(&set);
  if (newest) out.push_back(&*newest);
  return out;
}

std::vector<RolloutSet*> RolloutSets::active() {
  std::vector<RolloutSet*> out = all();
  std::erase_if(out, [](const RolloutSet* set) { return set->replicas == 0; });
  return out;
}

std::int64_t RolloutSets::wanted() const {
  std::int64_t sum = newest ? newest->replicas : 0;
  for (const RolloutSet& set : old) sum += set.replicas;
  return sum;
}

RolloutSets split_sets(const DeploymentView& deployment, std::vector<api::ObjectPtr> sets) {
  std::ranges::sort(sets, {}, [](const api::ObjectPtr& set) { return age(*set); });
  RolloutSets out;
  for (api::ObjectPtr& object : sets) {
    const auto& view = object->view<ReplicaSetView>();
    RolloutSet set{.object = object, .replicas = view.replicas};
    if (!out.newest && view.template_text == deployment.template_text)
      out.newest = std::move(set);
    else
      out.old.push_back(std::move(set));
  }
  return out;
}

std::int64_t max_surge(const DeploymentView& deployment) {
  return deployment.recreates ? 0 : deployment.max_surge.of_rounded_up(deployment.replicas);
}

std::int64_t max_unavailable(const DeploymentView& deployment) {
  if (deployment.recreates || deployment.replicas == 0) return 0;
  const std::int64_t rounded = deployment.max_unavailable.of_rounded_down(deployment.replicas);
  // Percentages may both come to nothing; then a rollout could never begin.
  const bool stuck = rounded == 0 && max_surge(deployment) == 0;
  return std::min(stuck ? 1 : rounded, deployment.replicas);
}

void scale_in_proportion(const DeploymentView& deployment, RolloutSets& sets) {
  std::vector<RolloutSet*> active = sets.active();
  if (active.size() <= 1) {
    // The newest grows if none is active: the one of the template, or else the youngest.
    RolloutSet* one = !active.empty()    ? active.front()
                      : sets.newest      ? &*sets.newest
                      : sets.old.empty() ? nullptr
                                         : &sets.old.back();
    if (one != nullptr) resize(*one, deployment.replicas);
  } else if (is_saturated(deployment, sets)) {
    for (RolloutSet& set : sets.old)
      if (set.replicas > 0) resize(set, 0);
  } else if (!deployment.recreates) {
    share_out(deployment, std::move(active));
  }
}

std::int64_t newest_size(const DeploymentView& deployment, const RolloutSets& sets) {
  const std::int64_t size = sets.newest ? sets.newest->replicas : 0;
  if (deployment.recreates || size > deployment.replicas) return deployment.replicas;
  const std::int64_t room = deployment.replicas + max_surge(deployment) - sets.wanted();
  return size + std::clamp<std::int64_t>(room, 0, deployment.replicas - size);
}

void roll(const DeploymentView& deployment, RolloutSets& sets) {
  const std::int64_t size = newest_size(deployment, sets);
  if (size != sets.newest->replicas) {
    resize(*sets.newest, size);
    return;
  }
  std::int64_t old_wanted = 0;
  for (const RolloutSet& set : sets.old) old_wanted += set.replicas;
  if (old_wanted == 0) return;
  const std::int64_t at_most = sets.wanted() - (deployment.replicas - max_unavailable(deployment)) -
                               (sets.newest->replicas - sets.newest->status().available);
  if (at_most <= 0) return;
  drop_unhealthy(sets, at_most);
  drop_spare(deployment, sets);
}

}  // namespace muster::controllers
