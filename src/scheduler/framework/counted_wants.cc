#include "scheduler/framework/counted_wants.h"

namespace muster::scheduler {

boost::container::small_vector<PodClass::Want, 4> counted_wants(const Standing& standing,
                                                                const Cluster& cluster) {
  const IgnoredResources& ignored = standing.profile().settings().ignored;
  boost::container::small_vector<PodClass::Want, 4> counted;
  for (const PodClass::Want& want : standing.pods().wants)
    if (!ignored.contains(cluster.resource(want.resource).name)) counted.push_back(want);
  return counted;
}

}  // namespace muster::scheduler
