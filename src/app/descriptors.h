#pragma once

#include <cstddef>

#include "server/http/limits.h"

namespace muster::app {

// Raises this process's limit of open files as far as it may, and returns it.
std::size_t raise_descriptor_limit();

// The limits with no more connections than `descriptors` allow: enough stay free for the store, its
// files and the rest of the process, however many clients there are.
server::ClientLimits within_descriptors(server::ClientLimits limits, std::size_t descriptors);

}  // namespace muster::app
