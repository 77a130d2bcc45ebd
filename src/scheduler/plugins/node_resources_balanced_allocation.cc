#include "scheduler/plugins/node_resources_balanced_allocation.h"

#include <utility>

#include "scheduler/cache/column_math.h"
#include "scheduler/plugins/allocation_parts.h"

namespace muster::scheduler {
namespace {

class BalancedPass final : public ScorePass {
 public:
  explicit BalancedPass(AllocationParts parts) : parts_(std::move(parts)) {}

  Form form() const override { return Form::Local; }
  void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
    add_balanced(parts_.shares(), weight, totals);
  }
  std::int64_t local(NodeId node) const override {
    return balanced_at(parts_.shares(), index_of(node));
  }

 private:
  AllocationParts parts_;
};

}  // namespace

std::unique_ptr<ScorePass> NodeResourcesBalancedAllocation::prepare_score(
    const PodClass& pods, const Cluster& cluster) const {
  AllocationParts parts(cluster, AllocationParts::Used::Requested);
  bool requests_any = false;
  for (const std::string& name : resources_) {
    const std::int64_t wanted = pods.needs->usage.of(name);
    requests_any |= wanted != 0;
    parts.add(name, wanted, 1);
  }
  if (!requests_any) return nullptr;
  return std::make_unique<BalancedPass>(std::move(parts));
}

}  // namespace muster::scheduler
