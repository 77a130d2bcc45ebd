#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "scheduler/framework/entity.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/report.h"

namespace muster::scheduler {

// Gangs of which a server without GroupBindings took some bindings and refused others. The members
// that were refused are tried again like all others; a gang that is still below its minimum a
// minute later is reported, and again every minute.
class HalfBound {
 public:
  HalfBound(const ClusterModel& model, Report& report) : model_(model), report_(report) {}

  // The server refused the binding of this pod.
  void refused(const api::Object& pod, const std::string& why, Time now);
  void run(Time now);
  std::optional<Time> next_deadline() const;

  static constexpr Duration kPatience = std::chrono::minutes{1};

 private:
  struct Suspect {
    Time due;
    std::string why;
  };

  bool is_half_bound(const GroupSpec& leaf) const;

  const ClusterModel& model_;
  Report& report_;
  std::map<GroupKey, Suspect> suspects_;  // leaves; few at a time
};

}  // namespace muster::scheduler
