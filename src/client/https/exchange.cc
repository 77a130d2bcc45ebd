#include "client/https/exchange.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace muster::client {
namespace {

void append(HeaderList& headers, const std::string& line) {
  headers.reset(curl_slist_append(headers.release(), line.c_str()));
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

std::string_view value_of(std::string_view line) {
  line.remove_prefix(line.find(':') + 1);
  const std::size_t first = line.find_first_not_of(" \t");
  const std::size_t last = line.find_last_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view()
                                         : line.substr(first, last - first + 1);
}

// The owner of the text keeps it while the handle is in use.
curl_blob blob_of(const std::string& text) {
  return {.data = const_cast<char*>(text.data()), .len = text.size(), .flags = CURL_BLOB_NOCOPY};
}

struct OpenSslDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

// While files are replaced one after the other, a new certificate may stand beside the old key.
bool is_pair(const TlsTexts& texts) {
  const auto reader = [](const std::string& text) {
    return std::unique_ptr<BIO, OpenSslDeleter>(
        BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  };
  const auto certificate_text = reader(texts.certificate);
  const auto key_text = reader(texts.key);
  const std::unique_ptr<X509, OpenSslDeleter> certificate(
      PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  const std::unique_ptr<EVP_PKEY, OpenSslDeleter> key(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  const bool matches = certificate != nullptr && key != nullptr &&
                       X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return matches;
}

Result<void> read_identity(const Kubeconfig& config, TlsTexts& into) {
  if (config.client_certificate_file.empty() && config.client_key_file.empty()) return {};
  TlsTexts read = into;
  if (!config.client_certificate_file.empty())
    read.certificate = TRY(read_pem_file(config.client_certificate_file));
  if (!config.client_key_file.empty()) read.key = TRY(read_pem_file(config.client_key_file));
  if (!is_pair(read))
    return fail(Reason::Invalid, "certificate {} and key {} do not belong together",
                config.client_certificate_file, config.client_key_file);
  into = std::move(read);
  return {};
}

Result<void> read_authority(const Kubeconfig& config, TlsTexts& into) {
  if (config.certificate_authority_file.empty()) return {};
  std::string read = TRY(read_pem_file(config.certificate_authority_file));
  const std::unique_ptr<BIO, OpenSslDeleter> text(
      BIO_new_mem_buf(read.data(), static_cast<int>(read.size())));
  const std::unique_ptr<X509, OpenSslDeleter> first(
      PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (first == nullptr)
    return fail(Reason::Invalid, "{} holds no certificate", config.certificate_authority_file);
  into.authority = std::move(read);
  return {};
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

// A peer that vanished without a word is noticed within 45 seconds, also by a watch that only
// listens: probes begin after 30 idle seconds and the kernel gives up 15 seconds later.
int keep_alive(void* /*unused*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  const auto set = [socket](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 45'000);
  return CURL_SOCKOPT_OK;
}

}  // namespace

Result<void> set_up_curl() {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (global == CURLE_OK) return {};
  return fail(Reason::InternalError, "libcurl cannot be set up: {}", curl_easy_strerror(global));
}

Endpoint::Endpoint(Kubeconfig config, HttpsOptions options)
    : config_(std::move(config)),
      options_(std::move(options)),
      server_(config_.server),
      token_(config_.token),
      tls_texts_(std::make_shared<const TlsTexts>(TlsTexts{
          config_.certificate_authority, config_.client_certificate, config_.client_key})) {
  if (config_.tls_server_name.empty()) return;
  Renamed renamed = rename_host(config_.server, config_.tls_server_name);
  server_ = std::move(renamed.server);
  connect_to_.reset(curl_slist_append(nullptr, renamed.connect_to.c_str()));
}

void Endpoint::set_up(CURL* handle) {
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, options_.connect_timeout_ms);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, options_.user_agent.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, keep_alive);
  const long verifies = config_.insecure_skip_tls_verify ? 0 : 1;
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, verifies);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, verifies * 2);
  if (connect_to_ != nullptr) curl_easy_setopt(handle, CURLOPT_CONNECT_TO, connect_to_.get());
  if (!config_.proxy.empty()) curl_easy_setopt(handle, CURLOPT_PROXY, config_.proxy.c_str());
}

std::vector<std::pair<std::string_view, std::string_view>> Endpoint::identity_headers() const {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  if (!config_.impersonate.empty()) out.emplace_back("impersonate-user", config_.impersonate);
  if (!config_.impersonate_uid.empty())
    out.emplace_back("impersonate-uid", config_.impersonate_uid);
  for (const std::string& group : config_.impersonate_groups)
    out.emplace_back("impersonate-group", group);
  return out;
}

HeaderList Endpoint::headers(const HttpCall& call) {
  HeaderList headers;
  append(headers, "Accept: " + (call.accept.empty() ? "application/json" : call.accept));
  append(headers, "Expect:");
  if (!call.content_type.empty()) append(headers, "Content-Type: " + call.content_type);
  if (const std::string bearer = token(); !bearer.empty())
    append(headers, "Authorization: Bearer " + bearer);
  for (const auto& [name, value] : identity_headers())
    append(headers, fmt::format("{}: {}", name, value));
  return headers;
}

// A file that cannot be read for a moment, as while it is being replaced, leaves the old token in
// use.
std::string Endpoint::token() {
  const std::lock_guard lock(mutex_);
  if (config_.token_file.empty() || !is_due(token_read_)) return token_;
  token_read_ = Steady::now();
  if (Result<std::string> read = read_token_file(config_.token_file))
    token_ = *std::move(read);
  else
    log(LogLevel::Warning, "the token file is not read again: {}", read.error().message);
  return token_;
}

// Likewise: what cannot be used leaves the old one in use.
std::shared_ptr<const TlsTexts> Endpoint::tls_texts() {
  const std::lock_guard lock(mutex_);
  if (!is_due(tls_texts_read_)) return tls_texts_;
  tls_texts_read_ = Steady::now();
  TlsTexts now = *tls_texts_;
  for (const auto& read : {read_identity(config_, now), read_authority(config_, now)})
    if (!read) log(LogLevel::Warning, "certificates are not read again: {}", read.error().message);
  if (now == *tls_texts_) return tls_texts_;
  log(LogLevel::Info, "certificates were replaced: new connections use the new ones");
  tls_texts_ = std::make_shared<const TlsTexts>(std::move(now));
  return tls_texts_;
}

std::string_view Endpoint::authority() const { return authority_of(server_); }

std::string_view Endpoint::path_prefix() const {
  const std::string_view server(server_);
  const std::size_t slash = server.find('/', server.find("://") + 3);
  return slash == std::string_view::npos ? std::string_view() : server.substr(slash);
}

Error Endpoint::unasked(CURLcode code, std::string_view why) const {
  if (why.empty()) why = curl_easy_strerror(code);
  const std::string& where = config_.server;
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return make_error(Reason::Timeout,
                        "the API server {} does not answer: {}; is the address in context {} "
                        "right?",
                        where, why, config_.context);
    case CURLE_PEER_FAILED_VERIFICATION:
      return make_error(Reason::ServiceUnavailable,
                        "the certificate of {} is not trusted: {}; certificate-authority-data of "
                        "the cluster in context {} must be the authority that signed it (a server "
                        "that was set up again has a new one)",
                        where, why, config_.context);
    case CURLE_SSL_CERTPROBLEM:
      return make_error(Reason::ServiceUnavailable,
                        "the client certificate or key of context {} cannot be used: {}",
                        config_.context, why);
    default:
      return make_error(Reason::ServiceUnavailable,
                        "cannot reach the API server {}: {}; is it running, and is context {} the "
                        "right one?",
                        where, why, config_.context);
  }
}

Exchange::Exchange(Endpoint& endpoint) : endpoint_(endpoint), easy_(curl_easy_init()) {
  CHECK(easy_ != nullptr);
  CURL* const handle = easy_.get();
  endpoint_.set_up(handle);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
}

void set_tls_texts(CURL* handle, const TlsTexts& texts) {
  if (!texts.certificate.empty()) {
    curl_blob certificate = blob_of(texts.certificate);
    curl_blob key = blob_of(texts.key);
    curl_easy_setopt(handle, CURLOPT_SSLCERT_BLOB, &certificate);
    curl_easy_setopt(handle, CURLOPT_SSLKEY_BLOB, &key);
  }
  if (!texts.authority.empty()) {
    curl_blob authority = blob_of(texts.authority);
    curl_easy_setopt(handle, CURLOPT_CAINFO_BLOB, &authority);
    curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);  // this authority and no other
  }
}

// libcurl shares connections only between handles that were given the same.
void Exchange::refresh_tls_texts() {
  const std::shared_ptr<const TlsTexts> texts = endpoint_.tls_texts();
  if (texts == tls_texts_) return;
  set_tls_texts(easy_.get(), *texts);
  tls_texts_ = texts;
}

void Exchange::start(HttpCall call, Sink sink) {
  CURL* const handle = easy_.get();
  call_ = std::move(call);
  sink_ = std::move(sink);
  reply_ = {};
  error_.front() = '\0';
  refresh_tls_texts();
  headers_ = endpoint_.headers(call_);
  const std::string url = endpoint_.url(call_);
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  if (call_.content_type.empty()) {
    curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
  } else {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(call_.body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call_.body.data());
  }
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call_.method.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, timeout_ms());
  // A kube-apiserver packs a watch as many gzip members one after the other, of which libcurl reads
  // the first.
  curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, sink_ ? nullptr : "");
}

long Exchange::timeout_ms() const {
  using std::chrono::milliseconds;
  if (call_.patience)
    return static_cast<long>(std::chrono::ceil<milliseconds>(*call_.patience).count());
  return sink_ ? 0 : endpoint_.options().timeout_ms;
}

Result<HttpReply> Exchange::finish(CURLcode code) {
  sink_ = {};
  if (code != CURLE_OK) return fail(endpoint_.unasked(code, error_.data()));
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  reply_.code = static_cast<int>(status);
  return std::move(reply_);
}

std::size_t Exchange::on_body(char* bytes, std::size_t size, std::size_t count, void* user) {
  Exchange& self = *static_cast<Exchange*>(user);
  const std::string_view part(bytes, size * count);
  if (self.sink_) {
    long status = 0;
    curl_easy_getinfo(self.easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status < 300) return self.sink_(part) ? part.size() : 0;
  }
  if (self.reply_.body.size() + part.size() > kBodyBytesMax) return 0;
  self.reply_.body.append(part);
  return part.size();
}

void add_header(std::string_view name, std::string_view value, HttpReply& reply) {
  if (name == "warning")
    reply.warnings.push_back(warning_text(value));
  else if (name == "retry-after")
    std::from_chars(value.data(), value.data() + value.size(), reply.retry_after_s);
}

std::size_t Exchange::on_header(char* bytes, std::size_t size, std::size_t count, void* user) {
  const std::string_view line(bytes, size * count);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char letter) {
    return static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
  });
  add_header(name, value_of(line), static_cast<Exchange*>(user)->reply_);
  return line.size();
}

}  // namespace muster::client
