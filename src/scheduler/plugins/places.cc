#include "scheduler/plugins/places.h"

#include <algorithm>

namespace muster::scheduler {

Places::Places(const Cluster& cluster, const std::vector<const LabelColumn*>& columns,
               std::size_t most)
    : place_of_(cluster.rows(), 0), values_(1) {
  std::size_t parts = 0;
  for (const LabelColumn* column : columns)
    part_of_.push_back(column != nullptr && divide(*column, most) ? parts++ : kNone);
}

// Splits each place by one more label, unless that makes too many.
bool Places::divide(const LabelColumn& column, std::size_t most) {
  std::map<std::pair<std::uint32_t, LabelValueId>, std::uint32_t> numbers;
  std::vector<std::uint32_t> place_of = place_of_;
  std::vector<std::vector<LabelValueId>> values;
  for (std::size_t row = 0; row < place_of.size(); ++row) {
    // Rows without a node stand with those that have no value.
    const LabelValueId value = column.values[static_cast<NodeId>(row)];
    const auto [at, is_new] =
        numbers.try_emplace({place_of[row], value}, static_cast<std::uint32_t>(numbers.size()));
    if (is_new) {
      if (numbers.size() > most) return false;
      values.push_back(values_[place_of[row]]);
      values.back().push_back(value);
    }
    place_of[row] = at->second;
  }
  place_of_ = std::move(place_of);
  values_ = std::move(values);
  return true;
}

std::size_t Places::bytes() const {
  std::size_t sum = place_of_.capacity() * sizeof(std::uint32_t);
  for (const auto& values : values_) sum += 32 + values.capacity() * sizeof(LabelValueId);
  return sum;
}

}  // namespace muster::scheduler
