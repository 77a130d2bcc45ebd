#pragma once

#include <string>

#include "api/decode.h"

namespace muster::api {

// decode() for texts that people write by hand: if a value has the wrong type, `wrong_at` is its
// path ("profiles[0].plugins.score"), which Go's sentence names without its indices.
Result<Decoded> decode(const schema::Message& message, ParsedJson parsed, std::string& wrong_at);

}  // namespace muster::api
