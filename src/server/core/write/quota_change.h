#pragma once

#include <memory>

#include "server/core/write/sliced_request.h"

namespace muster::server {

// A ResourceQuota that is created or changed. What its namespace uses already has to be counted,
// however much that is: a slice reads so many objects, and the request is decided once all are
// known. What changes meanwhile is taken off and added, so the count is exact at that moment. In a
// namespace one of them counts at a time.
//
// `decide` decides the request as if it were any other; it is asked first, to learn what is to be
// counted, and again once that is known.
using Decide = Result<Decision> (*)(Context& context, api::Request& request);
bool changes_quota(const api::Request& request);
std::unique_ptr<SlicedRequest> make_quota_change(api::Request request, Reply reply, Decide decide);

}  // namespace muster::server
