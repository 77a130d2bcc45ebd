// Changes of a group that concern many leaves or pods below it: a few are looked at once, the
// others in steps, as fast as their namespace may (NamespaceTurns). Until then a leaf or pod may be
// queued as it was before; pop() notices that, so nothing is tried in an outdated state.
#include <algorithm>
#include <utility>

#include "scheduler/queue/scheduling_queue.h"

namespace muster::scheduler {
SchedulingQueue::Look SchedulingQueue::both(const Look& a, const Look& b) {
  return {.is_relinked = a.is_relinked || b.is_relinked,
          .all_pods = a.all_pods || b.all_pods,
          .could_help = a.could_help || b.could_help};
}

// Nothing at once while something is left over: the namespace goes on in the order of its changes.
std::size_t SchedulingQueue::steps_at_once(const std::string& name_space, Time now) const {
  if (unfinished_.contains(name_space)) return 0;
  return std::min(turns_.left(name_space, now), options_.looks_at_once);
}

void SchedulingQueue::charge(const std::string& name_space, std::size_t steps, Time now) {
  looked_at_ += steps;
  turns_.charge(name_space, steps, now);
}

void SchedulingQueue::look_below(const GroupKey& group, const Look& look, Time now) {
  if (group.kind == GroupKind::PodGroup) return look_at_leaf(group, look, now);
  const std::string& name_space = group.name_space;
  if (const auto at = unfinished_.find(name_space); at != unfinished_.end())
    if (const auto walk = at->second.trees.find(group); walk != at->second.trees.end()) {
      walk->second.again = both(walk->second.again.value_or(Look{}), look);
      return;
    }
  const std::size_t allowed = steps_at_once(name_space, now);
  std::size_t left = allowed;
  TreeWalk walk{ForestWalk(group, ForestWalk::Over::Busy), look, {}};
  if (!walk_tree(walk, left, now)) unfinished_[name_space].trees.emplace(group, std::move(walk));
  charge(name_space, allowed - left, now);
}

void SchedulingQueue::look_at_leaf(const GroupKey& leaf, const Look& look, Time now) {
  if (!concerns_pods(leaf, look, now)) return;
  const std::size_t allowed = steps_at_once(leaf.name_space, now);
  std::size_t left = allowed;
  look_at_pods(leaf, look, left, now);
  charge(leaf.name_space, allowed - left, now);
}

// Finds out whether the pods of a leaf are queued by themselves; true if any may be queued wrong
// now.
bool SchedulingQueue::concerns_pods(const GroupKey& leaf, const Look& look, Time now) {
  if (look.is_relinked) update_stranded(leaf, now);
  const auto waiting = pending_.find(leaf);
  const bool is_loose = waiting != pending_.end() && model_.loose(leaf);
  const bool was_loose = loose_.contains(leaf);
  if (is_loose && !was_loose) loose_.insert(leaf);
  if (!is_loose && was_loose) loose_.erase(leaf);
  return waiting != pending_.end() && (is_loose != was_loose || (is_loose && look.all_pods));
}

void SchedulingQueue::look_at_pods(const GroupKey& leaf, const Look& look, std::size_t& left,
                                   Time now) {
  if (const auto at = unfinished_.find(leaf.name_space); at != unfinished_.end())
    if (const auto walk = at->second.leaves.find(leaf); walk != at->second.leaves.end()) {
      walk->second.again = both(walk->second.again.value_or(Look{}), look);
      return;
    }
  LeafWalk walk{.after = 0, .could_help = look.could_help, .again = {}};
  if (!walk_leaf(leaf, walk, left, now)) unfinished_[leaf.name_space].leaves.emplace(leaf, walk);
}

// True at the end; false if there are more steps to make than were left.
bool SchedulingQueue::walk_tree(TreeWalk& walk, std::size_t& left, Time now) {
  for (; left > 0; --left) {
    const GroupKey* group = forest_.next(walk.groups);
    if (group == nullptr) return true;
    if (group->kind == GroupKind::PodGroup) {
      std::size_t pods = left - 1;
      if (concerns_pods(*group, walk.look, now)) look_at_pods(*group, walk.look, pods, now);
      left = pods + 1;
    }
  }
  return false;
}

bool SchedulingQueue::walk_leaf(const GroupKey& leaf, LeafWalk& walk, std::size_t& left, Time now) {
  const auto waiting = pending_.find(leaf);
  if (waiting == pending_.end()) return true;
  const bool is_loose = loose_.contains(leaf);
  Pod passed;
  passed.sequence = walk.after;
  std::vector<Pod*> seen;
  auto at = waiting->second.upper_bound(&passed);
  for (; at != waiting->second.end() && left > 0; ++at, --left) {
    queue_as_is_right(**at, is_loose, now);
    walk.after = (*at)->sequence;
    seen.push_back(*at);
  }
  if (is_loose && walk.could_help)
    for (Pod* pod : seen)
      if (pod->lone != nullptr && pod->lone->place == Place::Resting)
        if (WaitClass& wait_class = *pod->lone->classes.front(); wait_class.released == nullptr)
          release_next(wait_class, now);
  return at == waiting->second.end();
}

void SchedulingQueue::queue_as_is_right(Pod& pod, bool is_loose, Time now) {
  if (pod.state == State::InFlight) return;
  if (pod.lone != nullptr && (!is_loose || is_outdated(pod))) queue_with_tree(pod, now);
  if (is_loose) queue_alone(pod, now);
}

// Whether priority or domain of a member that is queued by itself are others by now.
bool SchedulingQueue::is_outdated(const Pod& pod) const {
  const GroupSpec* root = forest_.root_of(*pod.facts.group);
  return root == nullptr || pod.lone->priority != root->priority ||
         pod.domain_of != domain_of(*pod.facts.group, *root);
}

// The next steps of the namespace whose turn it is. Those with something left take turns.
void SchedulingQueue::go_on(Time now) {
  auto at = unfinished_.upper_bound(went_on_with_);
  for (std::size_t i = 0; i < unfinished_.size(); ++i, ++at) {
    if (at == unfinished_.end()) at = unfinished_.begin();
    if (turns_.left(at->first, now) < options_.looks_at_once) continue;
    went_on_with_ = at->first;
    std::size_t left = options_.looks_at_once;
    go_on(at->second, left, now);
    charge(at->first, options_.looks_at_once - left, now);
    if (at->second.leaves.empty() && at->second.trees.empty()) unfinished_.erase(at);
    return;
  }
}

// Pods first: then no leaf is found by two walks.
void SchedulingQueue::go_on(Unfinished& work, std::size_t& left, Time now) {
  while (left > 0) {
    if (const auto leaf = work.leaves.begin(); leaf != work.leaves.end()) {
      if (!walk_leaf(leaf->first, leaf->second, left, now)) return;
      const std::optional<Look> again = leaf->second.again;
      if (again)
        leaf->second = {.after = 0, .could_help = again->could_help, .again = {}};
      else
        work.leaves.erase(leaf);
    } else if (const auto tree = work.trees.begin(); tree != work.trees.end()) {
      if (!walk_tree(tree->second, left, now)) return;
      const std::optional<Look> again = tree->second.again;
      if (again)
        tree->second = {ForestWalk(tree->first, ForestWalk::Over::Busy), *again, {}};
      else
        work.trees.erase(tree);
    } else {
      return;
    }
  }
}

std::optional<Time> SchedulingQueue::goes_on_at() const {
  std::optional<Time> first;
  for (const auto& [name_space, work] : unfinished_) {
    const Time when = turns_.when(name_space, options_.looks_at_once);
    first = std::min(first.value_or(when), when);
  }
  return first;
}

}  // namespace muster::scheduler
