#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"

namespace muster::scheduler {

// A pod that waits for a node, as the queue holds it.
struct PendingPod {
  api::ObjectPtr pod;
  std::int32_t attempts = 0;
  Time queued_at;              // last time it entered the queue
  std::string nominated = {};  // the node that is kept free for it; empty: none
};

enum class GroupKind : std::uint8_t { PodGroup, CompositePodGroup };

// Kind, namespace and name: a PodGroup and a composite of one name are two groups.
struct GroupKey {
  GroupKind kind = GroupKind::PodGroup;
  std::string name_space;
  std::string name;
  friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};

// What all members of a tree must agree on.
struct MemberTraits {
  std::string scheduler_name;
  std::int32_t priority = 0;
  bool never_preempts = false;
  friend auto operator<=>(const MemberTraits&, const MemberTraits&) = default;
};

// A label key whose value the pods of a group should share, and how long that is worth waiting for.
struct PreferredTopology {
  std::string key;  // empty: nothing is preferred
  Duration wait{};
  friend auto operator<=>(const PreferredTopology&, const PreferredTopology&) = default;
};

// What a PodGroup or CompositePodGroup asks for, without what belongs to gates that are off.
struct GroupSpec {
  GroupKey key;
  api::ObjectPtr object;
  std::string parent;  // name of the composite it belongs to, in its namespace; empty: it is a root
  bool gang = false;
  std::int32_t minimum = 1;  // pods of a leaf, direct children of a composite; 1 for Basic
  std::string topology_key;  // empty: anywhere in the parent's domain
  PreferredTopology preferred = {};
  // What plugins say about its placements, if these are not by topology key alone.
  std::string placements = {};
  std::string malformed = {};  // what is wrong with an annotation, so that nothing of it is tried
  std::int32_t priority = 0;
  bool disrupted_together = false;  // disruptionMode all
  // How many pods a leaf will have in the end, if somebody said so; 0: unknown. A Basic group with
  // a topology key prefers a domain with room for that many.
  std::int32_t declared_size = 0;
  // What the group says about preemption; nullopt: nothing, its pods decide.
  std::optional<bool> never_preempts = {};
  std::string workload = {};  // whose template it was made from; empty: stands alone
  std::string template_name = {};
  Time created;

  // Its pods must be in one domain.
  bool is_confined() const { return !topology_key.empty() || !placements.empty(); }
  // Where one of its pods goes depends on where the others are.
  bool has_topology() const { return is_confined() || !preferred.key.empty(); }
};

// One group of a tree as an attempt gets it: what it asks for, and who waits in it. A leaf has
// pods, a composite children.
struct Group : GroupSpec {
  std::vector<PendingPod> pods;  // queued members, in the order upstream tries them
  std::vector<Group> children;   // by creation time, then name
  // Of a root: equal for trees that an attempt cannot tell apart; 0: like no other.
  std::uint64_t shape = 0;
  std::optional<Time> waits_since = {};  // of the oldest of these pods; nullopt: no pods
  // Until when it waits for one domain of its preferred topology, if it still does.
  std::optional<Time> insists_until = {};
  // Of a leaf: the traits of all its members, queued or not, each combination once.
  std::vector<MemberTraits> traits = {};

  // When the first group at or below it stops insisting; nullopt if none insists.
  std::optional<Time> stops_insisting() const {
    std::optional<Time> first = insists_until;
    for (const Group& child : children)
      if (const std::optional<Time> below = child.stops_insisting())
        first = std::min(first.value_or(*below), *below);
    return first;
  }
};

}  // namespace muster::scheduler
