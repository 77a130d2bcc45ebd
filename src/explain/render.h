#pragma once

#include <string>

#include "api/json.h"
#include "explain/explanation.h"

namespace muster::explain {

// For people at a terminal: the dominant sentence first, then what it rests on, then what would
// help.
std::string render_text(const Explanation& explanation);

// For programs: every field under its name, indented.
std::string render_json(const Explanation& explanation);
// The same as a document.
api::JsonObject explanation_json(const Explanation& explanation);

}  // namespace muster::explain
