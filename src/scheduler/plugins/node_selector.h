#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/values/string_pairs.h"
#include "api/views/node_selector.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// A selector term compared with interned label values: each distinct value is judged once.
class CompiledTerm {
 public:
  CompiledTerm(const api::NodeSelectorTerm& term, const Cluster& cluster);
  // All pairs of a nodeSelector as one term; no pairs match every node.
  CompiledTerm(const api::StringPairs& pairs, const Cluster& cluster);

  // Judges values that were interned since.
  void refresh();
  bool matches(NodeId node) const;

 private:
  struct CompiledRequirement {
    api::NodeRequirement source;
    const LabelColumn* column;
    std::vector<char> verdicts;   // by LabelValueId
    std::uint64_t numbering = 0;  // of the column, that they are for
  };
  void add(const api::NodeRequirement& requirement);

  const Cluster* cluster_;
  std::vector<CompiledRequirement> requirements_;
  std::vector<api::NodeRequirement> fields_;
  bool never_ = false;
};

}  // namespace muster::scheduler
