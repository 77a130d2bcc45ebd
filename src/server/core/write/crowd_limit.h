#pragma once

#include "api/object.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// Refuses an object that makes the objects of its kind in its namespace too many bytes together,
// for kinds that are read as a whole again and again: quotas and limit ranges with every pod,
// budgets with every eviction, roles and bindings with every request. Who may write them could else
// make each of these dear for everybody. `old` is null for a new object; one that does not grow is
// never refused.
Result<void> check_crowd(Context& context, const api::Object& object, const api::Object* old);

}  // namespace muster::server
