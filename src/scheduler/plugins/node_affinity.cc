#include "scheduler/plugins/node_affinity.h"

#include <algorithm>

#include "scheduler/plugins/node_selector.h"

namespace muster::scheduler {
namespace {

// The names that required terms pin pods to by matchFields `metadata.name In`: the union over terms
// of the intersection within a term. Nullopt if any term, or having none, allows every name.
std::optional<std::vector<std::string>> pinned_names(const api::PodNeeds& needs) {
  if (needs.required.empty()) return std::nullopt;
  std::vector<std::string> all;
  for (const api::NodeSelectorTerm& term : needs.required) {
    std::optional<std::vector<std::string>> names;
    for (const api::NodeRequirement& field : term.fields) {
      if (field.key != "metadata.name" || field.op != api::SelectorOperator::In) continue;
      if (!names)
        names = field.values;
      else
        std::erase_if(*names, [&](const std::string& name) {
          return std::ranges::find(field.values, name) == field.values.end();
        });
    }
    if (!names) return std::nullopt;
    all.insert(all.end(), names->begin(), names->end());
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

class NodeAffinityFilterPass final : public FilterPass {
 public:
  NodeAffinityFilterPass(const NodeAffinityArgs& args, const PodClass& pods, const Cluster& cluster)
      : cluster_(cluster),
        selector_(pods.needs->node_selector, cluster),
        names_(pinned_names(*pods.needs)) {
    has_selector_ = !pods.needs->node_selector.empty();
    has_required_ = pods.needs->has_required;
    for (const api::NodeSelectorTerm& term : pods.needs->required)
      terms_.emplace_back(term, cluster);
    has_added_ = args.has_required;
    for (const api::NodeSelectorTerm& term : args.required) added_.emplace_back(term, cluster);
  }

  void refresh() override {
    selector_.refresh();
    for (CompiledTerm& term : added_) term.refresh();
    for (CompiledTerm& term : terms_) term.refresh();
  }
  void narrow(NodeSet& candidates) const override {
    if (names_) {  // a handful of nodes: look at those only
      NodeSet kept(cluster_.rows());
      for (const std::string& name : *names_)
        if (NodeId node{};
            cluster_.find_node(name, node) && candidates.contains(node) && admits(node))
          kept.insert(node);
      candidates = std::move(kept);
      return;
    }
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override {
    if (has_added_ && !matches_any(added_, node)) return false;
    if (has_selector_ && !selector_.matches(node)) return false;
    return !has_required_ || matches_any(terms_, node);
  }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    if (has_added_ && !matches_any(added_, node))
      return Verdict::refuse("node(s) didn't match scheduler-enforced node affinity", Remedy::None);
    return Verdict::refuse("node(s) didn't match Pod's node affinity/selector", Remedy::None);
  }
  std::optional<std::string> refuses_everywhere() const override {
    if (names_ && names_->empty()) return "pod affinity terms conflict";
    return std::nullopt;
  }
  const std::vector<std::string>* only_on() const override { return names_ ? &*names_ : nullptr; }

 private:
  static bool matches_any(const std::vector<CompiledTerm>& terms, NodeId node) {
    return std::ranges::any_of(terms, [&](const auto& term) { return term.matches(node); });
  }

  const Cluster& cluster_;
  CompiledTerm selector_;
  std::vector<CompiledTerm> added_;  // the profile's
  std::vector<CompiledTerm> terms_;
  std::optional<std::vector<std::string>> names_;
  bool has_selector_ = false;
  bool has_required_ = false;
  bool has_added_ = false;
};

// Raw score: the sum of the weights of matching preferred terms; more is better.
class NodeAffinityScorePass final : public ScorePass {
 public:
  NodeAffinityScorePass(const NodeAffinityArgs& args, const PodClass& pods,
                        const Cluster& cluster) {
    for (const auto* list : {&args.preferred, &pods.needs->preferred})
      for (const api::PreferredNodeTerm& preferred : *list)
        if (preferred.weight != 0)
          terms_.push_back({preferred.weight, CompiledTerm(preferred.term, cluster)});
  }

  Form form() const override { return Form::Raw; }
  void refresh() override {
    for (auto& [weight, term] : terms_) term.refresh();
  }
  std::int64_t raw(NodeId node) const override {
    std::int64_t sum = 0;
    for (const auto& [weight, term] : terms_)
      if (term.matches(node)) sum += weight;
    return sum;
  }
  void normalize(std::span<std::int64_t> scores) const override {
    default_normalize(Better::Higher, scores);
  }

 private:
  struct Term {
    std::int64_t weight;
    CompiledTerm term;
  };
  std::vector<Term> terms_;
};

}  // namespace

std::vector<std::string> NodeAffinityArgs::label_keys() const {
  std::vector<std::string> keys;
  const auto add = [&keys](const api::NodeSelectorTerm& term) {
    for (const api::NodeRequirement& expression : term.expressions) keys.push_back(expression.key);
  };
  for (const api::NodeSelectorTerm& term : required) add(term);
  for (const api::PreferredNodeTerm& term : preferred) add(term.term);
  return keys;
}

std::unique_ptr<FilterPass> NodeAffinity::prepare_filter(const PodClass& pods,
                                                         const Cluster& cluster) const {
  if (!args_.has_required && !pods.needs->has_required && pods.needs->node_selector.empty())
    return nullptr;
  return std::make_unique<NodeAffinityFilterPass>(args_, pods, cluster);
}

std::unique_ptr<ScorePass> NodeAffinity::prepare_score(const PodClass& pods,
                                                       const Cluster& cluster) const {
  if (args_.preferred.empty() && pods.needs->preferred.empty()) return nullptr;
  return std::make_unique<NodeAffinityScorePass>(args_, pods, cluster);
}

bool NodeAffinity::accepts(const api::Object& pod, const api::Object& node) const {
  const auto& meta = node.meta();
  const bool added = !args_.has_required ||
                     std::ranges::any_of(args_.required, [&](const api::NodeSelectorTerm& term) {
                       return matches(term, meta.name, meta.labels);
                     });
  return added && matches_selection(pod.view<api::PodView>().needs, meta.name, meta.labels);
}

bool NodeAffinity::could_help(const api::Object& pod, const ClusterEvent& event) const {
  if (event.resource != Resource::Node || event.after == nullptr) return false;
  if (event.action != Action::Add && event.action != Action::UpdateNodeLabel) return false;
  return accepts(pod, *event.after) && (event.before == nullptr || !accepts(pod, *event.before));
}

}  // namespace muster::scheduler
