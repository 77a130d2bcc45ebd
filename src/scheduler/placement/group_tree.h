#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/standings.h"
#include "scheduler/placement/topology.h"

namespace muster::scheduler {

// A tree of groups laid out for one attempt: groups and pods by number, pods by class, and what
// already runs. Group 0 is the root; parents come before their children.
struct GroupTree {
  struct Member {
    const PendingPod* pending;
    std::uint32_t group;
    std::uint32_t class_index;
  };
  struct Item {
    const Group* group = nullptr;
    std::uint32_t parent = 0;
    std::vector<std::uint32_t> children;
    std::vector<std::uint32_t> members;  // of a leaf, in the order upstream tries them
    std::int64_t minimum = 1;            // pods of a leaf, children of a composite
    // The plugin that asks for more than the group does; null: none.
    const PlacementFeasible* demanding = nullptr;
    std::int64_t held = 0;           // a leaf's members that run or have succeeded
    std::optional<std::size_t> key;  // index into `keys`
    // The key whose value the members should share; while the group insists, must.
    std::optional<std::size_t> preferred;
    bool insists = false;

    // Over the subtree.
    std::int64_t queued_below = 0;
    std::int64_t held_below = 0;
    std::vector<std::int32_t> classes_below;  // queued pods by class

    // With a key: the domains the subtree's running members are in, by name, and whether one is in
    // none.
    std::vector<std::string> pinned_to;
    bool has_unlabelled = false;
    // The domains come from plugins: then `pinned_to` are those that hold all of the members.
    bool is_shared = false;
    std::vector<std::string> prefers_at;  // the same for the preferred key

    bool is_leaf() const { return children.empty() && group->key.kind == GroupKind::PodGroup; }
    // The key by whose values the group is confined to one domain.
    std::optional<std::size_t> confining_key() const { return insists ? preferred : key; }
    // Pods a leaf still has to place.
    std::int64_t missing() const { return minimum > held ? minimum - held : 0; }
  };

  GroupTree(const Group& root, Cluster& cluster, Standings& cache);

  std::vector<Item> items;
  std::vector<Member> members;
  std::vector<Standing*> standings;  // by class index: one for each class of pods that is queued
  std::vector<std::string> keys;     // label keys, or texts that end in kGenerated
  Topology* topology = nullptr;
  const Profile* profile = nullptr;

  // The suffix of keys whose domains come from plugins.
  static constexpr std::string_view kGenerated = "/placement";

 private:
  std::uint32_t add(const Group& group, std::uint32_t parent, Cluster& cluster, Standings& cache);
  std::size_t key_index(const std::string& key);
  std::optional<std::size_t> required_key(const Group& group);
  void set_minimum(Item& item) const;
  void sum_below();
  void pin(const Cluster& cluster);
  void pin(Item& item, const Cluster& cluster, NodeId node) const;

  std::vector<GeneratedKey> generated_;
  std::vector<std::vector<NodeId>> held_on_;  // by item: where a leaf's running members are
};

}  // namespace muster::scheduler
