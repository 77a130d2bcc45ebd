#pragma once

#include <string>
#include <vector>

#include "api/json.h"

namespace muster::server {

// Owners that a document lists twice are kept once, with a warning.
void drop_duplicate_owners(api::Json& document, std::vector<std::string>& warnings);

}  // namespace muster::server
