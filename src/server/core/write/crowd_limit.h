#pragma once

#include "api/object.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// Refuses an object with which its kind has too many bytes in its namespace, for kinds that are
// read as a whole again and again: quotas and limit ranges with every pod, budgets with every
// eviction, roles and bindings with every request. Anyone who may write them could otherwise make
// each of these slow for everybody. `old` is null for a new object; one that does not grow is
// never refused.
Result<void> check_crowd(Context& context, const api::Object& object, const api::Object* old);

}  // namespace muster::server
