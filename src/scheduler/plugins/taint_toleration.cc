#include "scheduler/plugins/taint_toleration.h"

#include <algorithm>
#include <utility>

#include "api/views/pod_view.h"
#include "api/views/tolerations.h"

namespace muster::scheduler {
namespace {

// One answer for each list of taints that nodes have. They are interned: a class of pods is
// compared with each distinct list once, never with each node.
template <typename Answer>
class TaintAnswers {
 public:
  explicit TaintAnswers(const Cluster& cluster) : cluster_(cluster) {}

  // Judges the lists that came since; all of them if they were numbered again.
  template <typename Judge>
  void refresh(Judge&& judge) {
    if (std::exchange(numbering_, cluster_.taint_numbering()) != cluster_.taint_numbering()) {
      answers_.clear();
      any_ = false;
    }
    const auto sets = cluster_.taint_sets();
    for (std::size_t id = answers_.size(); id < sets.size(); ++id) {
      answers_.push_back(judge(sets[id]));
      any_ |= answers_.back() != 0;
    }
  }
  Answer at(NodeId node) const { return answers_[index_of(cluster_.taint_set(node))]; }
  // Whether the answer to some list is not 0.
  bool any() const { return any_; }

 private:
  const Cluster& cluster_;
  std::vector<Answer> answers_;  // by TaintSetId
  std::uint64_t numbering_ = 0;  // of the sets, that they are for
  bool any_ = false;
};

class TaintFilterPass final : public FilterPass {
 public:
  TaintFilterPass(const PodClass& pods, const Cluster& cluster) : pods_(pods), refused_(cluster) {
    judge();
  }

  void refresh() override { judge(); }
  void narrow(NodeSet& candidates) const override {
    if (!refused_.any()) return;
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override { return refused_.at(node) == 0; }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    return Verdict::refuse("node(s) had untolerated taint(s)", Remedy::None);
  }

 private:
  void judge() {
    refused_.refresh([this](const std::vector<api::Taint>& taints) {
      return repels(taints, pods_.needs->tolerations);
    });
  }

  const PodClass& pods_;
  TaintAnswers<char> refused_;
};

// Raw score: soft taints that are not tolerated; fewer is better.
class TaintScorePass final : public ScorePass {
 public:
  TaintScorePass(const PodClass& pods, const Cluster& cluster) : repelling_(cluster) {
    for (const api::Toleration& toleration : pods.needs->tolerations)
      if (toleration.effect.empty() || toleration.effect == "PreferNoSchedule")
        tolerations_.push_back(toleration);
    judge();
  }

  Form form() const override { return Form::Raw; }
  void refresh() override { judge(); }
  std::int64_t raw(NodeId node) const override { return repelling_.at(node); }
  bool is_uniform() const override { return !repelling_.any(); }
  void normalize(std::span<std::int64_t> scores) const override {
    default_normalize(Better::Lower, scores);
  }

 private:
  void judge() {
    repelling_.refresh([this](const std::vector<api::Taint>& taints) {
      return std::ranges::count_if(taints, [this](const api::Taint& taint) {
        return taint.effect == api::TaintEffect::PreferNoSchedule &&
               !tolerates(tolerations_, taint);
      });
    });
  }

  std::vector<api::Toleration> tolerations_;
  TaintAnswers<std::int64_t> repelling_;
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
