#include "scheduler/plugins/unjudged_fields.h"

#include <fmt/ranges.h>

#include "scheduler/plugins/refusing_pass.h"

namespace muster::scheduler {

std::unique_ptr<FilterPass> UnjudgedFields::prepare_filter(const PodClass& pods,
                                                           const Cluster&) const {
  const auto& fields = pods.needs->unjudged;
  if (fields.empty()) return nullptr;
  return std::make_unique<RefusingPass>(
      fmt::format("not supported by this scheduler yet: {}", fmt::join(fields, ", ")));
}

bool UnjudgedFields::could_help(const api::Object&, const ClusterEvent&) const { return false; }

}  // namespace muster::scheduler
