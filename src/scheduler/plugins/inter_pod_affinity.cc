#include "scheduler/plugins/inter_pod_affinity.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <utility>

#include "scheduler/plugins/places.h"
#include "scheduler/plugins/pod_counts.h"
#include "scheduler/plugins/pod_term_match.h"
#include "scheduler/plugins/terms_of_others.h"

namespace muster::scheduler {
namespace {

constexpr std::size_t kPlacesMax = 128;

// A required term of ours, or all those of others about one label, with the number of pods it is
// about by label value.
struct Question {
  enum class About : std::uint8_t {
    Attracting,  // ours: pods that match all our affinity terms
    Repelled,    // ours: pods that match our anti-affinity term
    Repelling,   // others' anti-affinity terms that we match: pods that have one, once for each
  };
  About about;
  TermId term;  // ours; of others the first
  PodCounts counts;
  bool is_self = false;      // pods of the class count for each other
  bool is_by_place = false;  // else row by row
  bool is_one_node_each = false;
};

class AffinityFilterPass final : public FilterPass {
 public:
  AffinityFilterPass(const PodClass& pods, const Cluster& cluster)
      : cluster_(cluster), questions_(ask_all(pods)), places_(divide()) {
    for (std::size_t q = 0; q < questions_.size(); ++q) {
      questions_[q].is_by_place = places_.divides_by(q);
      any_by_place_ |= questions_[q].is_by_place;
      if (questions_[q].about == Question::About::Attracting) {
        attracting_.push_back(questions_[q].term);
        attracts_itself_ &= questions_[q].is_self;
      }
    }
    choose_domain();
  }
  // Not if it waits for a node that has the label of somebody who repels us.
  bool is_idle() const { return questions_.empty() && !is_repelled_; }

  bool follows_moves() const override { return true; }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    count(pods, node, 1, touched);
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    count(pods, node, -1, touched);
  }
  void placed_many(const PodClass& pods, NodeId node, std::uint32_t pods_there,
                   Touched& touched) override {
    count(pods, node, pods_there, touched);
  }

  // A pod that attracts us and may never come makes no difference.
  bool depends_on(const PodClass& pods) const override {
    return repelling_.has_some_of(pods) ||
           std::ranges::any_of(questions_, [&](const Question& question) {
             return question.about == Question::About::Repelled &&
                    pods.is_matched_by(question.term);
           });
  }

  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override {
    return std::ranges::all_of(questions_, [&](const Question& question) {
      return admits(question, question.counts.value_of(node));
    });
  }

  bool has_places() const override { return any_by_place_; }
  bool admits_row(NodeId node) const override {
    return std::ranges::all_of(questions_, [&](const Question& question) {
      return question.is_by_place || admits(question, question.counts.value_of(node));
    });
  }
  std::int64_t place(NodeId node) const override { return places_.of(node); }
  bool admits_place(std::int64_t place) const override {
    for (std::size_t q = 0; q < questions_.size(); ++q)
      if (questions_[q].is_by_place && !admits(questions_[q], places_.value(place, q)))
        return false;
    return true;
  }

  Verdict ask(NodeId node) const override {
    using About = Question::About;
    if (refuses(About::Attracting, node))
      return Verdict::refuse("node(s) didn't match pod affinity rules", Remedy::None);
    if (refuses(About::Repelled, node))
      return Verdict::refuse("node(s) didn't match pod anti-affinity rules", Remedy::Eviction);
    if (refuses(About::Repelling, node))
      return Verdict::refuse("node(s) didn't satisfy existing pods anti-affinity rules",
                             Remedy::Eviction);
    return Verdict::accept();
  }

  // Placing more pods never removes one that repels us, but may add one that attracts us.
  std::int32_t cap_at(NodeId node) const override {
    std::int32_t cap = kNoCap;
    for (const Question& question : questions_) {
      if (question.about == Question::About::Attracting) {
        if (!question.counts.has_value(node)) return 0;
        continue;
      }
      if (!question.counts.has_value(node)) continue;
      if (!question.is_by_place && question.counts.around(node) > 0) return 0;
      if (question.is_self) cap = 1;
    }
    return cap;
  }
  Exactness cap(CapColumn& at_most) const override {
    cluster_.nodes().for_each(
        [&](NodeId node) { at_most[node] = std::min(at_most[node], cap_at(node)); });
    const bool is_exact = std::ranges::all_of(questions_, [](const Question& question) {
      return question.about != Question::About::Attracting && question.is_one_node_each;
    });
    return is_exact ? Exactness::PerNode : Exactness::UpperBound;
  }
  const LabelColumn* domain_column() const override { return domain_; }
  std::int32_t domain_cap(LabelValueId value) const override {
    std::int32_t cap = kNoCap;
    for (const Question& question : questions_) {
      if (&question.counts.column() != domain_ || question.about == Question::About::Attracting)
        continue;
      if (question.counts.at(value) > 0) return 0;
      if (question.is_self) cap = 1;
    }
    return cap;
  }
  // Nobody is there that we want near us, and nobody comes.
  bool may_admit(std::span<const PodClass* const> coming) const override {
    return attracting_.empty() || attracting_total_ > 0 ||
           std::ranges::any_of(coming, [this](const PodClass* pods) { return attracts(*pods); });
  }
  std::size_t bytes() const override {
    std::size_t sum =
        places_.bytes() + repelling_.bytes() + questions_.capacity() * sizeof(Question);
    for (const Question& question : questions_) sum += question.counts.bytes();
    return sum;
  }

 private:
  // What others have against us is one question for each label, whichever pod asks it and however
  // many they are; that by a label that no node has is none until one has it, when all is asked
  // again.
  std::vector<Question> ask_all(const PodClass& pods) {
    std::vector<Question> questions;
    const auto add = [&](Question::About about, TermId id, const LabelColumn& column) {
      questions.push_back({.about = about,
                           .term = id,
                           .counts = PodCounts(column),
                           .is_self = pods.is_matched_by(id),
                           .is_by_place = false,
                           .is_one_node_each = is_one_node_each(cluster_, column)});
    };
    for (const TermId id : pods.terms) {
      const Term* term = cluster_.find_term(id);
      if (term->role == Term::Role::Attracts)
        add(Question::About::Attracting, id, cluster_.label(term->key));
      if (term->role == Term::Role::Repels)
        add(Question::About::Repelled, id, cluster_.label(term->key));
    }
    boost::unordered_flat_map<const LabelColumn*, std::size_t> repelling;
    for (const TermId id : pods.matches) {
      const Term* term = cluster_.find_term(id);
      if (term == nullptr || term->role != Term::Role::Repels) continue;
      is_repelled_ = true;
      const LabelColumn& column = cluster_.label(term->key);
      if (!has_values(column)) continue;
      const auto [at, is_new] = repelling.try_emplace(&column, questions.size());
      if (is_new) {
        add(Question::About::Repelling, id, column);
        // That it repels itself is said by the class's own term.
        questions.back().is_self = false;
      }
      repelling_.add(id, at->second);
    }
    return questions;
  }
  Places divide() const {
    std::vector<const LabelColumn*> columns;
    for (const Question& question : questions_)
      columns.push_back(question.is_one_node_each ? nullptr : &question.counts.column());
    return {cluster_, columns, kPlacesMax};
  }
  // One label can be limited by domain caps: best that of a term that pods of the class have
  // against each other.
  void choose_domain() {
    for (const Question& question : questions_) {
      if (question.about == Question::About::Attracting || question.is_one_node_each) continue;
      if (domain_ == nullptr || question.is_self) domain_ = &question.counts.column();
      if (question.is_self) return;
    }
  }

  bool admits(const Question& question, LabelValueId value) const {
    if (question.about == Question::About::Attracting)
      return value != LabelValueId::Absent &&
             (question.counts.at(value) > 0 || (attracting_total_ == 0 && attracts_itself_));
    return value == LabelValueId::Absent || question.counts.at(value) == 0;
  }
  bool refuses(Question::About about, NodeId node) const {
    return std::ranges::any_of(questions_, [&](const Question& question) {
      return question.about == about && !admits(question, question.counts.value_of(node));
    });
  }

  // Whether pods of that class match all our affinity terms.
  bool attracts(const PodClass& pods) const {
    return std::ranges::all_of(attracting_, [&](TermId term) { return pods.is_matched_by(term); });
  }
  void add(Question& question, NodeId node, std::int64_t amount, Touched& touched) {
    if (!question.counts.has_value(node)) return;
    const bool was_any = question.counts.around(node) > 0;
    question.counts.add(node, amount);
    if (question.about == Question::About::Attracting) attracting_total_ += amount;
    if (!question.is_by_place && was_any != (question.counts.around(node) > 0))
      touched.value(question.counts.column(), question.counts.value_of(node));
  }
  void count(const PodClass& pods, NodeId node, std::int64_t amount, Touched& touched) {
    repelling_.for_each_of(pods, [&](std::size_t, std::size_t question) {
      add(questions_[question], node, amount, touched);
    });
    if (pods.matches.empty()) return;
    const bool is_attracting = !attracting_.empty() && attracts(pods);
    const std::int64_t total_before = attracting_total_;
    for (Question& question : questions_)
      if (question.about == Question::About::Attracting
              ? is_attracting
              : question.about == Question::About::Repelled && pods.is_matched_by(question.term))
        add(question, node, amount, touched);
    // The first of its kind may go anywhere, the second no longer.
    if ((total_before == 0) != (attracting_total_ == 0) &&
        std::ranges::any_of(questions_, [](const Question& question) {
          return question.about == Question::About::Attracting && !question.is_by_place;
        }))
      touched.every_row();
  }

  const Cluster& cluster_;
  TermsOfOthers repelling_;  // by question
  bool is_repelled_ = false;
  std::vector<Question> questions_;
  Places places_;
  bool any_by_place_ = false;
  std::vector<TermId> attracting_;
  bool attracts_itself_ = true;
  std::int64_t attracting_total_ = 0;
  const LabelColumn* domain_ = nullptr;
};

// Raw score: the weights of preferred terms by label value, ours and those of others that match us.
// What nodes of one place share is looked up when scores are normalized; what differs from node to
// node stands in the lower half of the raw score.
class AffinityScorePass final : public ScorePass {
 public:
  AffinityScorePass(const PodClass& pods, const Cluster& cluster, std::int64_t hard_weight)
      : hard_weight_(hard_weight), sums_(find_sums(pods, cluster)), places_(divide(cluster)) {
    for (std::size_t c = 0; c < sums_.size(); ++c) is_by_place_.push_back(places_.divides_by(c));
    gained_.resize(sums_.size(), 0);
  }

  Form form() const override { return Form::Raw; }
  bool follows_moves() const override { return true; }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    count(pods, node, 1, touched);
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    count(pods, node, -1, touched);
  }
  void placed_many(const PodClass& pods, NodeId node, std::uint32_t pods_there,
                   Touched& touched) override {
    count(pods, node, pods_there, touched);
  }
  std::int64_t raw(NodeId node) const override {
    std::int64_t alone = 0;
    for (std::size_t c = 0; c < sums_.size(); ++c)
      if (!is_by_place_[c]) alone += sums_[c].around(node);
    return (places_.of(node) << 32) + kZero + std::clamp(alone, 1 - kZero, kZero - 1);
  }
  void normalize(std::span<std::int64_t> scores) const override {
    std::int64_t least = 0;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = decoded(scores[i]);
      least = i == 0 ? scores[i] : std::min(least, scores[i]);
      most = i == 0 ? scores[i] : std::max(most, scores[i]);
    }
    const auto range = static_cast<double>(most - least);
    for (std::int64_t& score : scores)
      score = range == 0
                  ? 0
                  : static_cast<std::int64_t>(100.0 * (static_cast<double>(score - least) / range));
  }
  std::size_t bytes() const override {
    std::size_t sum = places_.bytes() + others_.bytes();
    for (const PodCounts& counts : sums_) sum += counts.bytes();
    return sum;
  }

 private:
  static constexpr std::int64_t kZero = std::int64_t{1} << 31;
  struct Weighed {
    TermId term;
    std::int64_t weight;
    std::size_t sum;
  };

  static std::int64_t sign_of(api::TermRole role) {
    return role == api::TermRole::Prefers ? 1 : role == api::TermRole::Avoids ? -1 : 0;
  }
  bool weighs(Term::Role role) const {
    return role == Term::Role::Prefers || role == Term::Role::Avoids ||
           (role == Term::Role::Attracts && hard_weight_ > 0);
  }
  // The labels that weights are summed by: those of our terms, and those of others that match us.
  // What no node has is left out until one has it, when all is prepared again.
  std::vector<PodCounts> find_sums(const PodClass& pods, const Cluster& cluster) {
    std::vector<PodCounts> sums;
    boost::unordered_flat_map<const LabelColumn*, std::size_t> found;
    const auto sum_of = [&](const LabelColumn& column) {
      const auto [at, is_new] = found.try_emplace(&column, sums.size());
      if (is_new) sums.emplace_back(column);
      return at->second;
    };
    for (std::size_t i = 0; i < pods.needs->pod_terms.size(); ++i) {
      const api::PodTerm& term = pods.needs->pod_terms[i];
      const LabelColumn& column = cluster.label(term.topology_key);
      if (const std::int64_t weight = sign_of(term.role) * term.weight;
          weight != 0 && has_values(column))
        own_.push_back({pods.terms[i], weight, sum_of(column)});
    }
    for (const TermId id : pods.matches) {
      const Term* term = cluster.find_term(id);
      if (term == nullptr || !weighs(term->role)) continue;
      if (const LabelColumn& column = cluster.label(term->key); has_values(column))
        others_.add(id, sum_of(column));
    }
    return sums;
  }
  Places divide(const Cluster& cluster) const {
    std::vector<const LabelColumn*> columns;
    for (const PodCounts& sum : sums_)
      columns.push_back(is_one_node_each(cluster, sum.column()) ? nullptr : &sum.column());
    return {cluster, columns, kPlacesMax};
  }
  std::int64_t decoded(std::int64_t raw) const {
    const std::int64_t place = raw >> 32;
    std::int64_t sum = (raw & 0xffffffff) - kZero;
    for (std::size_t c = 0; c < sums_.size(); ++c)
      if (is_by_place_[c]) sum += sums_[c].at(places_.value(place, c));
    return sum;
  }

  // What pods want of us by one of their terms.
  std::int64_t weight_for_us(const api::PodTerm& term) const {
    return term.role == api::TermRole::Attracts ? hard_weight_ : sign_of(term.role) * term.weight;
  }
  // Costs our terms and theirs, not all that match us.
  void count(const PodClass& pods, NodeId node, std::int64_t amount, Touched& touched) {
    bool has_gained = false;
    const auto gain = [&](std::size_t sum, std::int64_t weight) {
      gained_[sum] += weight;
      has_gained = true;
    };
    if (!pods.matches.empty())
      for (const Weighed& own : own_)
        if (pods.is_matched_by(own.term)) gain(own.sum, own.weight);
    others_.for_each_of(pods, [&](std::size_t term, std::size_t sum) {
      gain(sum, weight_for_us(pods.needs->pod_terms[term]));
    });
    if (!has_gained) return;
    for (std::size_t c = 0; c < sums_.size(); ++c) {
      const std::int64_t weight = std::exchange(gained_[c], 0);
      if (weight == 0 || !sums_[c].has_value(node)) continue;
      sums_[c].add(node, amount * weight);
      if (!is_by_place_[c]) touched.value(sums_[c].column(), sums_[c].value_of(node));
    }
  }

  std::int64_t hard_weight_;
  std::vector<Weighed> own_;
  TermsOfOthers others_;         // by sum
  std::vector<PodCounts> sums_;  // by label
  Places places_;
  std::vector<char> is_by_place_;     // by sum
  std::vector<std::int64_t> gained_;  // by sum, while pods are counted; else 0
};

bool has_preferences(const PodClass& pods) {
  return std::ranges::any_of(pods.needs->pod_terms, [](const api::PodTerm& term) {
    return term.role == api::TermRole::Prefers || term.role == api::TermRole::Avoids;
  });
}

}  // namespace

std::unique_ptr<FilterPass> InterPodAffinity::prepare_filter(const PodClass& pods,
                                                             const Cluster& cluster) const {
  if (pods.terms.empty() && pods.matches.empty()) return nullptr;
  auto pass = std::make_unique<AffinityFilterPass>(pods, cluster);
  if (pass->is_idle()) return nullptr;
  return pass;
}

std::unique_ptr<ScorePass> InterPodAffinity::prepare_score(const PodClass& pods,
                                                           const Cluster& cluster) const {
  const bool has_own = has_preferences(pods);
  if (!has_own && args_.ignore_preferred_terms_of_existing_pods) return nullptr;
  const auto weighs = [&](TermId id) {
    const Term* term = cluster.find_term(id);
    if (term == nullptr) return false;
    return term->role == Term::Role::Prefers || term->role == Term::Role::Avoids ||
           (term->role == Term::Role::Attracts && args_.hard_pod_affinity_weight > 0);
  };
  if (!has_own && std::ranges::none_of(pods.matches, weighs)) return nullptr;
  return std::make_unique<AffinityScorePass>(pods, cluster, args_.hard_pod_affinity_weight);
}

// Beyond upstream's hints: terms that select namespaces by label count as matching, since nobody
// knows the labels here; the last pod of its kind that leaves lets a pod that attracts itself go
// anywhere; and any new node label may lie outside the domain of somebody who repels the pod.
bool InterPodAffinity::could_help(const api::Object& pod, const ClusterEvent& event) const {
  switch (event.resource) {
    case Resource::TargetPod: return event.action == Action::UpdatePodLabel;
    case Resource::Node:
      return event.action == Action::Add || event.action == Action::UpdateNodeLabel;
    case Resource::Namespace: return true;
    case Resource::AssignedPod: break;
    default: return false;
  }
  const OtherPods others(pod);
  switch (event.action) {
    case Action::Add: return has_place(*event.after) && others.attracts(*event.after);
    case Action::Delete:
      return has_place(*event.before) &&
             (others.repels(*event.before) || others.attracts(*event.before) ||
              OtherPods(*event.before).repels(pod));
    case Action::UpdatePodLabel:
      return has_place(*event.after) &&
             ((others.attracts(*event.after) != others.attracts(*event.before)) ||
              (others.repels(*event.before) && !others.repels_all_of(*event.before, *event.after)));
    default: return false;
  }
}

}  // namespace muster::scheduler
