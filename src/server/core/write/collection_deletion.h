#pragma once

#include <cstddef>
#include <memory>

#include "server/core/write/sliced_request.h"

namespace muster::server {

// Objects that an answer shows. They are kept from their deletion until the answer is read; if
// there would be more, the answer is a Status without any.
inline constexpr std::size_t kShownBytesMax = std::size_t{1} << 20U;
inline constexpr std::size_t kShownMemoryMax = std::size_t{4} << 20U;

// DELETE of a collection. As upstream it deletes object by object: if one cannot be deleted, those
// before it are gone. It covers the objects that existed when it began. Those that others change or
// delete meanwhile are selected and deleted in their new state, or left alone; upstream selects
// them as they were.
std::unique_ptr<SlicedRequest> make_collection_deletion(api::Request request, Reply reply);

}  // namespace muster::server
