#include "scheduler/plugins/pod_term_match.h"

#include <algorithm>

namespace muster::scheduler {
namespace {

bool matches(const Term& term, const api::ObjectMeta& pod) {
  if (term.role == Term::Role::Counts && term.selector.is_empty()) return false;
  return (term.namespace_selector || std::ranges::binary_search(term.namespaces, pod.name_space)) &&
         term.selector.matches(pod.labels);
}

}  // namespace

OtherPods::OtherPods(const api::Object& pod)
    : terms_(resolve_terms(pod.meta(), pod.view<api::PodView>().needs)),
      needs_(pod.view<api::PodView>().needs) {}

bool OtherPods::attracts(const api::Object& other) const {
  bool any = false;
  for (const Term& term : terms_) {
    if (term.role != Term::Role::Attracts) continue;
    if (!matches(term, other.meta())) return false;
    any = true;
  }
  return any;
}

bool OtherPods::repels(const api::Object& other) const {
  return std::ranges::any_of(terms_, [&](const Term& term) {
    return term.role == Term::Role::Repels && matches(term, other.meta());
  });
}

bool OtherPods::repels_all_of(const api::Object& before, const api::Object& after) const {
  return std::ranges::all_of(terms_, [&](const Term& term) {
    return term.role != Term::Role::Repels || !matches(term, before.meta()) ||
           matches(term, after.meta());
  });
}

bool OtherPods::counts(const api::Object& other) const {
  for (std::size_t i = 0; i < needs_.spread.size(); ++i)
    if (needs_.spread[i].is_hard && matches(terms_[needs_.pod_terms.size() + i], other.meta()))
      return true;
  return false;
}

bool OtherPods::counts_alike(const api::Object& before, const api::Object& after) const {
  for (std::size_t i = 0; i < needs_.spread.size(); ++i) {
    const Term& term = terms_[needs_.pod_terms.size() + i];
    if (needs_.spread[i].is_hard && matches(term, before.meta()) != matches(term, after.meta()))
      return false;
  }
  return true;
}

bool has_place(const api::Object& pod) {
  const auto& view = pod.view<api::PodView>();
  return !view.node_name.empty() || !view.nominated_node.empty();
}

}  // namespace muster::scheduler
