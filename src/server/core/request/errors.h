#pragma once

#include <string_view>
#include <vector>

#include "api/kinds/kind.h"
#include "base/error.h"

// The errors requests end in, with the texts and details upstream gives them.
namespace muster::server {

// pods "x" not found
Error not_found(const api::Kind& kind, std::string_view name);
// pods "x" already exists
Error already_exists(const api::Kind& kind, std::string_view name);
// Operation cannot be fulfilled on pods "x": WHY
Error conflict(const api::Kind& kind, std::string_view name, std::string_view why);
// … the object has been modified; please apply your changes to the latest version and try again
Error modified_meanwhile(const api::Kind& kind, std::string_view name);
// pods "x" is forbidden: WHY; without a name: pods is forbidden: WHY
Error forbidden(const api::Kind& kind, std::string_view name, std::string_view why);
// Pod "x" is invalid: FIELD: MESSAGE, or [FIELD: MESSAGE, …]
Error invalid(const api::Kind& kind, std::string_view name, std::vector<Cause> causes);
// The same about something that is not a stored object: DeleteOptions.meta.k8s.io "" is invalid: …
struct Subject {
  std::string_view group;
  std::string_view kind;
  std::string_view name = {};
};
Error invalid(const Subject& subject, std::vector<Cause> causes);
// Timeout: Too large resource version: ASKED, current: CURRENT
Error too_large_resource_version(std::int64_t asked, std::int64_t current);
// the server does not allow this method on the requested resource
Error method_not_allowed();
// Internal error occurred: WHY
Error internal_error(std::string_view why);

}  // namespace muster::server
