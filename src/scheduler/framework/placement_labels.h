#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/object.h"

namespace muster::scheduler {

// A PlacementGenerate plugin may add this if node labels decide which nodes its placements hold.
class PlacementLabels {
 public:
  using Labels = std::map<std::string, std::string>;

  virtual ~PlacementLabels() = default;
  // The labels, beside those it has or instead of them, that would put the node into the placement
  // of that name; none: it is in it. nullopt if no label would.
  virtual std::optional<Labels> labels_to_join(std::string_view placement,
                                               const api::Object& node) const = 0;
};

}  // namespace muster::scheduler
