#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/column.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/preemption_plan.h"

// The questions about groups that a plugin may answer. As with pods, a plugin implements those it
// has an answer to, and never changes once made.
namespace muster::scheduler {

class ClusterModel;

// Named sets of nodes, as a column: for each node the placements it belongs to, which may be none,
// one or several. Placements may overlap. Nodes with equal answers share one list, so that a
// topology can join them into cells.
class PlacementColumn {
 public:
  using Placement = std::uint32_t;      // index into names()
  using List = std::vector<Placement>;  // rising, each once

  PlacementColumn(std::vector<std::string> names, std::size_t rows);

  // Where a node belongs; nowhere until set.
  void put(NodeId node, List placements);

  const std::vector<std::string>& names() const { return names_; }
  // The lists there are; the first one is empty.
  const std::vector<List>& lists() const { return lists_; }
  std::uint32_t list_of(NodeId node) const { return list_of_[node]; }
  const List& at(NodeId node) const { return lists_[list_of_[node]]; }

 private:
  std::vector<std::string> names_;
  std::vector<List> lists_{{}};
  Column<std::uint32_t> list_of_;
  std::map<List, std::uint32_t> known_;
};

// The placements of two plugins at once: what one of the first and one of the second share, if that
// is any node, named after both. Names stay unique.
PlacementColumn intersect(const PlacementColumn& first, const PlacementColumn& second,
                          const Cluster& cluster);

// "In which parts of the cluster may the pods of this group be, all of them in one of these?"
// Upstream's PlacementGenerate. A group may be in a placement of its own inside that of its parent.
// If several plugins have an answer, their placements are intersected.
class PlacementGenerate {
 public:
  virtual ~PlacementGenerate() = default;
  // Names the placements such a group has, without looking at a node: groups for which plugins of
  // this name give equal texts have the same. Empty: nothing to say about the group.
  virtual std::string placements_of(const GroupSpec& group) const = 0;
  // The placements behind every such text are the values of the node label that it names. The
  // engine has those already.
  virtual bool is_label() const { return false; }
  // The placements behind such a text. Asked once, and again when nodes or their labels change.
  virtual PlacementColumn generate(std::string_view placements, Cluster& cluster) const = 0;
};

// How far a group has come inside a placement, in pods of a leaf or children of a composite.
struct PlacementProgress {
  std::int64_t scheduled = 0;      // has a place: found here, or long ago
  std::int64_t remaining = 0;      // not tried yet
  std::int64_t unschedulable = 0;  // found no place; evicting others might help
  std::int64_t unresolvable = 0;   // found no place, and evicting others cannot help
};

// Better ones first.
enum class PlacementStatus : std::uint8_t {
  Success,
  Wait,  // those that were not tried yet may bring it
  Unschedulable,
  UnschedulableAndUnresolvable,
};

// What becomes of a group that needs so many.
constexpr PlacementStatus status_of(std::int64_t needed, const PlacementProgress& progress) {
  std::int64_t possible = progress.scheduled;
  if (possible >= needed) return PlacementStatus::Success;
  possible += progress.remaining;
  if (possible >= needed) return PlacementStatus::Wait;
  possible += progress.unschedulable;
  return possible >= needed ? PlacementStatus::Unschedulable
                            : PlacementStatus::UnschedulableAndUnresolvable;
}

// "Is that enough of the group?" Upstream's PlacementFeasible. A plugin may ask for more than the
// group's own minimum, never for less. One more that is scheduled must never make the answer worse:
// then the least number that is enough says all, and the engine finds it once for each group and
// attempt instead of asking in every placement.
class PlacementFeasible {
 public:
  virtual ~PlacementFeasible() = default;
  virtual PlacementStatus status(const GroupSpec& group,
                                 const PlacementProgress& progress) const = 0;
  // The same in words, for a group that cannot have enough: "minCount (4) cannot be satisfied:
  // ...".
  virtual std::string reason(const GroupSpec& group, const PlacementProgress& progress) const = 0;
};

// A placement with the pods of a group placed in it, as far as they fit.
struct PlacementView {
  // What its nodes have and use, the way scores count it and these pods included: cpu, memory, and
  // whatever else the group's pods ask for.
  struct Amount {
    ResourceId resource;
    std::int64_t allocatable = 0;
    std::int64_t used = 0;
  };
  struct Assigned {
    const api::Object* pod;
    NodeId node;
  };

  const GroupSpec& group;
  std::string_view name;
  const Cluster& cluster;  // what is placed is counted in
  std::int64_t pods = 0;   // of the group: those that run already, and those placed here
  std::span<const Amount> amounts;
  // For plugins that look at nodes; empty for the others.
  std::span<const NodeId> nodes = {};
  std::span<const Assigned> assigned = {};
};

// "How good is this placement for the group?" Upstream's PlacementScore.
class PlacementScore {
 public:
  virtual ~PlacementScore() = default;
  virtual std::int64_t score(const PlacementView& placement) const = 0;
  // Brings the scores of all placements that are compared into 0..100.
  virtual void normalize(std::span<std::int64_t> /*scores*/) const {}
  // Whether it reads the nodes and where each pod goes. If no plugin does, many placements can be
  // ranked without placing anything in them.
  virtual bool looks_at_nodes() const { return true; }
};

// "What can be done for a tree of groups that found no place?" Upstream's PodGroupPostFilter. The
// plugins are asked in turn until one has found something. They must leave the model unchanged, and
// the same model must give the same plan: an answer that found nothing is kept until something
// changes.
class PodGroupPostFilter {
 public:
  virtual ~PodGroupPostFilter() = default;
  virtual PreemptionPlan make_room(ClusterModel& model, const Group& root, Time now) const = 0;
};

}  // namespace muster::scheduler
