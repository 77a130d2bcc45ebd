#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/openapi/openapi.h"
#include "base/result.h"
#include "base/time.h"
#include "server/core/request/served.h"
#include "server/http/message.h"
#include "server/http/router.h"

namespace muster::server {

// The endpoints that describe this server: /version, discovery, OpenAPI and the index of paths.
// Documents that never change are made once and carry an ETag. Any thread.
class Documents {
 public:
  explicit Documents(Kinds kinds) : kinds_(kinds), openapi_(kinds) {}

  // For every endpoint but Resource, Health, Metrics and Unknown. `address` is where the server
  // listens.
  Result<HttpResponse> answer(const Route& route, const HttpRequest& request, Time now) const;

 private:
  struct Document {
    std::string body;
    std::string etag;  // quoted
  };
  using Make = std::function<std::string()>;
  std::shared_ptr<const Document> cached(const std::string& key, const Make& make) const;
  // The document, or 304 if the client holds it already.
  HttpResponse serve(const std::string& key, const std::string& content_type,
                     const HttpRequest& request, const Make& make) const;

  Result<HttpResponse> discovery_root(const Route& route, const HttpRequest& request) const;
  Result<HttpResponse> openapi_v3(const Route& route, const HttpRequest& request, Time now) const;

  const Kinds kinds_;  // served
  const api::OpenApi openapi_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Document>> cache_;  // under mutex_
};

HttpResponse page_not_found();

}  // namespace muster::server
