#include "explain/ahead.h"

#include <algorithm>
#include <tuple>

#include "api/views/pod_view.h"
#include "explain/words.h"
#include "scheduler/cycle/attempt.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::PodRole;

constexpr std::size_t kAheadMax = 200;

// A lone pod or a whole tree that waits.
struct Waiting {
  std::int32_t priority = 0;
  Time since;
  std::string name;
  std::optional<GroupKey> root;
  ObjectPtr pod;

  friend bool operator<(const Waiting& a, const Waiting& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    return std::tie(a.since, a.name) < std::tie(b.since, b.name);
  }
};

Time oldest_pod(const ClusterModel& model, const GroupKey& key) {
  Time oldest = Time::max();
  model.forest().each_leaf(key, [&](const GroupKey& leaf) {
    for (const ObjectPtr& pod : model.members(leaf, PodRole::Waiting))
      oldest = std::min(oldest, pod->meta().creation_time.value_or(Time{}));
  });
  return oldest;
}

Waiting waiting_tree(const ClusterModel& model, const GroupKey& root) {
  return {.priority = model.forest().find(root)->priority,
          .since = oldest_pod(model, root),
          .name = name_of(root),
          .root = root,
          .pod = nullptr};
}

Waiting waiting_pod(const ObjectPtr& pod) {
  return {.priority = pod->view<api::PodView>().priority,
          .since = pod->meta().creation_time.value_or(Time{}),
          .name = "pod " + api::key_text(pod->meta()),
          .root = std::nullopt,
          .pod = pod};
}

std::vector<Waiting> those_before(const ClusterModel& model, const Waiting& mine) {
  std::vector<Waiting> before;
  for (const GroupKey& root : model.roots())
    if (model.runnable(root))
      if (Waiting other = waiting_tree(model, root); other < mine)
        before.push_back(std::move(other));
  for (const ObjectPtr& pod : model.lone(PodRole::Waiting))
    if (Waiting other = waiting_pod(pod); other < mine) before.push_back(std::move(other));
  std::ranges::sort(before, [](const Waiting& a, const Waiting& b) { return a < b; });
  if (before.size() > kAheadMax) before.resize(kAheadMax);
  return before;
}

}  // namespace

std::vector<std::string> in_the_way(Trial& trial) {
  ClusterModel& model = trial.model();
  const Target& target = trial.target();
  const Waiting mine = target.group
                           ? waiting_tree(model, model.forest().root_of(*target.group)->key)
                           : waiting_pod(target.lone_pod);
  std::vector<std::string> names;
  std::vector<ObjectPtr> assumed;
  for (const Waiting& other : those_before(model, mine)) {
    const scheduler::Plan plan =
        other.root ? attempt(model, *other.root) : attempt(model, other.pod);
    if (!plan.assignments.empty()) names.push_back(other.name);
    for (const scheduler::Assignment& assignment : plan.assignments) {
      model.assume(assignment.pod, assignment.node);
      assumed.push_back(assignment.pod);
    }
  }
  const bool still_fits = names.empty() || trial.fits({}).has_value();
  for (const ObjectPtr& pod : assumed) model.forget(*pod);
  if (still_fits) names.clear();
  return names;
}

}  // namespace muster::explain
