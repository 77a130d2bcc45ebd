#pragma once

#include <functional>
#include <memory>

#include "api/object.h"
#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

// Ways out: at once, after a grace period, or when the last finalizer is gone.
namespace muster::server {

Result<Decision> decide_delete(Context& context, const api::Request& request);

// Deletes one object that exists. `mark`, if given, edits its document on the way out.
using Mark = std::function<void(api::Json&)>;
Result<Decision> decide_removal(Context& context, const api::ObjectPtr& existing,
                                const api::DeleteOptions& options, const Mark& mark = nullptr);

// What deleting one object leads to, for those who delete many.
struct Removal {
  api::ObjectPtr object;                  // what the client is shown
  std::shared_ptr<api::Object> modified;  // null: the object is gone, or nothing changed
  bool gone = false;
};
Result<void> check_delete_options(const api::DeleteOptions& options);
Result<Removal> remove_object(Context& context, const api::ObjectPtr& existing,
                              const api::DeleteOptions& options, const Mark& mark = nullptr);
// Adds the write, if there is one.
void add_removal(store::Transaction& transaction, const api::ObjectPtr& existing,
                 const Removal& removal);

// Whether the update from `existing` to `updated` removes the last thing its deletion waited for.
bool goes_with_update(const api::Object& existing, const api::Json& updated);

}  // namespace muster::server
