#pragma once

#include <string>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// PUT: the request's document replaces what is stored; on /status and other subresources only their
// part of it. Takes the document out of the request.
Result<Decision> decide_update(Context& context, api::Request& request);

// PATCH: the patch is applied to the newest state, then the result is handled as an update.
Result<Decision> decide_patch(Context& context, api::Request& request);

// The path every change of an existing object takes, from its new document to the write. `old` is
// the document of `existing`.
Result<Decision> replace(Context& context, const api::Request& request, api::Json document,
                         const api::ObjectPtr& existing, const api::Json& old,
                         std::vector<std::string> warnings);

// The result of the request's patch on a document that `message` describes.
Result<api::Json> patched(const api::Request& request, const api::schema::Message& message,
                          api::Json document);

}  // namespace muster::server
