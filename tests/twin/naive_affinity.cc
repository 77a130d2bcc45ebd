// What pods want of each other, as upstream's InterPodAffinity judges it.
#include <algorithm>

#include "twin/naive_scheduler.h"
#include "twin/naive_selector.h"

namespace muster::scheduler::twin {
namespace {

const std::vector<api::PodTerm>& terms_of(const api::Object& pod) {
  return pod.view<api::PodView>().needs.pod_terms;
}

const std::string* label(const api::Object& node, const std::string& key) {
  return api::lookup(node.meta().labels, key);
}

}  // namespace

bool NaiveScheduler::matches(const api::PodTerm& term, const api::Object& owner,
                             const api::Object& other) const {
  const std::string& name_space = other.meta().name_space;
  bool is_there = std::ranges::count(term.namespaces, name_space) > 0;
  if (term.namespaces.empty() && !term.namespace_selector)
    is_there = name_space == owner.meta().name_space;
  if (term.namespace_selector) {
    const auto known = namespaces.find(name_space);
    is_there |= selects(*term.namespace_selector,
                        known == namespaces.end() ? api::StringPairs() : known->second);
  }
  return is_there && selects(term.selector, other.meta().labels) &&
         has_same(term.match_label_keys, owner, other, true) &&
         has_same(term.mismatch_label_keys, owner, other, false);
}

NaiveScheduler::Verdict NaiveScheduler::affinity(const api::Object& pod,
                                                 const std::string& name) const {
  const api::Object& node = *nodes.at(name);
  Verdict verdict{{}, "InterPodAffinity", false};
  std::vector<api::PodTerm> wanted;
  for (const api::PodTerm& term : terms_of(pod))
    if (term.role == api::TermRole::Attracts) wanted.push_back(term);
  const auto has_all = [&](const api::Object& other) {
    return std::ranges::all_of(wanted, [&](const auto& term) { return matches(term, pod, other); });
  };
  bool is_first = true;
  bool has_keys = true;
  std::vector<bool> found(wanted.size(), false);
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    const std::string* here = label(node, wanted[t].topology_key);
    has_keys &= here != nullptr;
    for (const auto& [uid, record] : pods) {
      if (!nodes.contains(record.second) || !has_all(*record.first)) continue;
      const std::string* there = label(*nodes.at(record.second), wanted[t].topology_key);
      if (there == nullptr) continue;
      is_first = false;
      if (here != nullptr && *here == *there) found[t] = true;
    }
  }
  const bool near_all = std::ranges::all_of(found, [](bool f) { return f; });
  if (!has_keys || (!near_all && !(is_first && has_all(pod)))) {
    verdict.reasons.emplace_back("node(s) didn't match pod affinity rules");
    verdict.unresolvable = true;
    return verdict;
  }
  // Whether some term of `owner` against `target` is violated by `other` on that node and us here.
  const auto repels = [&](const api::Object& owner, const api::Object& target,
                          const std::string& other_node) {
    return std::ranges::any_of(terms_of(owner), [&](const api::PodTerm& term) {
      const std::string* here = label(node, term.topology_key);
      const std::string* there = label(*nodes.at(other_node), term.topology_key);
      return term.role == api::TermRole::Repels && here != nullptr && there != nullptr &&
             *here == *there && matches(term, owner, target);
    });
  };
  for (const bool ours : {true, false})
    for (const auto& [uid, record] : pods) {
      if (!nodes.contains(record.second)) continue;
      const api::Object& other = *record.first;
      if (!(ours ? repels(pod, other, record.second) : repels(other, pod, record.second))) continue;
      verdict.reasons.emplace_back(
          ours ? "node(s) didn't match pod anti-affinity rules"
               : "node(s) didn't satisfy existing pods anti-affinity rules");
      return verdict;
    }
  return verdict;
}

std::map<std::string, std::int64_t> NaiveScheduler::affinity_scores(
    const api::Object& pod, const std::vector<std::string>& feasible) const {
  std::map<std::string, std::int64_t> raw;
  for (const std::string& name : feasible) {
    std::int64_t& sum = raw[name];
    for (const auto& [uid, record] : pods) {
      if (!nodes.contains(record.second)) continue;
      // The pod to be placed may be another copy of one that runs: they are one object.
      const auto add = [&](const api::Object& owner, const api::Object& target, bool owner_runs) {
        for (const api::PodTerm& term : terms_of(owner)) {
          const std::string* here = label(*nodes.at(name), term.topology_key);
          const std::string* there = label(*nodes.at(record.second), term.topology_key);
          if (here == nullptr || there == nullptr || *here != *there) continue;
          if (!matches(term, owner, target)) continue;
          if (term.role == api::TermRole::Prefers) sum += term.weight;
          if (term.role == api::TermRole::Avoids) sum -= term.weight;
          if (term.role == api::TermRole::Attracts && owner_runs) sum += 1;
        }
      };
      add(pod, *record.first, false);
      add(*record.first, pod, true);
    }
  }
  std::map<std::string, std::int64_t> scores;
  if (raw.empty()) return scores;
  const auto by_score = [](const auto& a, const auto& b) { return a.second < b.second; };
  const std::int64_t least = std::ranges::min_element(raw, by_score)->second;
  const std::int64_t most = std::ranges::max_element(raw, by_score)->second;
  for (const auto& [name, sum] : raw)
    if (most > least)
      scores[name] = static_cast<std::int64_t>(
          100.0 * (static_cast<double>(sum - least) / static_cast<double>(most - least)));
  return scores;
}

}  // namespace muster::scheduler::twin
