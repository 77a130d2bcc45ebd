#include "explain/ahead.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/views/pod_view.h"
#include "scheduler/cycle/attempt.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::PodRole;

bool comes_first(const Waiting& a, const Waiting& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  return std::tie(a.since, a.key) < std::tie(b.since, b.key);
}

Time oldest_pod(const ClusterModel& model, const GroupKey& key) {
  Time oldest = Time::max();
  model.forest().each_leaf(key, [&](const GroupKey& leaf) {
    for (const ObjectPtr& pod : model.members(leaf, PodRole::Waiting))
      oldest = std::min(oldest, pod->meta().creation_time.value_or(Time{}));
  });
  return oldest;
}

Waiting waiting_tree(const ClusterModel& model, const GroupKey& root, const Naming& naming) {
  return {.priority = model.forest().find(root)->priority,
          .since = oldest_pod(model, root),
          .key = name_of(root),
          .name = naming.group(root),
          .root = root,
          .pod = nullptr};
}

Waiting waiting_pod(const ObjectPtr& pod, const Naming& naming) {
  return {.priority = pod->view<api::PodView>().priority,
          .since = pod->meta().creation_time.value_or(Time{}),
          .key = "pod " + api::key_text(pod->meta()),
          .name = naming.pod(pod->meta()),
          .root = std::nullopt,
          .pod = pod};
}

}  // namespace

Before those_before(const ClusterModel& model, const Target& target, const Naming& naming) {
  const scheduler::GroupSpec* own = target.group ? model.forest().root_of(*target.group) : nullptr;
  if (target.group && own == nullptr) return {};
  const Waiting mine =
      own != nullptr ? waiting_tree(model, own->key, naming) : waiting_pod(target.lone_pod, naming);
  std::vector<Waiting> before;
  for (const GroupKey& root : model.roots())
    if (model.runnable(root) && root != mine.root)
      if (Waiting other = waiting_tree(model, root, naming); comes_first(other, mine))
        before.push_back(std::move(other));
  for (const ObjectPtr& pod : model.lone(PodRole::Waiting))
    if (Waiting other = waiting_pod(pod, naming); comes_first(other, mine))
      before.push_back(std::move(other));
  std::ranges::sort(before, comes_first);
  const std::size_t left_out = before.size() - std::min(before.size(), kAheadMax);
  before.resize(before.size() - left_out);
  return {.first = std::move(before), .left_out = left_out};
}

Queue place_first(ClusterModel& model, const std::vector<Waiting>& waiting, Budget& budget) {
  Queue queue;
  for (const Waiting& one : waiting) {
    if (budget.is_spent()) break;
    const scheduler::Plan plan = one.root ? attempt(model, *one.root) : attempt(model, one.pod);
    budget.charge(plan);
    if (!plan.assignments.empty()) queue.names.push_back(one.name);
    for (const scheduler::Assignment& assignment : plan.assignments) {
      model.assume(assignment.pod, assignment.node);
      queue.seats.push_back({assignment.pod, assignment.node});
    }
  }
  return queue;
}

void place_again(ClusterModel& model, const Queue& queue) {
  for (const Queue::Seat& seat : queue.seats) model.assume(seat.pod, seat.node);
}

void unplace(ClusterModel& model, const Queue& queue) {
  for (const Queue::Seat& seat : queue.seats) model.forget(*seat.pod);
}

}  // namespace muster::explain
