#pragma once

#include <memory>

#include "server/core/write/sliced_request.h"

namespace muster::server {

// Deletes the Events that nothing has renewed for an hour. Answers nobody.
std::unique_ptr<SlicedRequest> make_event_expiry();

}  // namespace muster::server
