#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/request.h"
#include "base/result.h"
#include "server/access/attributes.h"
#include "server/core/request/served.h"
#include "server/http/message.h"
#include "server/http/query.h"

namespace muster::server {

// What a URL names.
enum class Endpoint : std::uint8_t {
  Resource,
  Version,
  CoreVersions,  // /api
  Groups,        // /apis
  Group,         // /apis/G
  GroupVersion,  // /api/v1, /apis/G/V
  OpenApiV2,
  OpenApiV3,  // index and documents
  Health,
  Metrics,
  OpenIdConfiguration,  // /.well-known/openid-configuration
  OpenIdKeys,           // /openid/v1/jwks
  Index,                // /
  Unknown,              // answered by "404 page not found"
};

struct Route {
  Endpoint endpoint = Endpoint::Unknown;
  Attributes attributes;
  Query query;

  // Resource: verb, kind, version, name_space, name and subresource are filled in. The parameters
  // are read later, by options.h, because a refusal comes first.
  api::Request request;
  // No such resource, or a method it does not have: 404 and 405 Status.
  std::optional<Error> error;

  // OpenApiV3: "apis/batch/v1", empty for the index. Health: "livez", with the single check in
  // `check`.
  std::string key;
  std::string check;
};

// Finds out what a request is about. Kinds that are not served are unknown to it. BadRequest if
// the path is not properly encoded.
Result<Route> route(const HttpRequest& request, Kinds kinds = api::all_kinds());

}  // namespace muster::server
