#include "server/http/openid.h"

#include <fmt/format.h>

#include "api/json.h"
#include "server/access/authenticator.h"
#include "server/http/documents.h"

namespace muster::server {

using api::JsonArray;
using api::JsonObject;

HttpResponse answer_openid(Endpoint endpoint, const TokenKey* key, std::string_view host) {
  if (key == nullptr) return page_not_found();
  HttpResponse response;
  response.headers.emplace_back("Cache-Control", "public, max-age=3600");
  if (endpoint == Endpoint::OpenIdKeys) {
    response.content_type = "application/jwk-set+json";
    response.body = api::to_text(JsonObject{{"keys", JsonArray{key->public_jwk()}}});
    return response;
  }
  response.body =
      api::to_text(JsonObject{{"issuer", kTokenIssuer},
                              {"jwks_uri", fmt::format("https://{}/openid/v1/jwks", host)},
                              {"response_types_supported", JsonArray{"id_token"}},
                              {"subject_types_supported", JsonArray{"public"}},
                              {"id_token_signing_alg_values_supported", JsonArray{"ES256"}}});
  return response;
}

}  // namespace muster::server
