#pragma once

#include <memory>

#include "server/core/write/sliced_request.h"

namespace muster::server {

// DELETE of a collection. As upstream it deletes object by object: if one cannot be deleted, those
// before it are gone. Objects that others change or delete meanwhile are deleted as they are by
// then, or left alone.
std::unique_ptr<SlicedRequest> make_collection_deletion(api::Request request, Reply reply);

}  // namespace muster::server
