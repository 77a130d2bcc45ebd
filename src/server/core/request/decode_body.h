#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/request.h"
#include "api/schema/schema.h"
#include "base/result.h"

// The one way a body becomes a document: for HTTP, loopback and patched objects alike.
namespace muster::server {

// The type a body must have: the endpoint's kind, or that of its subresource (Binding).
struct BodyType {
  const api::schema::Message* message = nullptr;
  std::string kind;     // "Pod"
  std::string group;    // "" is core
  std::string version;  // "v1"
};
// `subresource` may be empty. MethodNotAllowed if no body is known for it.
Result<BodyType> body_type(const api::Kind& kind, std::string_view version,
                           std::string_view subresource);

struct DecodedBody {
  api::Json document;                 // typed, pruned, without kind and apiVersion; not defaulted
  std::vector<std::string> warnings;  // `unknown field "spec.foo"`, for Warning headers
};

// Makes a parsed body a document of its type: apiVersion and kind must be the endpoint's (or
// missing), every member known and of the right type. Unknown members are dropped with a warning,
// or refused.
Result<DecodedBody> decode_body(const BodyType& type, api::ParsedJson parsed,
                                api::FieldValidation validation);

// The body of a Create or Update from its text: sets the request's body, adds its warnings.
Result<void> decode_into(api::Request& request, std::string_view json_text);
// The same from a document, for bodies that arrived in another form (YAML, protobuf).
Result<void> decode_into(api::Request& request, api::ParsedJson parsed);

}  // namespace muster::server
