#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/object.h"
#include "api/request.h"
#include "base/result.h"

// What clients may say about revisions. On the wire a revision is a resourceVersion:
// decimal text, opaque to clients.
namespace muster::server {

std::string to_resource_version(api::Revision revision);

// "" and "0" both read as revision 0. BadRequest if it is not a decimal number.
Result<api::Revision> parse_resource_version(std::string_view text);

// The rules for resourceVersionMatch and sendInitialEvents; Invalid names ListOptions.meta.k8s.io.
Result<void> check_list_options(const api::ListOptions& options);
Result<void> check_watch_options(const api::ListOptions& options);

}  // namespace muster::server
