#include "scheduler/groups/tree_faults.h"

namespace muster::scheduler {

TreeFaults::TreeFaults(const TreeFaults& other, const WorkloadForest& forest)
    : forest_(forest),
      at_once_(other.at_once_),
      trees_(other.trees_),
      anchors_(other.anchors_),
      published_(other.published_),
      compared_(other.compared_),
      compared_by_workload_(other.compared_by_workload_),
      workloads_(other.workloads_),
      unfinished_(other.unfinished_),
      changed_(other.changed_) {}

// The layout first: templates are compared only in a proper tree. An unknown Workload is not a
// fault.
std::string TreeFaults::judge(const GroupSpec& group, const GroupKey& anchor) const {
  if (!group.malformed.empty()) return group.malformed;
  std::string fault = forest_.layout_fault(group.key);
  if (!fault.empty() || !compared_.contains(anchor)) return fault;
  const auto workload = workloads_.find({group.key.name_space, group.workload});
  if (workload == workloads_.end()) return {};
  const GroupSpec* parent = nullptr;
  if (!group.parent.empty())
    parent = forest_.find({GroupKind::CompositePodGroup, group.key.name_space, group.parent});
  return template_fault(group, parent, workload->second);
}

// Withdraws the fault of a group. Its tree stays listed while another of its groups is at fault;
// `touched` collects what publish() must look at.
void TreeFaults::forget(const GroupKey& key, std::set<GroupKey>& touched) {
  const auto at = anchors_.find(key);
  if (at == anchors_.end()) return;
  touched.insert(at->second);
  const auto tree = trees_.find(at->second);
  tree->second.faults.erase(key);
  if (tree->second.faults.empty()) trees_.erase(tree);
  anchors_.erase(at);
}

void TreeFaults::forget_changed(const GroupKey& key) {
  const auto at = changed_.find(key.name_space);
  if (at == changed_.end()) return;
  at->second.groups.erase(key);
  if (at->second.groups.empty() && at->second.trees.empty()) changed_.erase(at);
}

// A fault depends on the group, its path to the root and the root: what is not below the changed
// group keeps its fault. The tree that the group has left is found by its old
// anchor.
TreeFaults::Anchors TreeFaults::look_again(const GroupKey& key) {
  std::set<GroupKey> touched;
  forget(key, touched);
  if (forest_.find(key) == nullptr) {
    forget_changed(key);
    stop_comparing(key);
  }
  const bool is_first = !unfinished_.contains(key.name_space);
  if (is_first && key.kind == GroupKind::PodGroup) {  // nothing is below it
    look_at(key, touched);
    return publish(touched);
  }
  Anchors changed = publish(touched);
  begin(unfinished_[key.name_space].trees, key, !is_first);
  std::size_t steps = is_first ? at_once_ : 0;
  for (GroupKey& anchor : go_on(key.name_space, steps)) changed.push_back(std::move(anchor));
  return changed;
}

void TreeFaults::look_at(const GroupKey& key, std::set<GroupKey>& touched) {
  ++looked_at_;
  const GroupSpec* group = forest_.find(key);
  if (group == nullptr) return;
  changed_[key.name_space].groups.insert(key);
  forget(key, touched);
  const std::optional<GroupKey> anchor = forest_.anchor_of(key);
  if (!anchor) return;
  std::string fault = judge(*group, *anchor);
  if (fault.empty()) return;
  trees_[*anchor].faults[key] = std::move(fault);
  anchors_.emplace(key, *anchor);
  touched.insert(*anchor);
}

// The culprit that was named stays named while it is one: a tree with many faults must not be
// reported again with each of them.
TreeFaults::Anchors TreeFaults::publish(const std::set<GroupKey>& touched) {
  Anchors changed;
  for (const GroupKey& anchor : touched) {
    const auto at = trees_.find(anchor);
    if (at != trees_.end() && !at->second.faults.contains(at->second.culprit))
      at->second.culprit = at->second.faults.begin()->first;
    const std::string* now = of_tree(anchor);
    const auto before = published_.find(anchor);
    if (now == nullptr ? before == published_.end()
                       : before != published_.end() && before->second == *now)
      continue;
    if (now == nullptr)
      published_.erase(before);
    else
      published_[anchor] = *now;
    begin(changed_[anchor.name_space].trees, anchor);
    changed.push_back(anchor);
  }
  return changed;
}

// Once compared, a root stays compared until it goes: each later change is judged with templates.
TreeFaults::Anchors TreeFaults::compare(const GroupKey& root) {
  const GroupSpec* group = forest_.find(root);
  if (group == nullptr || group->workload.empty()) return {};
  const WorkloadKey workload{root.name_space, group->workload};
  if (!compared_.emplace(root, workload).second) return {};
  compared_by_workload_[workload].insert(root);
  return look_again(root);
}

void TreeFaults::stop_comparing(const GroupKey& root) {
  const auto at = compared_.find(root);
  if (at == compared_.end()) return;
  const auto roots = compared_by_workload_.find(at->second);
  roots->second.erase(root);
  if (roots->second.empty()) compared_by_workload_.erase(roots);
  compared_.erase(at);
}

TreeFaults::Anchors TreeFaults::set_workload(std::string_view name_space, std::string_view name,
                                             std::optional<WorkloadTemplates> templates) {
  const WorkloadKey key{name_space, name};
  const auto known = workloads_.find(key);
  const bool is_same = known == workloads_.end() ? !templates : templates == known->second;
  if (is_same) return {};
  if (templates)
    workloads_[key] = std::move(*templates);
  else
    workloads_.erase(known);
  if (!compared_by_workload_.contains(key)) return {};
  const bool is_first = !unfinished_.contains(name_space);
  unfinished_[key.first].workloads[key.second] = std::nullopt;
  std::size_t steps = is_first ? at_once_ : 0;
  return go_on(name_space, steps);
}

const std::string* TreeFaults::of_tree(const GroupKey& anchor) const {
  const auto at = trees_.find(anchor);
  return at == trees_.end() ? nullptr : &at->second.faults.at(at->second.culprit);
}

const std::string* TreeFaults::of_group(const GroupKey& key) const {
  if (trees_.empty()) return nullptr;
  const std::optional<GroupKey> anchor = forest_.anchor_of(key);
  return anchor ? of_tree(*anchor) : nullptr;
}

}  // namespace muster::scheduler
