#pragma once

#include <memory>
#include <string_view>

#include "api/request.h"
#include "base/result.h"
#include "client/https/call.h"
#include "client/https/exchange.h"
#include "client/kubeconfig.h"

namespace muster::client {

// A Kubernetes API server for a program that asks one thing at a time: every call blocks. One
// connection, kept between calls; belongs to one thread. Components never use it: they
// are handed a client::Client.
class HttpsClient {
 public:
  // Nothing is sent yet. Fails only if the TLS library cannot be set up.
  static Result<HttpsClient> open(Kubeconfig config, HttpsOptions options);
  ~HttpsClient();
  HttpsClient(HttpsClient&&) noexcept;
  HttpsClient& operator=(HttpsClient&&) noexcept;

  // Errors are those the server returns, or say why it could not be asked: ServiceUnavailable if it
  // cannot be reached or trusted, Timeout.
  Result<api::Answer> call(const api::Request& request);

  // A path that is not an object: /version, /apis/GROUP/VERSION. The reply may be of any code.
  Result<HttpReply> get(std::string target);

  // A list or a watch as HTTP has it, in a form that is accepted (empty: JSON); a sink gets the
  // answer as it comes; a minute of silence ends it (Timeout). The reply may be of any code.
  Result<HttpReply> read(const api::Request& request, std::string_view accept = {},
                         Exchange::Sink sink = {});

  // All objects of a kind, page by page; in all namespaces if `name_space` is empty. Asks for the
  // versions of the kind in turn until the server serves one; NotFound if it serves none. A list
  // that expires half way is read again in one piece.
  Result<api::ListAnswer> list(const api::Kind& kind, std::string_view name_space,
                               const Projection& project = {});

  const Kubeconfig& config() const;

 private:
  struct State;
  explicit HttpsClient(std::unique_ptr<State> state);

  Result<api::ListAnswer> list_pages(api::Request request, const Projection& project);

  std::unique_ptr<State> state_;
};

}  // namespace muster::client
