#pragma once

#include <string_view>

#include "api/json.h"
#include "api/request.h"
#include "base/result.h"
#include "server/http/query.h"

namespace muster::server {

// Reads the query's parameters that matter to the request's verb, except how to delete.
// `user_agent` names the field manager where no parameter does. For a Patch the type must be known.
// Malformed values are BadRequest or Invalid, with upstream's texts; what needs the store's state
// (selectors, resource versions) is judged by server/core.
Result<void> read_options(const Query& query, std::string_view user_agent, api::Request& request);

// What a deletion says about its answer.
struct DeleteReply {
  // orphanDependents=false: an object that is still there afterwards is 202 (Accepted).
  bool tells_pending = false;
};

// How to delete: from the body of a Delete or DeleteCollection or, only if it has none, from the
// query.
Result<DeleteReply> read_delete_options(const api::Json& body, api::Request& request);
Result<DeleteReply> read_delete_options(const Query& query, api::Request& request);

}  // namespace muster::server
