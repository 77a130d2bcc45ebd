#include "scheduler/plugins/spread_domains.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {

SpreadDomains::SpreadDomains(const Cluster& cluster, const LabelColumn& column, NodeSet counted)
    : counts_(column), counted_(std::move(counted)), histogram_(1, 0) {
  std::vector<char> seen(column.names.size(), 0);
  cluster.nodes().for_each([&](NodeId node) {
    if (!counted_.contains(node)) return;
    char& known = seen[index_of(column.values[node])];
    if (std::exchange(known, 1) == 0) ++domain_count_;
  });
  histogram_[0] = static_cast<std::uint32_t>(domain_count_);
}

void SpreadDomains::add(NodeId node, std::int64_t pods) {
  const std::int64_t before = counts_.around(node);
  const std::int64_t after = before + pods;
  CHECK(after >= 0);
  counts_.add(node, pods);
  if (histogram_.size() <= static_cast<std::size_t>(after))
    histogram_.resize(static_cast<std::size_t>(after) + 1, 0);
  --histogram_[static_cast<std::size_t>(before)];
  ++histogram_[static_cast<std::size_t>(after)];
  least_ = std::min(least_, after);
  while (histogram_[static_cast<std::size_t>(least_)] == 0) ++least_;  // no further than `after`
}

std::size_t SpreadDomains::bytes() const {
  return counts_.bytes() + histogram_.capacity() * sizeof(std::uint32_t);
}

}  // namespace muster::scheduler
