#pragma once

#include <string>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"

// Kinds that are another view of stored objects. There is one: an events.k8s.io Event is a core
// Event with other names for its members.
namespace muster::api {

// The kind whose documents the store keeps for `kind`: nearly always itself.
const Kind& stored_kind(const Kind& kind);

// Makes a document of `kind` one of stored_kind(kind), and back.
void to_stored(const Kind& kind, Json& document);
void from_stored(const Kind& kind, Json& document);

// encode() for a client that asked for `kind`, which may be another view of the stored object.
void encode_as(const Kind& kind, const Object& object, Revision revision,
               const EncodeOptions& options, std::string& out);

}  // namespace muster::api
