#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/groups/template_rules.h"
#include "scheduler/groups/workload_forest.h"

namespace muster::scheduler {

// Which trees are wrong in themselves, so that nothing of them may be tried: groups in a circle,
// too many levels, several Workloads or priorities in one tree; and, once a tree has been pending
// for long, groups that are not what their Workload's templates say. A missing Workload is not a
// fault: groups carry their own policy.
//
// Kept up to date group by group: a change costs as much as there is below it, down to the level
// that is one too deep for any tree.
// A tree is identified by its anchor (WorkloadForest::anchor_of).
class TreeFaults {
 public:
  explicit TreeFaults(const WorkloadForest& forest) : forest_(forest) {}
  // A copy that reads another forest, itself a copy of the one `other` reads.
  TreeFaults(const TreeFaults& other, const WorkloadForest& forest);

  // The group came, changed its place or went, and the forest knows. Returns the trees that became
  // wrong, right again, or wrong in another way because of it.
  using Anchors = std::vector<GroupKey>;
  Anchors look_again(const GroupKey& key);
  // From now on the tree is compared with its Workload.
  Anchors compare(const GroupKey& root);
  Anchors set_workload(std::string_view name_space, std::string_view name,
                       std::optional<WorkloadTemplates> templates);

  // What is wrong with the tree of that anchor, naming the culprit; null if nothing is.
  const std::string* of_tree(const GroupKey& anchor) const;
  // The same for the tree that a group is in.
  const std::string* of_group(const GroupKey& key) const;

  // Roots that are compared with their Workloads.
  std::size_t compared() const {
    std::size_t roots = 0;
    for (const auto& [workload, compared] : compared_by_workload_) roots += compared.size();
    return roots;
  }

  // Groups that are new or moved, and all of trees whose fault changed, since the last call; each
  // once.
  std::vector<GroupKey> drain_changed();

 private:
  struct Tree {
    std::map<GroupKey, std::string> faults;  // by group
    GroupKey culprit;                        // the one that is named
  };
  using WorkloadKey = std::pair<std::string, std::string>;  // namespace, name

  std::string judge(const GroupSpec& group, const GroupKey& anchor) const;
  void forget(const GroupKey& key, std::set<GroupKey>& touched);
  void stop_comparing(const GroupKey& root);
  Anchors publish(const std::set<GroupKey>& touched);

  const WorkloadForest& forest_;
  std::map<GroupKey, Tree> trees_;             // wrong ones, by anchor
  std::map<GroupKey, GroupKey> anchors_;       // of the groups at fault
  std::map<GroupKey, std::string> published_;  // by anchor: the fault as callers know it
  std::map<GroupKey, WorkloadKey> compared_;   // roots
  std::map<WorkloadKey, std::set<GroupKey>> compared_by_workload_;
  std::map<WorkloadKey, WorkloadTemplates> workloads_;
  std::set<GroupKey> changed_;
};

}  // namespace muster::scheduler
