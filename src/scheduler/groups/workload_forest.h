#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/framework/entity.h"
#include "scheduler/groups/forest_walk.h"

namespace muster::scheduler {

// The part a member pod plays for the quorum of its leaf. Failed and terminating members play none.
enum class Membership : std::uint8_t {
  Waiting,  // pending, may be tried
  Gated,    // pending, may not be tried yet
  Present,  // has a node, ours or confirmed; or has succeeded
};

// Levels of a tree, its pod groups included.
inline constexpr std::size_t kTreeDepthMax = 4;

// All groups as trees, fed in any order: a child may come before its parent, a pod before its
// group. Says which root a pod belongs to and whether that tree may be tried.
//
// A leaf is *ready* when its waiting and present members reach the minimum; a gated member holds
// its own leaf if that is topology-constrained. A composite is ready when enough children are. What
// is not ready holds back all below it and nothing beside it. A root is *runnable* when it is ready
// down to at least one waiting pod. A tree is *loose* when no pod that may be tried needs another:
// every leaf that is not held back has its minimum present already, or the tree is one Basic group
// that may be anywhere; and no such leaf has members that disagree.
class WorkloadForest {
 public:
  WorkloadForest() = default;
  // A copy shares the specs, which never change; it costs as much as there are groups.
  WorkloadForest(const WorkloadForest& other);
  WorkloadForest& operator=(const WorkloadForest&) = delete;

  void set(GroupSpec group);
  // The object is gone. Links from its children stay, so that a new object of the same name adopts
  // them.
  void erase(const GroupKey& key);
  void count_member(const GroupKey& leaf, Membership membership, std::int32_t change);
  // The members of a leaf disagree about what all of a tree must agree on: then no pod of the tree
  // can be placed, and one attempt finds that out for all of them. Forgotten with the leaf's last
  // mention; nothing happens if the leaf is not known.
  void set_disagreement(const GroupKey& leaf, bool disagrees);

  const GroupSpec* find(const GroupKey& key) const;
  // The root above a group, or the group itself; nullptr if it or an ancestor is unknown or in a
  // cycle, or if it is more than one level too deep. All questions about what is above a group look
  // at no more levels than that, so a long chain costs no more than a short one.
  const GroupSpec* root_of(const GroupKey& key) const;
  // Why there is no root: "pod group \"a\" does not exist". Only asked when root_of found none.
  std::string why_no_root(const GroupKey& key) const;
  // The key that identifies a group's tree: its root; the first by key of the cycle above it; the
  // group itself if it is so deep that its root is not looked for. nullopt if the group or an
  // ancestor is unknown.
  std::optional<GroupKey> anchor_of(const GroupKey& key) const;
  // What is wrong with the place of a group in its tree, naming the group; empty if nothing is.
  std::string layout_fault(const GroupKey& key) const;

  bool ready(const GroupKey& key) const;
  bool runnable(const GroupKey& root) const;
  bool has_pending(const GroupKey& root) const;
  // The group is in a loose tree and not held back.
  bool loose(const GroupKey& key) const;
  // Whether a group at or above this one names a topology key.
  bool is_constrained(const GroupKey& key) const;
  // Another number whenever some composite of this tree becomes ready or stops being ready.
  std::uint64_t composite_changes(const GroupKey& root) const;

  // The groups below a composite by creation time, then name; empty if nothing names it.
  std::vector<GroupKey> children(const GroupKey& composite) const;

  // Calls for every leaf at or below `key`, in the order of children; groups need not be known.
  // What is deeper than any tree may be is left out, here and below.
  void each_leaf(const GroupKey& key, const std::function<void(const GroupKey&)>& call) const;

  // The next group of a walk, valid until the next step; null at its end. It need not be known.
  const GroupKey* next(ForestWalk& walk) const;

  // Calls for every known group at or below `key`, in no order that matters.
  void each_group(const GroupKey& key, const std::function<void(const GroupSpec&)>& call) const;

  // The tree as an attempt wants it, without member traits. `fill` gives the waiting pods of a leaf
  // and is not called for leaves that are held back: those stay in the tree, empty.
  //
  // Of the groups without any pod below them it holds at most kIdleMax, the first by name.
  // None of them can meet its minimum, so the others are missed only where each group is
  // reported; and there may be a hundred thousand. The cost is that of the groups that are in
  // the tree.
  using Fill = std::function<void(const GroupKey& leaf, std::vector<PendingPod>& pods)>;
  Group build(const GroupKey& root, const Fill& fill) const;
  static constexpr std::size_t kIdleMax = 1'000;

  std::size_t size() const { return nodes_.size(); }

 private:
  // What a node contributes to its parent's counts. Each depends only on the same ones of its
  // children and grows with them, so that climb() ends even on a cycle.
  struct Flags {
    bool ready = false;
    bool runnable = false;
    bool pending = false;
    bool needing = false;  // not held back, and has a leaf that waits for its minimum or disagrees
    bool idle = true;      // no pod at or below it
    friend bool operator==(const Flags&, const Flags&) = default;
  };
  struct Counts {
    std::int32_t ready = 0, runnable = 0, pending = 0, needing = 0;
  };
  struct Node;
  struct ByKey {
    using is_transparent = void;
    bool operator()(const Node* a, const Node* b) const { return a->key < b->key; }
    bool operator()(const Node* a, const GroupKey& b) const { return a->key < b; }
    bool operator()(const GroupKey& a, const Node* b) const { return a < b->key; }
  };
  struct Node {
    GroupKey key;
    std::shared_ptr<const GroupSpec> spec;  // null: only pods or children name the group
    Node* parent = nullptr;
    std::set<Node*, ByKey> children;
    std::set<Node*, ByKey> busy_children;  // those that are not idle
    Counts in_children;
    std::int32_t waiting = 0, gated = 0, present = 0;  // leaf
    bool disagrees = false;                            // leaf
    Flags flags;
    std::uint64_t composite_change = 0;  // of a root: the last one of its tree

    bool is_known() const { return spec != nullptr; }
  };

  Node& node(const GroupKey& key);
  const Node* find_node(const GroupKey& key) const;
  // The way from a group upwards, child before parent, as far as anybody looks.
  struct Path {
    enum class End : std::uint8_t { Root, Missing, Cycle, Deep };
    std::array<const Node*, kTreeDepthMax + 1> nodes{};
    std::size_t size = 0;
    End end = End::Missing;
    const Node* last = nullptr;  // the root; the missing one; where the cycle begins again

    std::span<const Node* const> cycle() const;  // the groups of the cycle; empty if there is none
  };
  static Path path_of(const Node* from);
  static const Node* root_node(const Node* from);
  static Flags flags_of(const Node& node);
  // Brings the flags of a changed node up to date, and with them the counts of its ancestors.
  void climb(Node* node);
  void composite_changed(Node* node);
  static void add_to_parent(Node& node, std::int32_t sign);
  void unlink(Node& node);
  void drop_if_idle(Node* node);
  static void sort_as_siblings(std::vector<const Node*>& nodes);
  static std::vector<const Node*> children_in_order(const Node& node);
  // Those that are not idle, and some of the others.
  static std::vector<const Node*> children_to_try(const Node& node, std::size_t idle_max);
  struct Build {
    const Fill& fill;
    std::size_t idle_left = kIdleMax;
  };
  static Group build(const Node& node, Build& build, bool held);

  std::map<GroupKey, Node> nodes_;
  std::uint64_t composite_changes_ = 0;
};

}  // namespace muster::scheduler
