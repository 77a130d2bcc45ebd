#include "scheduler/plugins/taint_toleration.h"

#include <algorithm>

#include "api/views/tolerations.h"

namespace muster::scheduler {
namespace {

// Taint lists are interned: a class of pods is compared with each distinct list once, never with
// each node.
class TaintFilterPass final : public FilterPass {
 public:
  TaintFilterPass(const PodClass& pods, const Cluster& cluster) : pods_(pods), cluster_(cluster) {
    extend();
  }

  void refresh() override { extend(); }
  void narrow(NodeSet& candidates) const override {
    if (!any_refused_) return;
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override { return !refused_[index_of(cluster_.taint_set(node))]; }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    return Verdict::refuse("node(s) had untolerated taint(s)", Remedy::None);
  }

 private:
  void extend() {
    const auto sets = cluster_.taint_sets();
    for (std::size_t id = refused_.size(); id < sets.size(); ++id) {
      refused_.push_back(repels(sets[id], pods_.needs->tolerations));
      any_refused_ |= refused_.back() != 0;
    }
  }

  const PodClass& pods_;
  const Cluster& cluster_;
  std::vector<char> refused_;  // by TaintSetId
  bool any_refused_ = false;
};

// Raw score: soft taints that are not tolerated; fewer is better.
class TaintScorePass final : public ScorePass {
 public:
  TaintScorePass(const PodClass& pods, const Cluster& cluster) : cluster_(cluster) {
    for (const api::Toleration& toleration : pods.needs->tolerations)
      if (toleration.effect.empty() || toleration.effect == "PreferNoSchedule")
        tolerations_.push_back(toleration);
    extend();
  }

  Form form() const override { return Form::Raw; }
  void refresh() override { extend(); }
  std::int64_t raw(NodeId node) const override { return raws_[index_of(cluster_.taint_set(node))]; }
  bool is_uniform() const override { return !any_; }
  void normalize(std::span<std::int64_t> scores) const override {
    default_normalize(Better::Lower, scores);
  }

 private:
  void extend() {
    const auto sets = cluster_.taint_sets();
    for (std::size_t id = raws_.size(); id < sets.size(); ++id) {
      raws_.push_back(std::ranges::count_if(sets[id], [this](const api::Taint& taint) {
        return taint.effect == api::TaintEffect::PreferNoSchedule &&
               !tolerates(tolerations_, taint);
      }));
      any_ |= raws_.back() != 0;
    }
  }

  const Cluster& cluster_;
  std::vector<api::Toleration> tolerations_;
  std::vector<std::int64_t> raws_;  // by TaintSetId
  bool any_ = false;
};

bool repels_pod(const api::ObjectPtr& node, const api::Object& pod) {
  return repels(node->view<api::NodeView>().taints, pod.view<api::PodView>().needs.tolerations);
}

}  // namespace

std::unique_ptr<FilterPass> TaintToleration::prepare_filter(const PodClass& pods,
                                                            const Cluster& cluster) const {
  return std::make_unique<TaintFilterPass>(pods, cluster);
}

std::unique_ptr<ScorePass> TaintToleration::prepare_score(const PodClass& pods,
                                                          const Cluster& cluster) const {
  return std::make_unique<TaintScorePass>(pods, cluster);
}

bool TaintToleration::could_help(const api::Object& pod, const ClusterEvent& event) const {
  if (event.resource == Resource::TargetPod) return event.action == Action::UpdatePodToleration;
  if (event.resource != Resource::Node || event.after == nullptr) return false;
  if (event.action != Action::Add && event.action != Action::UpdateNodeTaint) return false;
  return (event.before == nullptr || repels_pod(event.before, pod)) &&
         !repels_pod(event.after, pod);
}

}  // namespace muster::scheduler
