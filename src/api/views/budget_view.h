#pragma once

#include <memory>
#include <optional>

#include "api/object.h"
#include "api/values/label_selector.h"

namespace muster::api {

// Which pods a PodDisruptionBudget counts, read once per object: an eviction asks every budget of
// its namespace.
struct BudgetView : View {
  static std::unique_ptr<BudgetView> read(const Object& budget);

  bool selects(const StringPairs& labels) const;

  std::optional<LabelSelector> selector;  // none if it is malformed
};

}  // namespace muster::api
