#pragma once

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/column_math.h"

namespace muster::scheduler {

// The resources that an allocation score looks at, with what one pod adds to each. Node tables
// grow, so columns are looked up each time.
class AllocationParts {
 public:
  using Shares = boost::container::small_vector<Share, 4>;
  // What counts as used: requests, or requests with upstream's defaults for pods that request
  // nothing (cpu and memory only).
  enum class Used : std::uint8_t { Requested, NonZero };

  AllocationParts(const Cluster& cluster, Used used) : cluster_(&cluster), used_(used) {}

  // A resource that nobody has mentioned, or an extended one that the pod does not want, has no
  // part.
  void add(std::string_view resource, std::int64_t wanted, std::int64_t weight) {
    ResourceId id{};
    if (!cluster_->find_resource(resource, id)) return;
    if (index_of(id) > index_of(ResourceId::EphemeralStorage) && wanted == 0) return;
    parts_.push_back({id, wanted, weight});
  }
  Shares shares() const {
    Shares shares(parts_.size(), boost::container::default_init);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      const ResourceColumns& columns = cluster_->resource(part.resource);
      shares[i] = {columns.allocatable.data(), used_of(part.resource, columns), part.wanted,
                   part.weight};
    }
    return shares;
  }
  // Whether vector arithmetic is exact for all of them (column_math.h).
  bool are_small() const {
    for (const Part& part : parts_)
      if (cluster_->resource(part.resource).allocatable_max > kVectorAmountMax) return false;
    return true;
  }

 private:
  struct Part {
    ResourceId resource;
    std::int64_t wanted;
    std::int64_t weight;
  };
  const std::int64_t* used_of(ResourceId resource, const ResourceColumns& columns) const {
    if (used_ == Used::NonZero && resource == ResourceId::Cpu)
      return cluster_->nonzero_cpu().data();
    if (used_ == Used::NonZero && resource == ResourceId::Memory)
      return cluster_->nonzero_memory().data();
    return columns.requested.data();
  }

  const Cluster* cluster_;
  Used used_;
  std::vector<Part> parts_;
};

}  // namespace muster::scheduler
