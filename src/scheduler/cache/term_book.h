#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/ids.h"
#include "scheduler/cache/text_hash.h"

namespace muster::scheduler {

// A question about other pods that some class of pods asks, whatever the asking pod looks like:
// "which pods, seen by which label of their node". Two classes that ask the same share it.
struct Term {
  enum class Role : std::uint8_t {
    Attracts,  // required affinity
    Repels,    // required anti-affinity
    Prefers,   // preferred affinity
    Avoids,    // preferred anti-affinity
    Counts,    // topology spread: pods that terminate do not match, nor does any pod if the
               // selector is empty; its key is left out
  };
  Role role = Role::Counts;
  std::string key;
  std::vector<std::string> namespaces;  // sorted
  std::optional<api::PodSelector> namespace_selector;
  api::PodSelector selector;
  friend auto operator<=>(const Term&, const Term&) = default;
};

// How many terms of inter-pod affinity and spread constraints of one pod are judged, both together.
// Each costs a look at running pods, and at every waiting pod from then on: a pod with more is
// refused, and if it runs nonetheless, it asks for nothing. Upstream has no bound.
inline constexpr std::size_t kTermsMax = 64;
inline bool has_too_many_terms(const api::PodNeeds& needs) {
  return needs.pod_terms.size() + needs.spread.size() > kTermsMax;
}

// How much of what the pods of one namespace ask is judged. Beyond that, pods that would add to it
// are refused like those with too many terms. Upstream has no bounds.
struct TermLimits {
  // Different terms about pods of other namespaces: each may be in the match list of every class.
  std::size_t foreign_terms = 1024;
  // Entries in match lists of terms about pods of the own namespace; 4 bytes each, and as much
  // again for lists that grow.
  std::size_t matches = 8'000'000;
};

// How much of that a namespace uses. The first to ask a term is charged for it until it is gone.
struct TermCharge {
  std::size_t foreign_terms = 0;
  std::size_t own_terms = 0;
  std::size_t matches = 0;  // of own terms, also of those that nobody asks any more
  std::size_t gone = 0;     // of these: that nobody asks any more
};

// Whether a term that a pod of this namespace asks is, or may be, about pods of other namespaces.
bool is_foreign(const Term& term, std::string_view asker);

// What a pod's terms and spread constraints mean, given its namespace and labels; in their order.
// If there are too many, no pod matches any of them.
std::vector<Term> resolve_terms(const api::ObjectMeta& pod, const api::PodNeeds& needs);

// The terms of all living classes, and which of them a pod matches: what other pods may want of it.
// A term is indexed by its namespaces, unless it selects them by their labels, and by the label
// value it asks for that the fewest other terms are indexed by, so that a pod is compared only with
// the terms that could concern it.
class TermBook {
 public:
  using Labels =
      boost::unordered_flat_map<std::string, api::StringPairs, TextHash, std::equal_to<>>;

  bool empty() const { return terms_.empty(); }
  // The number of a term; a new one, never reused, if nobody uses the term yet, and the asker is
  // then charged for it. Numbers without users stay until they are used and released.
  struct Found {
    TermId id;
    bool is_new;
  };
  Found intern(const Term& term, std::string_view asker);
  // Nothing if nobody asks it yet.
  std::optional<TermId> find(const Term& term) const {
    const auto at = ids_.find(term);
    return at == ids_.end() ? std::nullopt : std::optional(at->second);
  }
  void use(TermId id) { ++terms_.at(id).users; }
  void release(TermId id);
  const Term& term(TermId id) const { return *terms_.at(id).term; }
  // Null if nobody uses it any more.
  const Term* find(TermId id) const {
    const auto at = terms_.find(id);
    return at == terms_.end() ? nullptr : at->second.term;
  }

  // A class has the term in its list of matches, or no longer has it. It may keep it for longer
  // than the term is asked.
  void add_match(TermId id);
  void drop_match(TermId id);
  // What the namespace of an asking pod is charged for at the moment.
  const TermCharge& charge_of(std::string_view name_space) const;
  // How many of a class's matches are charged to a namespace, and to which: there is only one,
  // since a question about the asker's own namespace is matched only by pods of that one. The name
  // stays until the next change.
  struct OwnMatches {
    std::string_view name_space;
    std::size_t count = 0;
  };
  OwnMatches own_matches(std::span<const TermId> matches) const;

  // The terms that a pod matches, sorted. `namespaces`: the labels of each.
  std::vector<TermId> matching(const api::ObjectMeta& pod, const Labels& namespaces) const;
  bool matches(TermId id, const api::ObjectMeta& pod, const Labels& namespaces) const;
  // Whether a term is about pods of a namespace.
  static bool is_about(const Term& term, std::string_view name_space, const Labels& namespaces);
  // Whether some term selects namespaces by their labels.
  bool reads_namespaces() const { return namespace_readers_ > 0; }
  // For tests: how many terms pods were compared with, and how many entries of lists were read to
  // remove some.
  std::uint64_t looks() const { return looks_; }

 private:
  // Namespace, label and value. No namespace: of terms that may be about any. No label: of terms
  // that ask for no label value, or for too many in too many namespaces.
  using Place = std::tuple<std::string, std::string, std::string>;
  // By rising numbers. Those of terms that are gone stay until they are the majority.
  struct List {
    std::uint32_t live = 0;
    std::vector<TermId> ids = {};
  };
  using Payer = std::pair<const std::string, TermCharge>;  // an entry of charges_
  struct Entry {
    const Term* term;                      // the key in ids_
    const api::NodeRequirement* found_by;  // one of its tests; null: none asks for a label value
    std::uint32_t users;
    std::uint32_t matches;  // classes that have it in their list, if it is about the own namespace
    bool is_foreign;
    Payer* payer;
  };
  // A term about the own namespace that nobody asks any more, and that is still in lists.
  struct Gone {
    std::uint32_t matches;
    Payer* payer;
  };
  const api::NodeRequirement* rarest_test(const Term& term) const;
  static std::vector<std::string> homes_of(const Term& term);
  static std::vector<Place> places_of(const Entry& entry);
  void leave(const Place& place);
  void end_charge(TermId id, const Entry& entry);
  void forget_if_nothing(const Payer& payer);

  std::map<Term, TermId> ids_;
  boost::unordered_flat_map<TermId, Entry> terms_;
  boost::unordered_flat_map<TermId, Gone> gone_;
  std::map<std::string, TermCharge, std::less<>> charges_;  // none of them is all 0
  std::map<Place, List, std::less<>> lists_;
  std::uint32_t next_ = 0;
  std::size_t namespace_readers_ = 0;
  mutable std::uint64_t looks_ = 0;
};

}  // namespace muster::scheduler
