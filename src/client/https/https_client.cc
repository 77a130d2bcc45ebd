#include "client/https/https_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "client/https/call.h"

namespace muster::client {
namespace {

constexpr std::int64_t kPageSize = 500;                      // as kubectl asks
constexpr std::size_t kBodyBytesMax = std::size_t{1} << 30;  // a page is never near

struct EasyDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

void add_header(HeaderList& headers, const std::string& line) {
  headers.reset(curl_slist_append(headers.release(), line.c_str()));
}

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* user) {
  std::string& body = static_cast<HttpReply*>(user)->body;
  if (body.size() + size * count > kBodyBytesMax) return 0;
  body.append(bytes, size * count);
  return size * count;
}

// `299 - "text"`, RFC 7234: what stands between the quotes.
std::string warning_text(std::string_view value) {
  const std::size_t first = value.find('"');
  const std::size_t last = value.rfind('"');
  if (first == std::string_view::npos || last <= first) return std::string(value);
  std::string text;
  for (std::size_t at = first + 1; at < last; ++at) {
    if (value[at] == '\\' && at + 1 < last) ++at;
    text += value[at];
  }
  return text;
}

bool is_header(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         curl_strnequal(line.data(), name.data(), name.size()) != 0;
}

std::string_view value_of(std::string_view line) {
  line.remove_prefix(line.find(':') + 1);
  const std::size_t first = line.find_first_not_of(" \t");
  const std::size_t last = line.find_last_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view()
                                         : line.substr(first, last - first + 1);
}

std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* user) {
  const std::string_view line(bytes, size * count);
  HttpReply& reply = *static_cast<HttpReply*>(user);
  if (is_header(line, "warning")) {
    reply.warnings.push_back(warning_text(value_of(line)));
  } else if (is_header(line, "retry-after")) {
    const std::string_view value = value_of(line);
    std::from_chars(value.data(), value.data() + value.size(), reply.retry_after_s);
  }
  return line.size();
}

curl_blob blob_of(std::string& text) {
  return {.data = text.data(), .len = text.size(), .flags = CURL_BLOB_NOCOPY};
}

// https://HOST[:PORT][/PATH] with another host, and the address that this stands for, as
// CURLOPT_CONNECT_TO wants it.
struct Renamed {
  std::string server;
  std::string connect_to;
};
Renamed rename_host(const std::string& server, const std::string& host) {
  const std::size_t start = server.find("://") + 3;
  const std::size_t slash = std::min(server.find('/', start), server.size());
  const std::string authority = server.substr(start, slash - start);
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  const std::string port = colon == std::string::npos ? "443" : authority.substr(colon + 1);
  return {
      .server = fmt::format("{}{}:{}{}", server.substr(0, start), host, port, server.substr(slash)),
      .connect_to = fmt::format("::{}:{}", authority.substr(0, colon), port)};
}

}  // namespace

struct HttpsClient::State {
  State(Kubeconfig config_given, HttpsOptions options_given)
      : config(std::move(config_given)), options(std::move(options_given)), server(config.server) {}

  void set_up() {
    CURL* const handle = easy.get();
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error.data());
    curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, options.connect_timeout_ms);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, options.timeout_ms);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, options.user_agent.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
    set_up_tls();
  }

  void set_up_tls() {
    CURL* const handle = easy.get();
    const long verifies = config.insecure_skip_tls_verify ? 0 : 1;
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, verifies);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, verifies * 2);
    if (!config.certificate_authority.empty()) {
      curl_blob authority = blob_of(config.certificate_authority);
      curl_easy_setopt(handle, CURLOPT_CAINFO_BLOB, &authority);
      curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);  // this authority and no other
    }
    if (!config.client_certificate.empty()) {
      curl_blob certificate = blob_of(config.client_certificate);
      curl_blob key = blob_of(config.client_key);
      curl_easy_setopt(handle, CURLOPT_SSLCERT_BLOB, &certificate);
      curl_easy_setopt(handle, CURLOPT_SSLKEY_BLOB, &key);
    }
    if (!config.tls_server_name.empty()) {
      Renamed renamed = rename_host(config.server, config.tls_server_name);
      server = std::move(renamed.server);
      connect_to.reset(curl_slist_append(nullptr, renamed.connect_to.c_str()));
      curl_easy_setopt(handle, CURLOPT_CONNECT_TO, connect_to.get());
    }
  }

  Result<HttpReply> perform(const HttpCall& http) {
    CURL* const handle = easy.get();
    HttpReply reply;
    HeaderList headers;
    add_header(headers, "Accept: application/json");
    add_header(headers, "Expect:");
    if (!http.content_type.empty()) add_header(headers, "Content-Type: " + http.content_type);
    if (!config.token.empty()) add_header(headers, "Authorization: Bearer " + config.token);
    if (!config.impersonate.empty()) add_header(headers, "Impersonate-User: " + config.impersonate);
    const std::string url = server + http.target;
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    if (http.content_type.empty()) {
      curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
    } else {
      curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(http.body.size()));
      curl_easy_setopt(handle, CURLOPT_POSTFIELDS, http.body.data());
    }
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, http.method.c_str());
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &reply);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &reply);
    error.front() = '\0';
    const CURLcode code = curl_easy_perform(handle);
    if (code != CURLE_OK) return fail(unasked(code));
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    reply.code = static_cast<int>(status);
    return reply;
  }

  // Why the server could not be asked.
  Error unasked(CURLcode code) const {
    const std::string_view why = error.front() == '\0' ? curl_easy_strerror(code) : error.data();
    const std::string& where = config.server;
    switch (code) {
      case CURLE_OPERATION_TIMEDOUT:
        return make_error(Reason::Timeout,
                          "the API server {} does not answer: {}; is the address in context {} "
                          "right?",
                          where, why, config.context);
      case CURLE_PEER_FAILED_VERIFICATION:
        return make_error(
            Reason::ServiceUnavailable,
            "the certificate of {} is not trusted: {}; certificate-authority-data of "
            "the cluster in context {} must be the authority that signed it (a server "
            "that was set up again has a new one)",
            where, why, config.context);
      case CURLE_SSL_CERTPROBLEM:
        return make_error(Reason::ServiceUnavailable,
                          "the client certificate or key of context {} cannot be used: {}",
                          config.context, why);
      default:
        return make_error(
            Reason::ServiceUnavailable,
            "cannot reach the API server {}: {}; is it running, and is context {} the "
            "right one?",
            where, why, config.context);
    }
  }

  Kubeconfig config;
  HttpsOptions options;
  std::string server;
  HeaderList connect_to;
  std::array<char, CURL_ERROR_SIZE> error{};
  Easy easy;  // last: it holds on to what stands above
};

HttpsClient::HttpsClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpsClient::~HttpsClient() = default;
HttpsClient::HttpsClient(HttpsClient&&) noexcept = default;
HttpsClient& HttpsClient::operator=(HttpsClient&&) noexcept = default;

const Kubeconfig& HttpsClient::config() const { return state_->config; }

Result<HttpsClient> HttpsClient::open(Kubeconfig config, HttpsOptions options) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto state = std::make_unique<State>(std::move(config), std::move(options));
  if (global == CURLE_OK) state->easy.reset(curl_easy_init());
  if (state->easy == nullptr)
    return fail(Reason::InternalError, "libcurl cannot be set up: {}", curl_easy_strerror(global));
  state->set_up();
  return HttpsClient(std::move(state));
}

Result<api::Answer> HttpsClient::call(const api::Request& request) {
  const HttpReply reply = TRY(state_->perform(encode_call(request)));
  return decode_reply(request, reply);
}

Result<api::ListAnswer> HttpsClient::list(const api::Kind& kind, std::string_view name_space) {
  api::Request request;
  request.verb = api::Verb::List;
  request.kind = &kind;
  request.name_space = name_space;
  Result<api::ListAnswer> listed = fail(Reason::NotFound, "{} has no version", kind.kind);
  for (const std::string& version : kind.versions) {
    request.version = version;
    request.list = {};
    request.list.limit = kPageSize;
    listed = list_pages(request);
    if (!listed && listed.error().reason == Reason::Expired) {
      request.list.limit = 0;
      listed = list_pages(request);
    }
    if (listed || listed.error().reason != Reason::NotFound) return listed;
  }
  return listed;
}

Result<api::ListAnswer> HttpsClient::list_pages(api::Request request) {
  api::ListAnswer all;
  while (true) {
    api::Answer answer = TRY(call(request));
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
