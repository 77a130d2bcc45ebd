#pragma once

#include "api/object.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// Refuses an object with which its namespace would have more bytes than are still free: one
// namespace gets half of the room, two get a third each, and a small one finds room among any
// number of others. `old` is null for a new object; one that does not grow is never refused.
// Decisions that are not durable yet are not counted.
Result<void> check_stored(const Context& context, const api::Object& object,
                          const api::Object* old);

}  // namespace muster::server
