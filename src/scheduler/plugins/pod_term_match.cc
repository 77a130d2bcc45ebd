#include "scheduler/plugins/pod_term_match.h"

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/cache/term_book.h"

namespace muster::scheduler {
namespace {

const api::PodNeeds& judged_needs(const api::Object& pod) {
  static const api::PodNeeds kNothing;
  const api::PodNeeds& needs = pod.view<api::PodView>().needs;
  return has_too_many_terms(needs) ? kNothing : needs;
}

// matchLabelKeys stand for the pod's own values of these labels; labels it lacks are
// ignored.
bool have_alike(const std::vector<std::string>& keys, const api::ObjectMeta& pod,
                const api::ObjectMeta& other) {
  return std::ranges::all_of(keys, [&](const std::string& key) {
    const std::string* own = api::lookup(pod.labels, key);
    const std::string* value = own == nullptr ? nullptr : api::lookup(other.labels, key);
    return own == nullptr || (value != nullptr && *value == *own);
  });
}
bool have_all_other(const std::vector<std::string>& keys, const api::ObjectMeta& pod,
                    const api::ObjectMeta& other) {
  return std::ranges::all_of(keys, [&](const std::string& key) {
    const std::string* own = api::lookup(pod.labels, key);
    const std::string* value = own == nullptr ? nullptr : api::lookup(other.labels, key);
    return value == nullptr || *value != *own;
  });
}
bool has_any(const std::vector<std::string>& keys, const api::ObjectMeta& pod) {
  return std::ranges::any_of(
      keys, [&](const std::string& key) { return api::lookup(pod.labels, key) != nullptr; });
}

bool is_about(const api::PodTerm& term, const api::ObjectMeta& pod, const api::ObjectMeta& other) {
  if (term.namespace_selector) return true;
  if (term.namespaces.empty()) return other.name_space == pod.name_space;
  return std::ranges::binary_search(term.namespaces, other.name_space);
}

}  // namespace

OtherPods::OtherPods(const api::Object& pod) : pod_(pod.meta()), needs_(judged_needs(pod)) {}

bool OtherPods::matches(const api::PodTerm& term, const api::Object& other) const {
  return is_about(term, pod_, other.meta()) && term.selector.matches(other.meta().labels) &&
         have_alike(term.match_label_keys, pod_, other.meta()) &&
         have_all_other(term.mismatch_label_keys, pod_, other.meta());
}

// A selector that says nothing counts nobody.
bool OtherPods::matches(const api::SpreadConstraint& constraint, const api::Object& other) const {
  if (constraint.selector.is_empty() && !has_any(constraint.match_label_keys, pod_)) return false;
  return other.meta().name_space == pod_.name_space &&
         constraint.selector.matches(other.meta().labels) &&
         have_alike(constraint.match_label_keys, pod_, other.meta());
}

bool OtherPods::attracts(const api::Object& other) const {
  bool any = false;
  for (const api::PodTerm& term : needs_.pod_terms) {
    if (term.role != api::TermRole::Attracts) continue;
    if (!matches(term, other)) return false;
    any = true;
  }
  return any;
}

bool OtherPods::repels(const api::Object& other) const {
  return std::ranges::any_of(needs_.pod_terms, [&](const api::PodTerm& term) {
    return term.role == api::TermRole::Repels && matches(term, other);
  });
}

bool OtherPods::repels_all_of(const api::Object& before, const api::Object& after) const {
  return std::ranges::all_of(needs_.pod_terms, [&](const api::PodTerm& term) {
    return term.role != api::TermRole::Repels || !matches(term, before) || matches(term, after);
  });
}

bool OtherPods::counts(const api::Object& other) const {
  return std::ranges::any_of(needs_.spread, [&](const api::SpreadConstraint& constraint) {
    return constraint.is_hard && matches(constraint, other);
  });
}

bool OtherPods::counts_alike(const api::Object& before, const api::Object& after) const {
  return std::ranges::all_of(needs_.spread, [&](const api::SpreadConstraint& constraint) {
    return !constraint.is_hard || matches(constraint, before) == matches(constraint, after);
  });
}

bool has_place(const api::Object& pod) {
  const auto& view = pod.view<api::PodView>();
  return !view.node_name.empty() || !view.nominated_node.empty();
}

}  // namespace muster::scheduler
