#pragma once

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/column_math.h"

namespace muster::scheduler {

// The resources that an allocation score looks at, with what one pod adds to each. Columns are
// looked up again when the node table has grown.
class AllocationParts {
 public:
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
    rows_ = 0;
  }
  std::span<const Share> shares() const {
    if (rows_ != cluster_->rows()) find_columns();
    return shares_;
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
  void find_columns() const {
    rows_ = cluster_->rows();
    shares_.clear();
    for (const Part& part : parts_) {
      const ResourceColumns& columns = cluster_->resource(part.resource);
      shares_.push_back(
          {columns.allocatable.data(), used_of(part.resource, columns), part.wanted, part.weight});
    }
  }
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
  mutable boost::container::small_vector<Share, 4> shares_;
  mutable std::size_t rows_ = 0;  // of the table when they were found
};

}  // namespace muster::scheduler
