#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/framework/touched.h"
#include "scheduler/volumes/volume_needs.h"

namespace muster::scheduler {

// Which volumes the nodes could give to the claims of a class, on top of a draft's moves. Nodes
// that reach the same volumes give the same answer, so it is found once for all of them: a thousand
// nodes in three zones are three answers, and a volume that is taken changes those that reach it.
class VolumeSets {
 public:
  VolumeSets(std::shared_ptr<const VolumeNeeds> needs, const Cluster& cluster);

  // The volume of each claim, null where one has to be made; nullptr: a claim that is shared with
  // another pod of the draft is out of reach.
  const VolumeChoice* choice(NodeId node) const;
  // How many pods of the class the node could take at most, given the volumes there are.
  std::int32_t most_on(NodeId node) const;
  // A pod of some class was moved: brings the answers up to date and names the rows that changed.
  void moved(const PodClass& pods, Touched& touched);

 private:
  using Terms = std::vector<api::NodeSelectorTerm>;
  struct Set {
    std::vector<std::uint32_t> reaches;  // numbers of terms, rising
    std::vector<NodeId> rows;
    VolumeChoice choice;
    std::int32_t most = 0;
  };

  void number_terms();
  void divide_rows();
  std::vector<std::uint32_t> reached_by(NodeId node) const;
  bool matches(std::uint32_t terms, NodeId node) const;
  VolumeChoice choose(const Set& set) const;
  std::int32_t count_most(const Set& set) const;
  bool is_reached(const Set& set, const VolumeCandidate& candidate) const;

  std::shared_ptr<const VolumeNeeds> needs_;
  const Cluster& cluster_;
  bool shares_claims_ = false;  // answers depend on the node itself

  std::vector<const Terms*> terms_;  // distinct ones of volumes; the first stands for "everywhere"
  boost::unordered_flat_map<const api::Object*, std::uint32_t> terms_of_;
  // Terms that ask for one of some values of one label can only match nodes that have it.
  struct Value {
    const LabelColumn* column;
    boost::unordered_flat_map<std::string, std::vector<std::uint32_t>> terms;
  };
  std::vector<Value> by_value_;
  std::vector<std::uint32_t> others_;

  std::vector<Set> sets_;
  std::vector<std::uint32_t> set_of_;                  // by row
  std::vector<std::vector<std::uint32_t>> sets_with_;  // by terms
  mutable VolumeChoice scratch_;
};

}  // namespace muster::scheduler
