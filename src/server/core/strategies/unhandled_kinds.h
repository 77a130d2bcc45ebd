#pragma once

#include <string>

#include "api/kinds/kind.h"

namespace muster::server {

// What a user should know who makes an object that nothing in this control plane acts on: it is
// stored and served, and that is all. Empty for kinds that are acted on, or need nobody to.
std::string unhandled_kind_warning(const api::Kind& kind);

}  // namespace muster::server
