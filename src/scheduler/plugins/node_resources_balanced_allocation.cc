#include "scheduler/plugins/node_resources_balanced_allocation.h"

#include <boost/container/small_vector.hpp>

#include "scheduler/cache/column_math.h"

namespace muster::scheduler {
namespace {

using Shares = boost::container::small_vector<Share, 4>;

class BalancedPass final : public ScorePass {
 public:
  struct Part {
    ResourceId resource;
    std::int64_t wanted;
  };
  BalancedPass(std::vector<Part> parts, const Cluster& cluster)
      : parts_(std::move(parts)), cluster_(cluster) {}

  Form form() const override { return Form::Local; }
  void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
    add_balanced(shares(), weight, totals);
  }
  std::int64_t local(NodeId node) const override { return balanced_at(shares(), index_of(node)); }

 private:
  Shares shares() const {
    Shares shares(parts_.size(), boost::container::default_init);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const ResourceColumns& columns = cluster_.resource(parts_[i].resource);
      shares[i] = {columns.allocatable.data(), columns.requested.data(), parts_[i].wanted, 1};
    }
    return shares;
  }

  std::vector<Part> parts_;
  const Cluster& cluster_;
};

}  // namespace

std::unique_ptr<ScorePass> NodeResourcesBalancedAllocation::prepare_score(
    const PodClass& pods, const Cluster& cluster) const {
  std::vector<BalancedPass::Part> parts;
  bool requests_any = false;
  for (const std::string& name : resources_) {
    const std::int64_t wanted = pods.needs->usage.of(name);
    requests_any |= wanted != 0;
    ResourceId id{};
    if (!cluster.find_resource(name, id)) continue;
    if (index_of(id) > index_of(ResourceId::EphemeralStorage) && wanted == 0) continue;
    parts.push_back({id, wanted});
  }
  if (!requests_any) return nullptr;
  return std::make_unique<BalancedPass>(std::move(parts), cluster);
}

}  // namespace muster::scheduler
