#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "scheduler/framework/preemption_plan.h"

namespace muster::scheduler {

// Upstream's status code for the result of a search.
std::string_view status_name(PreemptionPlan::Answer answer);

// Counts what preemption does, under upstream's names. Decides nothing.
class PreemptionMetrics {
 public:
  explicit PreemptionMetrics(Metrics* metrics);

  // A search for a lone pod, or for a tree, by the kind of the preemptor: pod, podgroup,
  // compositepodgroup.
  void searched(std::string_view preemptor, const PreemptionPlan& plan);

 private:
  Metrics* const metrics_;
  Counter attempts_;
  ::muster::Histogram victims_, group_victims_;
};

}  // namespace muster::scheduler
