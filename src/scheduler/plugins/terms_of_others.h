#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>

#include "scheduler/cache/pod_class.h"

namespace muster::scheduler {

// The terms of other pods that pods of one class match, each with a number for what it counts for.
// Other pods are looked up by what they ask: that costs the terms they have, at most kTermsMax, not
// the terms kept here, which may be all terms of all pods.
class TermsOfOthers {
 public:
  void add(TermId term, std::size_t counts_for) { counts_for_.emplace(term, counts_for); }
  bool empty() const { return counts_for_.empty(); }

  // Calls `found` for each term of the pods that is one of these, once per occurrence: with its
  // position among their pod terms, and with what it counts for.
  template <typename Found>
  void for_each_of(const PodClass& pods, const Found& found) const {
    if (empty()) return;
    for (std::size_t i = 0; i < pods.needs->pod_terms.size(); ++i) {
      ++looks_;
      if (const auto at = counts_for_.find(pods.terms[i]); at != counts_for_.end())
        found(i, at->second);
    }
  }
  bool has_some_of(const PodClass& pods) const {
    bool has_some = false;
    for_each_of(pods, [&](std::size_t, std::size_t) { has_some = true; });
    return has_some;
  }

  std::size_t bytes() const { return counts_for_.bucket_count() * 17; }
  // For tests: how many terms were looked up.
  std::uint64_t looks() const { return looks_; }

 private:
  boost::unordered_flat_map<TermId, std::size_t> counts_for_;
  mutable std::uint64_t looks_ = 0;
};

}  // namespace muster::scheduler
