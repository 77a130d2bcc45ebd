#pragma once

#include <string_view>

#include "api/request.h"
#include "base/result.h"
#include "server/http/options.h"

namespace muster::server {

// Reads the body of a write into `request`, whose path and options are known: an object for Create
// and Update, the patch for Patch. Pure; runs on the I/O thread. UnsupportedMediaType, BadRequest,
// or what the schema says.
Result<void> read_body(std::string_view content_type, std::string_view body, api::Request& request);

// The same for the DeleteOptions of Delete and DeleteCollection.
Result<DeleteReply> read_deletion(std::string_view content_type, std::string_view body,
                                  api::Request& request);

}  // namespace muster::server
