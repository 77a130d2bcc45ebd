#include "server/http/documents.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <iterator>
#include <set>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/check.h"
#include "server/core/read/discovery.h"
#include "server/core/request/version.h"
#include "server/http/http1.h"
#include "server/http/negotiate.h"

namespace muster::server {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

std::string quoted_sha512(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha512(), nullptr) == 1);
  std::string out = "\"";
  for (unsigned i = 0; i < size; ++i) fmt::format_to(std::back_inserter(out), "{:02X}", digest[i]);
  return out + "\"";
}

// {"paths":[…]}: what there is to see.
std::string index_json(Kinds kinds) {
  std::set<std::string> paths = {"/.well-known/openid-configuration",
                                 "/api",
                                 "/apis",
                                 "/healthz",
                                 "/livez",
                                 "/metrics",
                                 "/openapi/v2",
                                 "/openapi/v3",
                                 "/openid/v1/jwks",
                                 "/readyz",
                                 "/version"};
  for (const api::Kind* kind : kinds) {
    const std::string root = kind->group.empty() ? "/api" : "/apis/" + kind->group;
    paths.insert(root);
    for (const std::string& version : kind->versions)
      paths.insert(fmt::format("{}/{}", root, version));
  }
  std::string out = R"({"paths":[)";
  for (const std::string& path : paths) {
    if (out.back() == '"') out += ',';
    api::write_string(path, out);
  }
  return out + "]}";
}

HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

}  // namespace

HttpResponse page_not_found() {
  HttpResponse response;
  response.code = 404;
  response.content_type = "text/plain; charset=utf-8";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.body = "404 page not found\n";
  return response;
}

Result<HttpResponse> Documents::answer(const Route& route, const HttpRequest& request,
                                       Time now) const {
  const Attributes& asked = route.attributes;
  switch (route.endpoint) {
    case Endpoint::CoreVersions:
    case Endpoint::Groups: return discovery_root(route, request);
    case Endpoint::OpenApiV3: return openapi_v3(route, request, now);
    case Endpoint::OpenApiV2: {
      const std::string type = TRY(negotiate_openapi_v2(request.accept));
      const bool json = type == kJson;
      return serve(json ? "openapi/v2 json" : "openapi/v2", type, request,
                   [&] { return json ? openapi_.v2_json() : openapi_.v2_protobuf(); });
    }
    default: break;
  }
  TRY(negotiate_json(request.accept));
  std::optional<std::string> body;
  if (route.endpoint == Endpoint::Version) body = version_json();
  if (route.endpoint == Endpoint::Index) body = index_json(kinds_);
  if (route.endpoint == Endpoint::Group) body = api_group_json(asked.group, kinds_);
  if (route.endpoint == Endpoint::GroupVersion)
    body = api_resource_list_json(asked.group, asked.version, kinds_);
  if (!body) return page_not_found();
  return json_response(*std::move(body));
}

Result<HttpResponse> Documents::discovery_root(const Route& route,
                                               const HttpRequest& request) const {
  const bool core = route.endpoint == Endpoint::CoreVersions;
  if (!TRY(negotiate_aggregated_discovery(request.accept))) {
    HttpResponse plain =
        json_response(core ? api_versions_json(request.host) : api_group_list_json(kinds_));
    plain.headers.emplace_back("Vary", "Accept");
    return plain;
  }
  HttpResponse aggregated = serve(core ? "api" : "apis", std::string(kAggregated), request, [&] {
    return core ? aggregated_core_json(kinds_) : aggregated_groups_json(kinds_);
  });
  aggregated.headers.emplace_back("Vary", "Accept");
  aggregated.headers.emplace_back("Cache-Control", "public");
  return aggregated;
}

// A document asked for by the hash of its content may be kept forever; by an old hash, the client
// is sent on.
Result<HttpResponse> Documents::openapi_v3(const Route& route, const HttpRequest& request,
                                           Time now) const {
  TRY(negotiate_json(request.accept));
  if (route.key.empty())
    return serve("openapi/v3", std::string(kJson), request, [&] { return openapi_.v3_index(); });
  const Result<std::string> hash = openapi_.v3_hash(route.key);
  if (!hash) return page_not_found();
  const std::string* asked_hash = route.query.find("hash");
  if (asked_hash != nullptr && *asked_hash != *hash) {
    HttpResponse moved;
    moved.code = 301;
    moved.headers.emplace_back("Location", fmt::format("/openapi/v3/{}?hash={}", route.key, *hash));
    return moved;
  }
  HttpResponse response = serve("openapi/v3/" + route.key, std::string(kJson), request,
                                [&] { return openapi_.v3(route.key).value_or(std::string()); });
  response.headers.emplace_back("Vary", "Accept");
  if (asked_hash != nullptr) {
    response.headers.emplace_back("Cache-Control", "public, immutable");
    response.headers.emplace_back("Expires", http_date(now + std::chrono::days(365)));
  }
  return response;
}

std::shared_ptr<const Documents::Document> Documents::cached(const std::string& key,
                                                             const Make& make) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Document>& document = cache_[key];
  if (document == nullptr) {
    std::string body = make();
    std::string etag = quoted_sha512(body);
    document = std::make_shared<const Document>(Document{std::move(body), std::move(etag)});
  }
  return document;
}

HttpResponse Documents::serve(const std::string& key, const std::string& content_type,
                              const HttpRequest& request, const Make& make) const {
  const std::shared_ptr<const Document> document = cached(key, make);
  HttpResponse response;
  response.content_type = content_type;
  response.headers.emplace_back("ETag", document->etag);
  if (request.if_none_match == document->etag)
    response.code = 304;
  else
    response.body = document->body;
  return response;
}

}  // namespace muster::server
