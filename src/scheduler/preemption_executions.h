#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/time.h"

namespace muster::scheduler {

// Measures how long it takes to carry a preemption out: from the decision until the server has
// accepted the eviction of the last victim. Decides nothing.
class PreemptionExecutions {
 public:
  // `metrics` may be null.
  explicit PreemptionExecutions(Metrics* metrics) : metrics_(metrics) {}

  // These pods will be evicted for a preemptor of this kind: pod, podgroup, compositepodgroup. A
  // pod may be among the victims of several.
  void started(std::string_view preemptor, const std::set<std::string>& victims, Time now);
  // The server has accepted the eviction of the pod, or the pod is gone. Others are ignored.
  void evicted(std::string_view uid, Time now) { ended(uid, false, now); }
  // The eviction failed.
  void failed(std::string_view uid, Time now) { ended(uid, true, now); }

  std::size_t open() const { return executions_.size(); }

 private:
  struct Execution {
    std::string preemptor;
    Time since;
    std::size_t victims = 0;  // not ended yet
    bool has_failed = false;
  };
  void ended(std::string_view uid, bool has_failed, Time now);
  void observe(const Execution& execution, Time now);

  Metrics* const metrics_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Execution> executions_;
  boost::unordered_flat_map<std::string, std::vector<std::uint64_t>> by_victim_;  // never iterated
};

}  // namespace muster::scheduler
