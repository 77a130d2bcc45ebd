// What classes ask about pods, and how the classes of pods on nodes are split by that.
#include <algorithm>
#include <utility>

#include "scheduler/cache/cluster.h"

namespace muster::scheduler {
namespace {

// How the pods that match a new term divide the classes they are in.
class Parts {
 public:
  struct Part {
    std::uint32_t matching = 0;
    ClassId to = ClassId::None;  // None: nobody moves, unless they are left out
    bool is_left_out = false;    // who moves is not counted any more
    bool rest_moves = false;     // else those that match do
  };
  struct Move {
    PodLabels::Slot slot;
    ClassId to;  // None: they are left out
  };

  Parts(const PodLabels& labels, std::span<const PodLabels::Slot> matching) {
    for (const PodLabels::Slot slot : matching) {
      const auto [at, is_new] = positions_.try_emplace(labels.class_of(slot), parts_.size());
      if (is_new) parts_.emplace_back(at->first, Part{});
      ++parts_[at->second].second.matching;
    }
  }
  // In the order in which they were found.
  auto begin() { return parts_.begin(); }
  auto end() { return parts_.end(); }

  // All moves, before the first of them is made.
  std::vector<Move> moves(const PodLabels& labels,
                          std::span<const PodLabels::Slot> matching) const {
    std::vector<Move> moves;
    const auto add = [&](PodLabels::Slot slot, bool is_rest) {
      const auto at = positions_.find(labels.class_of(slot));
      if (at == positions_.end()) return;
      const Part& part = parts_[at->second].second;
      if ((part.to != ClassId::None || part.is_left_out) && part.rest_moves == is_rest)
        moves.push_back({slot, part.to});
    };
    for (const PodLabels::Slot slot : matching) add(slot, false);
    if (std::ranges::none_of(parts_, [](const auto& entry) { return entry.second.rest_moves; }))
      return moves;
    std::vector<bool> is_matching(labels.slots());
    for (const PodLabels::Slot slot : matching) is_matching[slot] = true;
    for (PodLabels::Slot slot = 0; slot < labels.slots(); ++slot)
      if (!is_matching[slot]) add(slot, true);
    return moves;
  }

 private:
  boost::unordered_flat_map<ClassId, std::size_t> positions_;
  std::vector<std::pair<ClassId, Part>> parts_;
};

}  // namespace

// The pods that belong together with one that says nothing of spreading itself.
std::optional<Term> Cluster::default_term_of(const api::Object& pod) const {
  if (default_spread_keys_.empty() || selectors_.empty() ||
      !pod.view<api::PodView>().needs.spread.empty())
    return std::nullopt;
  api::PodSelector selector = selectors_.selector_of(pod.meta());
  if (selector.is_null) return std::nullopt;
  Term term;
  term.namespaces.push_back(pod.meta().name_space);
  term.selector = std::move(selector);
  return term;
}

std::vector<Term> Cluster::terms_of(const api::Object& pod, Part part) const {
  const api::PodNeeds& needs = pod.view<api::PodView>().needs;
  if (has_too_many_terms(needs)) return {};
  std::vector<Term> terms = resolve_terms(pod.meta(), needs);
  if (part == Part::IsCounted) return terms;
  if (std::optional<Term> together = default_term_of(pod)) terms.push_back(std::move(*together));
  return terms;
}

// Why a pod that asks something new may ask nothing, if so. Its cost is not known yet: at most a
// match of each new term in each class of pods that run in the namespace, and all terms of the
// namespace in the pod's own class. A pod found to have no room only after its terms were added is
// refused before that the next time, so nobody adds and removes them forever.
Cluster::Excess Cluster::excess_of(const api::Object& pod, const std::vector<Term>& terms) {
  const std::string& asker = pod.meta().name_space;
  std::size_t foreign = 0;
  std::size_t own = 0;
  for (const Term& term : terms)
    if (!terms_->find(term)) ++(is_foreign(term, asker) ? foreign : own);
  const TermCharge& charge = terms_->charge_of(asker);
  if (foreign > 0 && charge.foreign_terms + foreign > term_limits_.foreign_terms) {
    short_of_room_->insert(asker);
    return Excess::OfForeignTerms;
  }
  const std::size_t classes = own > 0 && followed_->on ? pod_labels().classes_in(asker).size() : 0;
  const std::size_t added = own * classes + charge.own_terms + own;
  return has_room(asker, added) ? Excess::None : Excess::OfMatches;
}

// The caller releases the terms once it has the class that uses them: others are looked up in the
// meantime, and may ask the same and be left out.
Cluster::Asked Cluster::use_terms(const api::Object& pod, Part part) {
  // Most pods ask nothing about others.
  const api::PodNeeds& needs = pod.view<api::PodView>().needs;
  const bool may_belong_together =
      part == Part::Asks && !default_spread_keys_.empty() && !selectors_.empty();
  if (needs.pod_terms.empty() && needs.spread.empty() && !may_belong_together) return {};
  if (has_too_many_terms(needs)) return {.excess = Excess::OfPod};
  const std::vector<Term> terms = terms_of(pod, part);
  Asked asked;
  for (const Term& term : terms)
    if (const std::optional<TermId> id = terms_->find(term)) asked.terms.push_back(*id);
  std::vector<TermId> added;
  if (asked.terms.size() < terms.size()) {
    if (const Excess excess = excess_of(pod, terms); excess != Excess::None)
      return {.excess = excess};
    asked.terms.clear();
    for (const Term& term : terms) {
      const TermBook::Found found = terms_->intern(term, pod.meta().name_space);
      asked.terms.push_back(found.id);
      if (found.is_new) added.push_back(found.id);
    }
    ++*term_epoch_;
  }
  for (const TermId id : asked.terms) terms_->use(id);
  if (followed_->on)
    for (const TermId id : added) split_classes(id);
  return asked;
}

// Pods on nodes that match a new term are of other classes than those that do not. Those who
// counted them before know nothing of the new term, and what else they ask is answered alike by
// both: nothing needs to be logged for them. What pods on nodes ask themselves was interned when
// they came: no class is split in the middle of this.
//
// A class whose pods all match remains what it is, with one more match. Of any other the smaller
// part moves to a new class: each time a pod moves, its class is at most half as large as before,
// so that the same n pods move n log2(n) times in all, whatever is asked about them. Where there is
// no room for what the new class would match, they are left out: that is logged, since they leave
// the counts of all who ask about them.
void Cluster::split_classes(TermId added) {
  const PodLabels& labels = pod_labels();
  const Term& term = *find_term(added);
  // A term that only excludes labels usually matches whole namespaces, and so whole classes.
  if (const auto counts = labels.matching_all(term, namespaces_);
      counts && std::ranges::all_of(*counts, [this](const auto& entry) {
        return entry.second == pod_class(entry.first).running;
      })) {
    for (const auto& [id, count] : *counts)
      if (PodClass& pods = *classes_->by_id[index_of(id)]; !pods.is_left_out)
        add_match(pods, added);
    return;
  }
  const std::vector<PodLabels::Slot> matching = labels.matching(term, namespaces_);
  Parts parts(labels, matching);
  for (auto& [id, part] : parts) {
    PodClass& pods = *classes_->by_id[index_of(id)];
    if (pods.is_left_out) continue;
    if (part.matching == pods.running) {
      add_match(pods, added);
      continue;
    }
    part.rest_moves = part.matching > pods.running / 2;
    if (!has_room(pods.matches)) {
      part.is_left_out = true;
      if (part.rest_moves) add_match(pods, added);
      continue;
    }
    auto copy = std::make_unique<PodClass>(pods);
    copy->users = 0;
    copy->running = 0;
    PodClass& other = store_class(std::move(copy));
    part.to = other.id;
    add_match(part.rest_moves ? pods : other, added);
  }
  for (const auto& [slot, to] : parts.moves(labels, matching)) {
    PodRecord& record = pods_.find(std::string_view(labels.pod(slot).meta().uid))->second;
    if (to == ClassId::None)
      reclass_and_log(record, left_out_class(record.pod, Part::IsCounted).id);
    else
      reclass(record, to);
  }
}

// --- namespaces ---

bool Cluster::set_namespace(const api::Object& name_space) {
  const api::ObjectMeta& meta = name_space.meta();
  api::StringPairs& labels = namespaces_[meta.name];
  if (labels == meta.labels) return false;
  labels = meta.labels;
  reclass_namespace(meta.name);
  return terms_->reads_namespaces();
}

void Cluster::remove_namespace(std::string_view name) {
  const auto at = namespaces_.find(name);
  if (at == namespaces_.end()) return;
  namespaces_.erase(at);
  reclass_namespace(name);
}

// In the order of UIDs, so that the numbers of classes do not depend on addresses.
std::vector<Cluster::PodRecord*> Cluster::records_of(const std::vector<const api::Object*>& pods) {
  std::vector<PodRecord*> records;
  records.reserve(pods.size());
  for (const api::Object* pod : pods)
    records.push_back(&pods_.find(std::string_view(pod->meta().uid))->second);
  std::ranges::sort(records, {},
                    [](const PodRecord* r) { return std::string_view(r->pod->meta().uid); });
  return records;
}

// Here what is asked already gets another answer: for those who count, the pods leave and come
// back as others.
void Cluster::reclass_namespace(std::string_view name) {
  nominated_classes_->terms_seen.reset();
  if (!followed_->on || !terms_->reads_namespaces()) return;
  for (PodRecord* record : records_of(pod_labels().in_namespace(name)))
    reclass_and_log(*record, counted_class_of(record->pod).id);
}

}  // namespace muster::scheduler
