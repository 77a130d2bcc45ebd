#pragma once

#include <functional>

#include "api/object.h"
#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

// Ways out: at once, after a grace period, or when the last finalizer is gone (wire.md 2.10
// - 2.12).
namespace muster::server {

// Delete and DeleteCollection.
Result<Decision> decide_delete(Context& context, const api::Request& request);
Result<Decision> decide_delete_collection(Context& context, const api::Request& request);

// Deletes one object that exists. `mark`, if given, edits its document on the way out.
using Mark = std::function<void(api::Json&)>;
Result<Decision> decide_removal(Context& context, const api::ObjectPtr& existing,
                                const api::DeleteOptions& options, const Mark& mark = nullptr);

// Whether an update that leaves `updated` of `existing` was the last thing it waited for.
bool goes_with_update(const api::Object& existing, const api::Json& updated);

}  // namespace muster::server
