#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/values/label_selector.h"

namespace muster::api {

// Which pods a PodDisruptionBudget counts, read once per object: an eviction asks every budget of
// its namespace.
struct BudgetView : View {
  static std::unique_ptr<BudgetView> read(const Object& budget);

  bool selects(const StringPairs& labels) const;

  std::optional<LabelSelector> selector;  // none if it is malformed
  std::int64_t disruptions_allowed = 0;
  std::vector<std::string> disrupted;  // pods whose eviction is under way and counted; sorted
};

}  // namespace muster::api
