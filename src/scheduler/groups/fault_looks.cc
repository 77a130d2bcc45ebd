// What a change leaves to do: groups that are yet to be looked at, and groups that are yet to be
// reported.
#include <algorithm>

#include "scheduler/groups/tree_faults.h"

namespace muster::scheduler {

void TreeFaults::begin(Walks& walks, const GroupKey& top, bool was_left) {
  const auto [walk, is_new] =
      walks.try_emplace(top, Walk{ForestWalk(top, ForestWalk::Over::All), false, was_left});
  if (!is_new) walk->second.again = true;
}

void TreeFaults::end(Walks& walks, Walks::iterator walk) {
  if (walk->second.again)
    walk->second = {ForestWalk(walk->first, ForestWalk::Over::All), false, true};
  else
    walks.erase(walk);
}

TreeFaults::Anchors TreeFaults::go_on(std::string_view name_space, std::size_t& steps) {
  const auto at = unfinished_.find(name_space);
  if (at == unfinished_.end()) return {};
  Unfinished& work = at->second;
  std::set<GroupKey> touched;
  Anchors judged;
  while (steps > 0 && !(work.trees.empty() && work.workloads.empty())) {
    --steps;
    if (work.trees.empty()) {
      next_root(name_space, work);
      continue;
    }
    const auto walk = work.trees.begin();
    if (const GroupKey* group = forest_.next(walk->second.groups)) {
      look_at(GroupKey(*group), touched);
      continue;
    }
    // A tree that is looked at in one go was never unjudged to anybody: it must not be tried again.
    if (const auto anchor = forest_.anchor_of(walk->first); anchor && walk->second.was_left)
      judged.push_back(*anchor);
    end(work.trees, walk);
  }
  if (!work.trees.empty())
    work.trees.begin()->second.was_left = true;  // the others were left when they began
  else if (work.workloads.empty())
    unfinished_.erase(at);
  Anchors changed = publish(touched);
  for (GroupKey& anchor : judged)
    if (std::ranges::find(changed, anchor) == changed.end()) changed.push_back(std::move(anchor));
  return changed;
}

// The roots of a Workload one by one: there may be a hundred thousand.
void TreeFaults::next_root(std::string_view name_space, Unfinished& work) {
  const auto workload = work.workloads.begin();
  const auto roots =
      compared_by_workload_.find(WorkloadKey{std::string(name_space), workload->first});
  if (roots != compared_by_workload_.end()) {
    const auto next =
        workload->second ? roots->second.upper_bound(*workload->second) : roots->second.begin();
    if (next != roots->second.end()) {
      workload->second = *next;
      return begin(work.trees, *next);
    }
  }
  work.workloads.erase(workload);
}

std::vector<std::string> TreeFaults::unfinished() const {
  std::vector<std::string> out;
  for (const auto& [name_space, work] : unfinished_) out.push_back(name_space);
  return out;
}

bool TreeFaults::is_judged(const GroupKey& group) const {
  if (unfinished_.empty()) return true;
  const auto at = unfinished_.find(group.name_space);
  if (at == unfinished_.end()) return true;
  const std::optional<GroupKey> anchor = forest_.anchor_of(group);
  return std::ranges::none_of(at->second.trees, [&](const auto& entry) {
    return anchor && forest_.anchor_of(entry.first) == anchor;
  });
}

// All groups of trees whose fault changed, as far as the steps go.
void TreeFaults::expand(Changed& changed, std::size_t& steps) {
  while (steps > 0 && !changed.trees.empty()) {
    const auto walk = changed.trees.begin();
    --steps;
    const GroupKey* group = forest_.next(walk->second.groups);
    if (group == nullptr)
      end(changed.trees, walk);
    else if (forest_.find(*group) != nullptr && forest_.anchor_of(*group) == walk->first)
      changed.groups.insert(*group);
  }
}

std::vector<GroupKey> TreeFaults::drain_changed(const std::string& name_space,
                                                std::size_t at_most) {
  std::vector<GroupKey> out;
  const auto at = changed_.find(name_space);
  if (at == changed_.end()) return out;
  Changed& changed = at->second;
  std::size_t steps = at_most - std::min(at_most, changed.groups.size());
  expand(changed, steps);
  while (!changed.groups.empty() && out.size() < at_most)
    out.push_back(std::move(changed.groups.extract(changed.groups.begin()).value()));
  if (changed.groups.empty() && changed.trees.empty()) changed_.erase(at);
  return out;
}

std::vector<GroupKey> TreeFaults::drain_changed() {
  std::vector<GroupKey> out;
  for (const std::string& name_space : changed_namespaces())
    for (GroupKey& key : drain_changed(name_space, SIZE_MAX)) out.push_back(std::move(key));
  return out;
}

std::vector<std::string> TreeFaults::changed_namespaces() const {
  std::vector<std::string> out;
  for (const auto& [name_space, changed] : changed_) out.push_back(name_space);
  return out;
}

}  // namespace muster::scheduler
