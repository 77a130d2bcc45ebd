#include "client/remote/tls_line.h"

#include <openssl/ssl.h>
#include <sys/select.h>

#include <algorithm>
#include <string>

#include "base/check.h"

namespace muster::client {
namespace {

constexpr std::string_view kProtocols = "\x02h2\x08http/1.1";
constexpr std::size_t kReadAhead = std::size_t{64} << 10;
constexpr int kBetweenLooksMs = 2;  // at a connection of which it is not known what it waits for
constexpr int kPatienceMs = 100;    // libcurl may have to look at the time

// Offers HTTP/2 behind libcurl's back, which would otherwise speak it itself; and reads as many
// records as there are by one call.
CURLcode set_up_tls(CURL* /*handle*/, void* context, void* /*user*/) {
  auto* const tls = static_cast<SSL_CTX*>(context);
  SSL_CTX_set_alpn_protos(tls, reinterpret_cast<const unsigned char*>(kProtocols.data()),
                          static_cast<unsigned>(kProtocols.size()));
  SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_clear_mode(tls, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(tls, 1);
  SSL_CTX_set_default_read_buffer_len(tls, kReadAhead);
  return CURLE_OK;
}

}  // namespace

bool TlsLine::possible(const Endpoint& endpoint) {
  const curl_version_info_data* const libcurl = curl_version_info(CURLVERSION_NOW);
  return endpoint.options().own_http2 && libcurl->ssl_version != nullptr &&
         std::string_view(libcurl->ssl_version).starts_with("OpenSSL/") &&
         endpoint.url({}).starts_with("https://") &&
         endpoint.authority().find('@') == std::string_view::npos;
}

TlsLine::TlsLine(Endpoint& endpoint)
    : endpoint_(endpoint),
      texts_(endpoint.tls_texts()),
      easy_(curl_easy_init()),
      multi_(curl_multi_init()) {
  CHECK(easy_ != nullptr && multi_ != nullptr);
  CURL* const handle = easy_.get();
  endpoint_.set_up(handle);
  set_tls_texts(handle, *texts_);
  const std::string url = endpoint_.url({});
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(handle, CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(handle, CURLOPT_SSL_ENABLE_ALPN, 0L);
  curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, set_up_tls);
  curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, note_protocol);
  curl_easy_setopt(handle, CURLOPT_PREREQDATA, this);
  CHECK(curl_multi_add_handle(multi_.get(), handle) == CURLM_OK);
}

TlsLine::~TlsLine() { curl_multi_remove_handle(multi_.get(), easy_.get()); }

// Later libcurl does not show what was agreed on.
int TlsLine::note_protocol(void* user, char* /*primary_ip*/, char* /*local_ip*/,
                           int /*primary_port*/, int /*local_port*/) {
  TlsLine& self = *static_cast<TlsLine*>(user);
  const curl_tlssessioninfo* info = nullptr;
  curl_easy_getinfo(self.easy_.get(), CURLINFO_TLS_SSL_PTR, &info);
  if (info == nullptr || info->internals == nullptr || info->backend != CURLSSLBACKEND_OPENSSL)
    return CURL_PREREQFUNC_OK;
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  self.tls_ = static_cast<const SSL*>(info->internals);
  SSL_get0_alpn_selected(self.tls_, &chosen, &size);
  self.speaks_http2_ = std::string_view(reinterpret_cast<const char*>(chosen), size) == "h2";
  return CURL_PREREQFUNC_OK;
}

Result<bool> TlsLine::connect() {
  int running = 0;
  curl_multi_perform(multi_.get(), &running);
  int left = 0;
  const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left);
  if (message == nullptr) return false;
  if (message->data.result != CURLE_OK)
    return fail(endpoint_.unasked(message->data.result, error_.data()));
  return true;
}

// A name that is being resolved has no socket, and an attempt by several addresses has many: those
// are looked at again and again.
TlsLine::Wait TlsLine::waits_for() const {
  fd_set reads = {};
  fd_set writes = {};
  fd_set errors = {};
  int highest = -1;
  Wait wait{.patience_ms = kBetweenLooksMs};
  if (curl_multi_fdset(multi_.get(), &reads, &writes, &errors, &highest) != CURLM_OK) return wait;
  int sockets = 0;
  for (int fd = 0; fd <= highest; ++fd) {
    const int events = (FD_ISSET(fd, &reads) ? CURL_WAIT_POLLIN : 0) |
                       (FD_ISSET(fd, &writes) ? CURL_WAIT_POLLOUT : 0);
    if (events == 0) continue;
    ++sockets;
    wait.on = {.fd = fd, .events = static_cast<short>(events), .revents = 0};
  }
  if (sockets != 1) return {.patience_ms = kBetweenLooksMs};
  long timer_ms = -1;
  curl_multi_timeout(multi_.get(), &timer_ms);
  wait.patience_ms =
      timer_ms < 0 ? kPatienceMs : static_cast<int>(std::min<long>(timer_ms, kPatienceMs));
  return wait;
}

curl_socket_t TlsLine::socket() const {
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy_.get(), CURLINFO_ACTIVESOCKET, &socket);
  return socket;
}

bool TlsLine::has_more() const { return tls_ == nullptr || SSL_has_pending(tls_) != 0; }

Result<std::size_t> TlsLine::read(std::span<char> into) {
  std::size_t count = 0;
  const CURLcode code = curl_easy_recv(easy_.get(), into.data(), into.size(), &count);
  if (code == CURLE_AGAIN) return std::size_t{0};
  if (code != CURLE_OK) return fail(endpoint_.unasked(code, error_.data()));
  if (count == 0) return fail(endpoint_.unasked(CURLE_GOT_NOTHING, "it closed the connection"));
  return count;
}

Result<std::size_t> TlsLine::write(std::string_view bytes) {
  std::size_t count = 0;
  const CURLcode code = curl_easy_send(easy_.get(), bytes.data(), bytes.size(), &count);
  if (code != CURLE_OK && code != CURLE_AGAIN) return fail(endpoint_.unasked(code, error_.data()));
  return count;
}

}  // namespace muster::client
