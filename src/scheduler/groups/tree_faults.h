#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/groups/forest_walk.h"
#include "scheduler/groups/template_rules.h"
#include "scheduler/groups/workload_forest.h"

namespace muster::scheduler {

// Which trees are wrong in themselves, so that nothing of them may be tried: groups in a circle,
// too many levels, several Workloads or priorities in one tree; and, once a tree has been pending
// for long, groups that are not what their Workload's templates say. A missing Workload is not a
// fault: groups carry their own policy.
//
// Kept up to date group by group: a change concerns all groups below it, down to the level that is
// one too deep for any tree. So many are looked at once; the others by go_on(), and until then
// their tree is not judged, and nothing of it may be tried. A tree is identified by its anchor
// (WorkloadForest::anchor_of).
class TreeFaults {
 public:
  explicit TreeFaults(const WorkloadForest& forest, std::size_t at_once = SIZE_MAX)
      : forest_(forest), at_once_(at_once) {}
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

  // Looks at up to `steps` more groups of a namespace, and leaves there what is left of them.
  // Returns the trees that became wrong or right by it, and those that are judged again.
  Anchors go_on(std::string_view name_space, std::size_t& steps);
  // The namespaces that have something left.
  std::vector<std::string> unfinished() const;
  // Whether nothing is left of the tree that a group is in.
  bool is_judged(const GroupKey& group) const;
  // Groups that were looked at.
  std::uint64_t looked_at() const { return looked_at_; }

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
  // once. Of one namespace, looking at so many at most.
  std::vector<GroupKey> drain_changed();
  std::vector<GroupKey> drain_changed(const std::string& name_space, std::size_t at_most);
  std::vector<std::string> changed_namespaces() const;

 private:
  struct Tree {
    std::map<GroupKey, std::string> faults;  // by group
    GroupKey culprit;                        // the one that is named
  };
  using WorkloadKey = std::pair<std::string, std::string>;  // namespace, name

  // A walk that is under way. What comes meanwhile is for another one after it, so that a tree that
  // changes all the time is walked to its end all the same.
  struct Walk {
    ForestWalk groups;
    bool again = false;
    bool was_left = false;  // callers have seen the tree unjudged
  };
  using Walks = std::map<GroupKey, Walk>;  // by the group at the top
  struct Unfinished {
    Walks trees;
    // Workloads whose roots are looked at again, and the last one that was.
    std::map<std::string, std::optional<GroupKey>> workloads;
  };
  struct Changed {
    std::set<GroupKey> groups;
    Walks trees;  // by anchor: all groups of it
  };

  static void begin(Walks& walks, const GroupKey& top, bool was_left = false);
  static void end(Walks& walks, Walks::iterator walk);
  void look_at(const GroupKey& key, std::set<GroupKey>& touched);
  void next_root(std::string_view name_space, Unfinished& work);
  void expand(Changed& changed, std::size_t& steps);
  void forget_changed(const GroupKey& key);
  std::string judge(const GroupSpec& group, const GroupKey& anchor) const;
  void forget(const GroupKey& key, std::set<GroupKey>& touched);
  void stop_comparing(const GroupKey& root);
  Anchors publish(const std::set<GroupKey>& touched);

  const WorkloadForest& forest_;
  std::size_t at_once_ = SIZE_MAX;
  std::map<GroupKey, Tree> trees_;             // wrong ones, by anchor
  std::map<GroupKey, GroupKey> anchors_;       // of the groups at fault
  std::map<GroupKey, std::string> published_;  // by anchor: the fault as callers know it
  std::map<GroupKey, WorkloadKey> compared_;   // roots
  std::map<WorkloadKey, std::set<GroupKey>> compared_by_workload_;
  std::map<WorkloadKey, WorkloadTemplates> workloads_;
  std::map<std::string, Unfinished, std::less<>> unfinished_;  // by namespace; none is empty
  std::map<std::string, Changed, std::less<>> changed_;        // by namespace; none is empty
  std::uint64_t looked_at_ = 0;
};

}  // namespace muster::scheduler
