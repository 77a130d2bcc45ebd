#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/views/pod_view.h"
#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Node affinity that every pod of a profile has besides its own (addedAffinity). `has_required`
// with no terms matches no node.
struct NodeAffinityArgs {
  bool has_required = false;
  std::vector<api::NodeSelectorTerm> required = {};
  std::vector<api::PreferredNodeTerm> preferred = {};

  std::vector<std::string> label_keys() const;
};

// nodeSelector and node affinity: required terms filter, preferred terms score.
class NodeAffinity final : public Filter, public Score, public Hints {
 public:
  static constexpr std::string_view kName = "NodeAffinity";
  explicit NodeAffinity(NodeAffinityArgs args = {}) : args_(std::move(args)) {}
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    return resource == Resource::Node &&
           (action == Action::Add || action == Action::UpdateNodeLabel);
  }

 private:
  bool accepts(const api::Object& pod, const api::Object& node) const;

  NodeAffinityArgs args_;
};

}  // namespace muster::scheduler
