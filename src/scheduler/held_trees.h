#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/groups/forest_walk.h"
#include "scheduler/groups/namespace_turns.h"

namespace muster::scheduler {

// Whether the pod says that it waits for something, and not for others of its tree.
bool says_other_than_siblings(const api::Object& pod);

// Trees that cannot be tried because pods or groups are missing, and those of their pods whose
// condition must change to say so: all that gave another reason until then.
//
// A user can make a tree held as often as they change its minimum. Its pods are looked at once, in
// steps, as fast as their namespace may; and again only if one of them gives another reason by
// then, or a group has joined with others.
class HeldTrees {
 public:
  explicit HeldTrees(const ClusterModel& model) : model_(model) {}

  // In turn: the tree cannot be tried any more; it can be tried again, so its pods get no such
  // message; no pod waits in it.
  void held(const GroupKey& root);
  void released(const GroupKey& root);
  void forget(const GroupKey& root);
  // A pod at or below the group may give another reason, whatever was written last.
  void says_other(const GroupKey& group);

  // Looks at some pods; returns those whose condition must be written, by uid.
  std::vector<api::ObjectPtr> run(Time now);
  // When there is more to look at.
  std::optional<Time> next_deadline() const;
  // Pods and groups that were looked at, ever.
  std::uint64_t looks() const { return looks_; }

 private:
  // Pods and groups that are looked at in one go, and how many such looks a word costs.
  static constexpr std::size_t kLooksMax = 256;
  static constexpr std::size_t kLooksPerWord = 25;
  static constexpr std::size_t kBurst = kLooksMax * (kLooksPerWord + 1);

  struct Walk {
    ForestWalk groups;
    std::optional<GroupKey> leaf = {};  // whose pods are being looked at
    std::size_t pods_left = 0;          // of the leaf
  };
  struct Tree {
    bool is_held = false;
    std::optional<Walk> walk;  // none: all have it
    bool again = false;        // from the beginning, once the walk is over
  };
  void set_held(const GroupKey& root, Tree& tree, bool is_held);
  bool go_on(Walk& walk, std::size_t& left, std::vector<api::ObjectPtr>& told) const;

  const ClusterModel& model_;
  std::map<GroupKey, Tree> trees_;  // that were held since somebody waits in them
  // Roots of held trees whose pods do not all have the condition yet, by namespace; none is empty.
  std::map<std::string, std::set<GroupKey>> due_;
  NamespaceTurns turns_{{.burst = kBurst}};
  std::string looked_last_;  // the namespace that had its turn
  std::uint64_t looks_ = 0;
};

}  // namespace muster::scheduler
