#pragma once

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <string_view>

namespace muster::scheduler {

// Whether evicting other pods could turn a refusal around (upstream: Unschedulable) or not
// (UnschedulableAndUnresolvable).
enum class Remedy : std::uint8_t { Eviction, None };

// One plugin's answer for one node. Reasons are upstream's words and point to text that outlives
// the verdict: literals, or the cluster's own names.
class Verdict {
 public:
  static Verdict accept() { return {}; }
  static Verdict refuse(std::string_view reason, Remedy remedy) {
    Verdict verdict;
    verdict.add(reason, remedy);
    return verdict;
  }
  // A further reason; one without remedy makes the whole refusal so.
  void add(std::string_view reason, Remedy remedy) {
    reasons_.push_back(reason);
    if (remedy == Remedy::None) remedy_ = Remedy::None;
  }

  bool accepted() const { return reasons_.empty(); }
  Remedy remedy() const { return remedy_; }
  const boost::container::small_vector<std::string_view, 4>& reasons() const { return reasons_; }

 private:
  boost::container::small_vector<std::string_view, 4> reasons_;
  Remedy remedy_ = Remedy::Eviction;
};

}  // namespace muster::scheduler
