#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>

#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// How many of the pods on nodes whose classes are followed have each label, by namespace. A term
// that asks for a label that none of them has splits no class: nobody has to be looked at for it.
// Most new terms are of this kind: the first pods of a new set or Service ask about each other.
class LabelCounts final : public Cluster::Derived {
 public:
  static LabelCounts& of(Cluster& cluster);

  void add(const api::ObjectMeta& pod);
  void remove(const api::ObjectMeta& pod);
  // False only if none of the pods matches.
  bool may_match(const Term& term) const;

 private:
  // By a hash: two labels that share one only cost a needless look.
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> counts_;
};

}  // namespace muster::scheduler
