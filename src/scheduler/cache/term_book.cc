#include "scheduler/cache/term_book.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {
namespace {

constexpr std::size_t kPlacesMax = 64;  // of a term with several namespaces

Term::Role role_of(api::TermRole role) {
  switch (role) {
    case api::TermRole::Attracts: return Term::Role::Attracts;
    case api::TermRole::Repels: return Term::Role::Repels;
    case api::TermRole::Prefers: return Term::Role::Prefers;
    case api::TermRole::Avoids: break;
  }
  return Term::Role::Avoids;
}

// matchLabelKeys and mismatchLabelKeys stand for the pod's own values of these labels. An API
// server may have added them to the selector already; then they are there once.
void require_own(const std::vector<std::string>& keys, api::SelectorOperator op,
                 const api::StringPairs& labels, api::PodSelector& selector) {
  for (const std::string& key : keys)
    if (const std::string* value = api::lookup(labels, key)) selector.require(key, op, *value);
}

}  // namespace

std::vector<Term> resolve_terms(const api::ObjectMeta& pod, const api::PodNeeds& needs) {
  std::vector<Term> terms;
  if (has_too_many_terms(needs)) {
    terms.resize(needs.pod_terms.size() + needs.spread.size());
    return terms;
  }
  terms.reserve(needs.pod_terms.size() + needs.spread.size());
  for (const api::PodTerm& written : needs.pod_terms) {
    Term& term = terms.emplace_back();
    term.role = role_of(written.role);
    term.key = written.topology_key;
    term.namespaces = written.namespaces;
    term.namespace_selector = written.namespace_selector;
    if (written.namespaces.empty() && !written.namespace_selector)
      term.namespaces.push_back(pod.name_space);
    term.selector = written.selector;
    require_own(written.match_label_keys, api::SelectorOperator::In, pod.labels, term.selector);
    require_own(written.mismatch_label_keys, api::SelectorOperator::NotIn, pod.labels,
                term.selector);
  }
  for (const api::SpreadConstraint& constraint : needs.spread) {
    Term& term = terms.emplace_back();
    term.namespaces.push_back(pod.name_space);
    term.selector = constraint.selector;
    require_own(constraint.match_label_keys, api::SelectorOperator::In, pod.labels, term.selector);
  }
  return terms;
}

bool is_foreign(const Term& term, std::string_view asker) {
  return term.namespace_selector ||
         std::ranges::any_of(term.namespaces,
                             [&](const std::string& about) { return about != asker; });
}

// Namespaces that a term is found by; one that is empty stands for any.
std::vector<std::string> TermBook::homes_of(const Term& term) {
  if (term.namespace_selector) return {std::string()};
  std::vector<std::string> homes = term.namespaces;
  const auto repeated = std::ranges::unique(homes);
  homes.erase(repeated.begin(), repeated.end());
  return homes;
}

const api::NodeRequirement* TermBook::rarest_test(const Term& term) const {
  const std::vector<std::string> homes = homes_of(term);
  const api::NodeRequirement* rarest = nullptr;
  std::size_t fewest = 0;
  for (const api::NodeRequirement& test : term.selector.tests) {
    if (test.op != api::SelectorOperator::In) continue;
    // What a term costs grows with its length, not with a product of its parts.
    if (homes.size() > 1 && homes.size() * test.values.size() > kPlacesMax) continue;
    std::size_t found = 0;
    for (const std::string& home : homes)
      for (const std::string& value : test.values)
        if (const auto at = lists_.find(std::tie(home, test.key, value)); at != lists_.end())
          found += at->second.live;
    if (rarest != nullptr && found >= fewest) continue;
    rarest = &test;
    fewest = found;
  }
  return rarest;
}

// The places that a term is found at: one for each of its namespaces and each value of the label it
// is found by. A pod that matches has one of the values, and finds the term once.
std::vector<TermBook::Place> TermBook::places_of(const Entry& entry) {
  if (entry.term->selector.is_null) return {};
  std::vector<Place> places;
  for (const std::string& home : homes_of(*entry.term)) {
    if (entry.found_by == nullptr) {
      places.emplace_back(home, std::string(), std::string());
      continue;
    }
    for (const std::string& value : entry.found_by->values)
      places.emplace_back(home, entry.found_by->key, value);
  }
  std::ranges::sort(places);  // a value may be written twice
  const auto repeated = std::ranges::unique(places);
  places.erase(repeated.begin(), repeated.end());
  return places;
}

TermBook::Found TermBook::intern(const Term& term, std::string_view asker) {
  const auto [at, is_new] = ids_.try_emplace(term, TermId{next_});
  if (!is_new) return {at->second, false};
  const TermId id = at->second;
  ++next_;
  Payer& payer = *charges_.try_emplace(std::string(asker)).first;
  const Entry entry{.term = &at->first,
                    .found_by = rarest_test(at->first),
                    .users = 0,
                    .matches = 0,
                    .is_foreign = is_foreign(term, asker),
                    .payer = &payer};
  ++(entry.is_foreign ? payer.second.foreign_terms : payer.second.own_terms);
  terms_.emplace(id, entry);
  for (Place& place : places_of(entry)) {
    List& list = lists_[std::move(place)];
    ++list.live;
    list.ids.push_back(id);
  }
  if (term.namespace_selector) ++namespace_readers_;
  return {id, true};
}

void TermBook::release(TermId id) {
  const auto at = terms_.find(id);
  CHECK(at != terms_.end() && at->second.users > 0);
  if (--at->second.users > 0) return;
  const auto known = ids_.find(*at->second.term);
  const Term& term = known->first;
  const std::vector<Place> places = places_of(at->second);
  if (term.namespace_selector) --namespace_readers_;
  end_charge(id, at->second);
  terms_.erase(at);
  ids_.erase(known);
  for (const Place& place : places) leave(place);
}

// A term that is not there any more leaves one of its lists.
void TermBook::leave(const Place& place) {
  const auto at = lists_.find(place);
  CHECK(at != lists_.end());
  List& list = at->second;
  if (--list.live == 0) {
    lists_.erase(at);
    return;
  }
  if (list.ids.size() <= 2 * std::size_t{list.live} + 8) return;
  looks_ += list.ids.size();
  std::erase_if(list.ids, [this](TermId id) { return !terms_.contains(id); });
  list.ids.shrink_to_fit();
  CHECK(list.ids.size() == list.live);
}

// --- who is charged ---

void TermBook::end_charge(TermId id, const Entry& entry) {
  TermCharge& charge = entry.payer->second;
  --(entry.is_foreign ? charge.foreign_terms : charge.own_terms);
  charge.gone += entry.matches;
  if (entry.matches > 0) gone_.emplace(id, Gone{.matches = entry.matches, .payer = entry.payer});
  forget_if_nothing(*entry.payer);
}

void TermBook::forget_if_nothing(const Payer& payer) {
  const TermCharge& charge = payer.second;
  if (charge.foreign_terms == 0 && charge.own_terms == 0 && charge.matches == 0)
    charges_.erase(charges_.find(payer.first));
}

void TermBook::add_match(TermId id) {
  if (const auto at = terms_.find(id); at != terms_.end()) {
    if (at->second.is_foreign) return;
    ++at->second.matches;
    ++at->second.payer->second.matches;
  } else if (const auto gone = gone_.find(id); gone != gone_.end()) {
    // The list is a copy of one that was made when somebody still asked.
    ++gone->second.matches;
    ++gone->second.payer->second.matches;
    ++gone->second.payer->second.gone;
  }
}

void TermBook::drop_match(TermId id) {
  if (const auto at = terms_.find(id); at != terms_.end()) {
    if (at->second.is_foreign) return;
    --at->second.matches;
    --at->second.payer->second.matches;
  } else if (const auto gone = gone_.find(id); gone != gone_.end()) {
    Payer& payer = *gone->second.payer;
    --payer.second.matches;
    --payer.second.gone;
    if (--gone->second.matches == 0) gone_.erase(gone);
    forget_if_nothing(payer);
  }
}

const TermCharge& TermBook::charge_of(std::string_view name_space) const {
  static const TermCharge kNothing;
  const auto at = charges_.find(name_space);
  return at == charges_.end() ? kNothing : at->second;
}

TermBook::OwnMatches TermBook::own_matches(std::span<const TermId> matches) const {
  OwnMatches own;
  const auto count = [&](const Payer& payer) {
    own.name_space = payer.first;
    ++own.count;
  };
  for (const TermId id : matches) {
    if (const auto at = terms_.find(id); at != terms_.end()) {
      if (!at->second.is_foreign) count(*at->second.payer);
    } else if (const auto gone = gone_.find(id); gone != gone_.end()) {
      count(*gone->second.payer);
    }
  }
  return own;
}

// --- which terms a pod matches ---

bool TermBook::is_about(const Term& term, std::string_view name_space, const Labels& namespaces) {
  if (std::ranges::binary_search(term.namespaces, name_space)) return true;
  if (!term.namespace_selector) return false;
  static const api::StringPairs kNone;
  const auto labels = namespaces.find(name_space);
  return term.namespace_selector->matches(labels == namespaces.end() ? kNone : labels->second);
}

bool TermBook::matches(TermId id, const api::ObjectMeta& pod, const Labels& namespaces) const {
  const Term& term = this->term(id);
  if (term.role == Term::Role::Counts && (pod.deletion_time || term.selector.is_empty()))
    return false;
  return is_about(term, pod.name_space, namespaces) && term.selector.matches(pod.labels);
}

std::vector<TermId> TermBook::matching(const api::ObjectMeta& pod, const Labels& namespaces) const {
  std::vector<TermId> found;
  const auto compare = [&](std::string_view home, std::string_view key, std::string_view value) {
    const auto at = lists_.find(std::tie(home, key, value));
    if (at == lists_.end()) return;
    const List& list = at->second;
    looks_ += list.ids.size();
    const bool has_gone = list.ids.size() != list.live;
    for (const TermId id : list.ids)
      if ((!has_gone || terms_.contains(id)) && matches(id, pod, namespaces)) found.push_back(id);
  };
  const auto compare_all = [&](std::string_view home) {
    for (const auto& [key, value] : pod.labels) compare(home, key, value);
    compare(home, {}, {});
  };
  compare_all(pod.name_space);
  if (namespace_readers_ > 0) compare_all({});
  std::ranges::sort(found);
  return found;
}

}  // namespace muster::scheduler
