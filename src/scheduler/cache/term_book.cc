#include "scheduler/cache/term_book.h"

#include <algorithm>

#include "base/check.h"

namespace muster::scheduler {
namespace {

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

const api::NodeRequirement* TermBook::rarest_test(const Term& term) const {
  const api::NodeRequirement* rarest = nullptr;
  std::size_t fewest = 0;
  for (const api::NodeRequirement& test : term.selector.tests) {
    if (test.op != api::SelectorOperator::In) continue;
    std::size_t found = 0;
    for (const std::string& value : test.values)
      if (const auto at = by_label_.find({test.key, value}); at != by_label_.end())
        found += at->second.size();
    if (rarest != nullptr && found >= fewest) continue;
    rarest = &test;
    fewest = found;
  }
  return rarest;
}

// The lists that a term is found in: one for each value of the label it is found by. A pod that
// matches has one of the values, and finds the term once.
std::vector<std::vector<TermId>*> TermBook::lists_of(const Entry& entry) {
  if (entry.term->selector.is_null) return {};
  const api::NodeRequirement* test = entry.found_by;
  if (test == nullptr) return {&others_};
  std::vector<std::vector<TermId>*> lists;
  lists.reserve(test->values.size());
  for (const std::string& value : test->values) lists.push_back(&by_label_[{test->key, value}]);
  std::ranges::sort(lists);  // a value may be written twice
  const auto repeated = std::ranges::unique(lists);
  lists.erase(repeated.begin(), repeated.end());
  return lists;
}

TermBook::Found TermBook::intern(const Term& term) {
  const auto [at, is_new] = ids_.try_emplace(term, TermId{next_});
  if (!is_new) return {at->second, false};
  const TermId id = at->second;
  ++next_;
  const Entry entry{.term = &at->first, .found_by = rarest_test(at->first), .users = 0};
  terms_.emplace(id, entry);
  for (std::vector<TermId>* list : lists_of(entry)) list->push_back(id);
  if (term.namespace_selector) ++namespace_readers_;
  return {id, true};
}

void TermBook::release(TermId id) {
  const auto at = terms_.find(id);
  CHECK(at != terms_.end() && at->second.users > 0);
  if (--at->second.users > 0) return;
  const auto known = ids_.find(*at->second.term);
  const Term& term = known->first;
  for (std::vector<TermId>* list : lists_of(at->second)) std::erase(*list, id);
  if (const api::NodeRequirement* test = at->second.found_by;
      test != nullptr && !term.selector.is_null)
    for (const std::string& value : test->values)
      if (const auto list = by_label_.find({test->key, value});
          list != by_label_.end() && list->second.empty())
        by_label_.erase(list);
  if (term.namespace_selector) --namespace_readers_;
  terms_.erase(at);
  ids_.erase(known);
}

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
  const auto compare = [&](const std::vector<TermId>& list) {
    for (const TermId id : list)
      if (matches(id, pod, namespaces)) found.push_back(id);
  };
  if (!by_label_.empty())
    for (const auto& label : pod.labels)
      if (const auto at = by_label_.find(label); at != by_label_.end()) compare(at->second);
  compare(others_);
  std::ranges::sort(found);
  return found;
}

}  // namespace muster::scheduler
