#pragma once

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/request.h"
#include "base/result.h"
#include "server/core/write/batch.h"
#include "server/core/write/context.h"

// ResourceQuotas. What a write uses is added to the status of the quotas of its namespace in the
// same transaction, and what it frees is taken off: the status is always exact, and two requests
// can never both use what is left.
namespace muster::server {

const api::Kind& quota_kind();

// Refuses a decision that uses more than some quota allows; otherwise adds to its writes the quotas
// whose status it changes. Costs one look-up where a namespace has none.
Result<void> charge_quotas(Context& context, const api::Request& request, Decision& decision);

// Writes what its namespace already uses into a quota that is new, whose spec changes, or
// whose status lacks it; into a status that is written, only what is missing. `old` is null
// for a new one. Looks at every object of the kinds it limits, in slices if there is a
// `context.usage` (quota_count.h): if that is exhausted, what is written is incomplete and
// must be dropped.
void count_quota(Context& context, const api::Request& request, api::Json& quota,
                 const api::Json* old);

}  // namespace muster::server
