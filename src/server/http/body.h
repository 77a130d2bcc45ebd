#pragma once

#include <string_view>

#include "api/request.h"
#include "base/result.h"

namespace muster::server {

// Reads the body of a write into `request`, whose path and options are known: an object for Create
// and Update, the patch for Patch, DeleteOptions for Delete and DeleteCollection. Pure; runs on the
// I/O thread. UnsupportedMediaType, BadRequest, or what the schema says.
Result<void> read_body(std::string_view content_type, std::string_view body, api::Request& request);

}  // namespace muster::server
