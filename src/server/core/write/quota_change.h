#pragma once

#include <memory>

#include "server/core/write/sliced_request.h"

namespace muster::server {

// A ResourceQuota that is created or changed. What its namespace uses already has to be counted,
// however much that is: a slice reads so many objects, and the request is decided once all are
// known. Objects that change meanwhile are read again, so the count is exact at that moment.
//
// `decide` decides the request as if it were any other; it is asked in each slice.
using Decide = Result<Decision> (*)(Context& context, api::Request& request);
bool changes_quota(const api::Request& request);
std::unique_ptr<SlicedRequest> make_quota_change(api::Request request, Reply reply, Decide decide);

}  // namespace muster::server
