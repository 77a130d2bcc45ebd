#pragma once

#include "api/object.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// What a pod's disruption budget says to its eviction.
struct BudgetVerdict {
  // The budget with one disruption less, written together with the deletion; null if no budget is
  // touched.
  std::shared_ptr<api::Object> spent;
  api::ObjectPtr before;  // what it replaces
};

// TooManyRequests if the budget allows no disruption now; InternalError if the pod has several.
Result<BudgetVerdict> spend_budget(Context& context, const api::Object& pod);

}  // namespace muster::server
