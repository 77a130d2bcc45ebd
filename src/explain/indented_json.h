#pragma once

#include <string>

#include "api/json.h"

namespace muster::explain {

// A document as `kubectl -o json` prints it: four spaces per level, a line break at the end.
std::string indented_json(const api::Json& document);

}  // namespace muster::explain
