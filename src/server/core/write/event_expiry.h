#pragma once

#include <memory>

#include "server/core/write/sliced_request.h"

namespace muster::server {

// Deletes the Events that nothing has renewed for an hour. Has no client to answer.
std::unique_ptr<SlicedRequest> make_event_expiry();

}  // namespace muster::server
