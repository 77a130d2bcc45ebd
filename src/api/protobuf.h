#pragma once

#include <string>
#include <string_view>

#include "api/json.h"
#include "api/schema/schema.h"
#include "base/result.h"

// Bodies in application/vnd.kubernetes.protobuf, which generated Go clients send by default. We
// read them; we never write them.
namespace muster::api {

struct ProtobufEnvelope {
  std::string api_version;
  std::string kind;
  std::string_view raw;  // the message itself; points into the body
};

// Reads "k8s\0" and the envelope behind it. BadRequest if there is none.
Result<ProtobufEnvelope> read_protobuf_envelope(std::string_view body);

// The message as the JSON document it stands for; decode() has yet to look at it. Unknown field
// numbers become members of that name, which decode() reports and drops; zero values of fields that
// are not optional mean unset and are left out.
Result<ParsedJson> parse_protobuf(const schema::Message& root, std::string_view message_bytes);

}  // namespace muster::api
