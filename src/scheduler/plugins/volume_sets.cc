#include "scheduler/plugins/volume_sets.h"

#include <algorithm>

#include "api/views/node_selector.h"

namespace muster::scheduler {
namespace {

bool same(const VolumeChoice& a, const VolumeChoice& b) {
  return std::ranges::equal(a.volumes, b.volumes, {}, &VolumeCandidate::volume,
                            &VolumeCandidate::volume);
}

template <typename Visit>
void for_each_candidate(const VolumeNeeds& needs, Visit&& visit) {
  for (const DelayedClaim& claim : needs.delayed) {
    if (claim.reserved.volume != nullptr) visit(claim.reserved);
    for (const VolumeCandidate& candidate : *claim.candidates) visit(candidate);
  }
}

// The requirement of a single term that names the values a node must have; null: there is none.
const api::NodeRequirement* value_requirement(const std::vector<api::NodeSelectorTerm>& terms) {
  if (terms.size() != 1) return nullptr;
  const auto at = std::ranges::find(terms.front().expressions, api::SelectorOperator::In,
                                    &api::NodeRequirement::op);
  return at == terms.front().expressions.end() ? nullptr : &*at;
}

}  // namespace

VolumeSets::VolumeSets(std::shared_ptr<const VolumeNeeds> needs, const Cluster& cluster)
    : needs_(std::move(needs)), cluster_(cluster) {
  shares_claims_ = std::ranges::any_of(
      needs_->delayed, [](const DelayedClaim& claim) { return !claim.key.empty(); });
  if (shares_claims_) return;
  number_terms();
  divide_rows();
}

void VolumeSets::number_terms() {
  std::map<Terms, std::uint32_t> numbers;
  terms_.push_back(nullptr);
  for_each_candidate(*needs_, [&](const VolumeCandidate& candidate) {
    if (!candidate.view->has_affinity) {
      terms_of_[candidate.volume.get()] = 0;
      return;
    }
    const auto [at, is_new] =
        numbers.try_emplace(candidate.view->affinity, static_cast<std::uint32_t>(terms_.size()));
    if (is_new) terms_.push_back(&candidate.view->affinity);
    terms_of_[candidate.volume.get()] = at->second;
  });
  for (std::uint32_t number = 1; number < terms_.size(); ++number) {
    const api::NodeRequirement* requirement = value_requirement(*terms_[number]);
    if (requirement == nullptr) {
      others_.push_back(number);
      continue;
    }
    const LabelColumn* column = &cluster_.label(requirement->key);
    auto at = std::ranges::find(by_value_, column, &Value::column);
    if (at == by_value_.end()) at = by_value_.insert(at, {column, {}});
    for (const std::string& value : requirement->values) at->terms[value].push_back(number);
  }
}

bool VolumeSets::matches(std::uint32_t terms, NodeId node) const {
  const api::ObjectMeta& meta = cluster_.node_object(node)->meta();
  return std::ranges::any_of(*terms_[terms], [&](const api::NodeSelectorTerm& term) {
    return api::matches(term, meta.name, meta.labels);
  });
}

std::vector<std::uint32_t> VolumeSets::reached_by(NodeId node) const {
  std::vector<std::uint32_t> reached{0};
  const auto add = [&](std::uint32_t terms) {
    if (matches(terms, node)) reached.push_back(terms);
  };
  std::ranges::for_each(others_, add);
  for (const Value& value : by_value_) {
    const auto at = value.terms.find(value.column->names[index_of(value.column->values[node])]);
    if (at != value.terms.end()) std::ranges::for_each(at->second, add);
  }
  std::ranges::sort(reached);
  const auto repeated = std::ranges::unique(reached);
  reached.erase(repeated.begin(), repeated.end());
  return reached;
}

void VolumeSets::divide_rows() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;
  set_of_.assign(cluster_.rows(), 0);
  sets_with_.resize(terms_.size());
  cluster_.nodes().for_each([&](NodeId node) {
    const auto [at, is_new] =
        numbers.try_emplace(reached_by(node), static_cast<std::uint32_t>(sets_.size()));
    if (is_new) {
      sets_.push_back({at->first, {}, {}, 0});
      for (const std::uint32_t terms : at->first) sets_with_[terms].push_back(at->second);
    }
    set_of_[index_of(node)] = at->second;
    sets_[at->second].rows.push_back(node);
  });
  for (Set& set : sets_) {
    set.choice = choose(set);
    set.most = count_most(set);
  }
}

bool VolumeSets::is_reached(const Set& set, const VolumeCandidate& candidate) const {
  return std::ranges::binary_search(set.reaches, terms_of_.at(candidate.volume.get()));
}

VolumeChoice VolumeSets::choose(const Set& set) const {
  return choose_volumes(
      *needs_, [&](const VolumeCandidate& candidate) { return is_reached(set, candidate); },
      [&](const VolumeCandidate& candidate) {
        return cluster_.volume_draft().is_taken(*candidate.volume);
      });
}

// A claim that nobody would make a volume for needs one of those there are.
std::int32_t VolumeSets::count_most(const Set& set) const {
  std::int32_t most = kNoCap;
  for (const DelayedClaim& claim : needs_->delayed) {
    if (claim.can_provision || claim.reserved.volume != nullptr) continue;
    const auto reached = std::ranges::count_if(
        *claim.candidates, [&](const VolumeCandidate& one) { return is_reached(set, one); });
    most = std::min(most, static_cast<std::int32_t>(reached));
  }
  return most;
}

const VolumeChoice* VolumeSets::choice(NodeId node) const {
  if (!shares_claims_) return &sets_[set_of_[index_of(node)]].choice;
  if (cluster_.node_object(node) == nullptr) return nullptr;
  std::optional<VolumeChoice> choice = cluster_.choose_volumes(*needs_, node);
  if (!choice) return nullptr;
  scratch_ = std::move(*choice);
  return &scratch_;
}

std::int32_t VolumeSets::most_on(NodeId node) const {
  return shares_claims_ ? kNoCap : sets_[set_of_[index_of(node)]].most;
}

void VolumeSets::moved(const PodClass& pods, Touched& touched) {
  if (pods.volumes == nullptr || pods.volumes->delayed.empty()) return;
  if (shares_claims_) return touched.every_row();
  for (const api::Object* volume : cluster_.volume_draft().last()) {
    const auto at = terms_of_.find(volume);
    if (at == terms_of_.end()) continue;
    for (const std::uint32_t number : sets_with_[at->second]) {
      Set& set = sets_[number];
      VolumeChoice now = choose(set);
      if (same(now, set.choice)) continue;
      set.choice = std::move(now);
      for (const NodeId node : set.rows) touched.row(node);
    }
  }
}

}  // namespace muster::scheduler
