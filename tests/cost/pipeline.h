#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/request.h"

// What the server does with a body, without its threads, its store and its sockets.
namespace muster::cost {

enum class Encoding : std::uint8_t { Json, Yaml, Protobuf };

// The body in another encoding; nullopt if protobuf cannot say it.
std::optional<std::string> encoded(const api::Kind& kind, const std::string& json,
                                   Encoding encoding);

// Parses and decodes. What comes after that does not know in which encoding a body came.
std::optional<api::Json> read(const api::Kind& kind, std::string_view body, Encoding encoding);

// Reads JSON, defaults, records its manager, validates, writes the text that would be stored. The
// document, if it was read at all; rules it breaks do not matter here.
std::optional<api::Json> create(const api::Kind& kind, std::string_view body);
// The same for a document that takes the place of one that create() has returned.
void update(const api::Kind& kind, const api::Json& old, std::string_view body);

// Carries out a patch of such a document and treats what comes of it like an update.
void patch(const api::Kind& kind, const api::Json& old, api::PatchType type, std::string_view body);

}  // namespace muster::cost
