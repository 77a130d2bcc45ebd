#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/plugins/spread_args.h"

namespace muster::scheduler {

// A spread constraint of a class of pods, its own or a default one.
struct Spread {
  enum class Kind : std::uint8_t { Hard, Soft };
  TermId term;  // the pods that count
  bool selects_everything = false;
  std::string topology_key;
  std::int64_t max_skew = 1;
  std::int64_t min_domains = 1;
  bool honors_affinity = true;
  bool honors_taints = false;
};

std::vector<Spread> spreads_of(const PodClass& pods, const Cluster& cluster,
                               const PodTopologySpreadArgs& args, Spread::Kind kind);

// Whether pods of the class are among those that the constraint selects. An empty selector selects
// them, although nobody is counted by it.
bool is_self(const Spread& constraint, const PodClass& pods);

// The nodes that have the keys of all constraints.
NodeSet nodes_with_all(std::span<const Spread> constraints, const Cluster& cluster);
// Those of `among` whose pods count, by the constraint's inclusion policies.
NodeSet counted_nodes(const Spread& constraint, const PodClass& pods, const Cluster& cluster,
                      const NodeSet& among);

}  // namespace muster::scheduler
