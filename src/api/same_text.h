#pragma once

#include "api/json.h"

namespace muster::api {

// Whether both values have the very same text: equal, with members in the same order. A document
// that was made by editing another one nearly always has, where it was not edited, and one walk
// tells; == looks up every member, and canonical texts must be written first.
bool same_text(const Json& a, const Json& b);

}  // namespace muster::api
