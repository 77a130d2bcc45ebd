#include "client/https/https_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "client/https/call.h"
#include "client/https/dialect.h"
#include "client/https/exchange.h"

namespace muster::client {
namespace {

constexpr std::int64_t kPageSize = 500;  // as kubectl asks
constexpr long kSilenceMaxS = 60;        // of a stream

}  // namespace

struct HttpsClient::State {
  State(Kubeconfig config, HttpsOptions options)
      : endpoint(std::move(config), std::move(options)), exchange(endpoint) {}

  Result<HttpReply> perform(HttpCall call, Exchange::Sink sink = {}) {
    const bool is_stream = static_cast<bool>(sink);
    exchange.start(std::move(call), std::move(sink));
    curl_easy_setopt(exchange.handle(), CURLOPT_LOW_SPEED_LIMIT, is_stream ? 1L : 0L);
    curl_easy_setopt(exchange.handle(), CURLOPT_LOW_SPEED_TIME, is_stream ? kSilenceMaxS : 0L);
    return exchange.finish(curl_easy_perform(exchange.handle()));
  }

  Endpoint endpoint;
  Exchange exchange;
};

HttpsClient::HttpsClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpsClient::~HttpsClient() = default;
HttpsClient::HttpsClient(HttpsClient&&) noexcept = default;
HttpsClient& HttpsClient::operator=(HttpsClient&&) noexcept = default;

const Kubeconfig& HttpsClient::config() const { return state_->endpoint.config(); }

Result<HttpsClient> HttpsClient::open(Kubeconfig config, HttpsOptions options) {
  TRY(set_up_curl());
  return HttpsClient(std::make_unique<State>(std::move(config), std::move(options)));
}

Result<HttpReply> HttpsClient::get(std::string target) {
  return state_->perform(
      {.method = "GET", .target = std::move(target), .content_type = {}, .body = {}});
}

Result<api::Answer> HttpsClient::call(const api::Request& request) {
  const HttpReply reply = TRY(state_->perform(encode_call(request)));
  return decode_reply(request, reply);
}

Result<HttpReply> HttpsClient::read(const api::Request& request, std::string_view accept,
                                    Exchange::Sink sink) {
  HttpCall call = encode_call(request);
  call.accept = accept;
  return state_->perform(std::move(call), std::move(sink));
}

Result<api::ListAnswer> HttpsClient::list(const api::Kind& kind, std::string_view name_space,
                                          const Projection& project) {
  api::Request request;
  request.verb = api::Verb::List;
  request.kind = &kind;
  request.name_space = name_space;
  Result<api::ListAnswer> listed = fail(Reason::NotFound, "{} has no version", kind.kind);
  for (const std::string& version : versions_to_ask(kind)) {
    request.version = version;
    request.list = {};
    request.list.limit = kPageSize;
    listed = list_pages(request, project);
    if (!listed && listed.error().reason == Reason::Expired) {
      request.list.limit = 0;
      listed = list_pages(request, project);
    }
    if (listed || listed.error().reason != Reason::NotFound) return listed;
  }
  return listed;
}

Result<api::ListAnswer> HttpsClient::list_pages(api::Request request, const Projection& project) {
  api::ListAnswer all;
  while (true) {
    const HttpReply reply = TRY(state_->perform(encode_call(request)));
    api::Answer answer = TRY(decode_reply(request, reply, project));
    auto* page = std::get_if<api::ListAnswer>(&answer.what);
    if (page == nullptr)
      return fail(Reason::InternalError, "the server answered a list of {} with something else",
                  request.kind->plural);
    all.revision = page->revision;
    std::ranges::move(page->items, std::back_inserter(all.items));
    if (page->continue_token.empty()) return all;
    request.list.continue_token = page->continue_token;
  }
}

}  // namespace muster::client
