#include "scheduler/plugins/dynamic_resources.h"

#include "scheduler/framework/refusing_pass.h"

namespace muster::scheduler {

std::unique_ptr<FilterPass> DynamicResources::prepare_filter(const PodClass& pods,
                                                             const Cluster&) const {
  if (!pods.needs->has_claims) return nullptr;
  return std::make_unique<RefusingPass>(std::string(kRefusal));
}

bool DynamicResources::could_help(const api::Object&, const ClusterEvent&) const { return false; }

}  // namespace muster::scheduler
