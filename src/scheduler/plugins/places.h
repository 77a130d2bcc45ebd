#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// The nodes divided by their values of some labels: nodes of one place have the same value of each.
// Labels with many values, such as the host name, may be left out: each is judged row by row then.
class Places {
 public:
  // Leaves out labels whose values, combined with those before, would make more than `most` places;
  // and null ones.
  Places(const Cluster& cluster, const std::vector<const LabelColumn*>& columns, std::size_t most);

  // Whether the column, by its position among those given, is part of the division.
  bool divides_by(std::size_t column) const { return part_of_[column] != kNone; }
  std::int64_t of(NodeId node) const { return place_of_[index_of(node)]; }
  LabelValueId value(std::int64_t place, std::size_t column) const {
    return values_[static_cast<std::size_t>(place)][part_of_[column]];
  }
  std::size_t size() const { return values_.size(); }
  std::size_t bytes() const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  bool divide(const LabelColumn& column, std::size_t most);

  std::vector<std::size_t> part_of_;     // by column: where its value stands; kNone: left out
  std::vector<std::uint32_t> place_of_;  // by row
  std::vector<std::vector<LabelValueId>> values_;  // by place
};

}  // namespace muster::scheduler
