#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/kept.h"
#include "api/kinds/kind.h"
#include "base/result.h"

namespace muster::client {

// One event of a watch, or one object of a list, as the server sent it.
struct WatchEvent {
  std::string type;                 // "ADDED", …
  api::Json object;                 // what is kept of it; in the scratch memory
  std::optional<Error> error = {};  // of type ERROR: what its Status says; there is no object
};

// A line of JSON; the object has yet to be decoded.
Result<WatchEvent> read_json_event(api::Scratch& scratch, std::string_view line,
                                   std::span<const api::Kept> kept);
// A frame of protobuf; the object is as decode() would leave it.
Result<WatchEvent> read_protobuf_event(api::Scratch& scratch, std::string_view frame,
                                       const api::Kind& kind, std::span<const api::Kept> kept);

// Whether servers write the kind's protobuf by the same schema as ours. Versions that are
// not stable may number their fields as they like.
bool has_protobuf(const api::Kind& kind, std::string_view version);

}  // namespace muster::client
