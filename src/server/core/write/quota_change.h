#pragma once

#include <memory>

#include "server/core/write/sliced_request.h"

namespace muster::server {

// A ResourceQuota that is created or changed. What its namespace already uses must be counted,
// however much that is: each slice reads a limited number of objects, and the request is decided
// once all are known. Changes meanwhile are subtracted and added, so the count is exact at that
// moment. In a namespace one of them counts at a time.
//
// `decide` decides the request as if it were any other; it is called first to learn what must be
// counted, and again once that is known.
using Decide = Result<Decision> (*)(Context& context, api::Request& request);
bool changes_quota(const api::Request& request);
std::unique_ptr<SlicedRequest> make_quota_change(api::Request request, Reply reply, Decide decide);

}  // namespace muster::server
