#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "scheduler/cache/term_book.h"

namespace muster::scheduler {

// Pods on nodes by namespace, label and label value: those that a new question about pods may be
// about are found without a look at all the others. A few lists of numbers for each pod and label.
class PodLabels {
 public:
  using Seat = std::uint32_t;

  // The object stays alive until its seat is removed or given to another version of the pod.
  Seat add(const api::Object& pod);
  void remove(Seat seat);
  void replace(Seat seat, const api::Object& pod);

  // No other pods match the term. `namespaces`: the labels of each.
  std::vector<const api::Object*> candidates(const Term& term,
                                             const TermBook::Labels& namespaces) const;
  std::vector<const api::Object*> in_namespace(std::string_view name_space) const;
  std::size_t lists() const { return lists_.size(); }

 private:
  // Seats in no order. Those of pods that have left stay until they are the most of it.
  struct List {
    std::uint32_t live = 0;
    std::vector<Seat> seats;
  };
  // By a hash: what shares one with another list only has more candidates.
  using Key = std::uint64_t;

  static std::vector<Key> keys_of(const api::Object& pod);
  static std::vector<Key> keys_of(const api::NodeRequirement& test, std::string_view name_space);
  bool is_in(Seat seat, Key key) const;
  void tidy(Key key, List& list);
  std::size_t size_of(const std::vector<Key>& keys) const;
  void collect(const std::vector<Key>& keys, std::vector<const api::Object*>& into) const;

  boost::unordered_flat_map<Key, List> lists_;
  std::map<std::string, std::uint32_t, std::less<>> namespaces_;  // how many pods are in each
  std::vector<const api::Object*> pods_;                          // by seat; null: free
  std::vector<Seat> free_;
};

}  // namespace muster::scheduler
