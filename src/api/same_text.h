#pragma once

#include "api/json.h"

namespace muster::api {

// Whether both values have the very same text: equal, with members in the same order. A document
// made by editing another nearly always does, where it was not edited, and one walk finds out; ==
// looks up every member, and canonical texts would have to be written first.
bool same_text(const Json& a, const Json& b);

}  // namespace muster::api
