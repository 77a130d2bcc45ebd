#pragma once

#include <curl/curl.h>
#include <openssl/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "client/https/exchange.h"

namespace muster::client {

// A TLS connection to an API server, as a pipe of bytes that never blocks. libcurl makes it, with
// its handling of proxies, addresses and certificates and its error texts; what is sent on it is up
// to others.
class TlsLine {
 public:
  // Whether this libcurl, and this address, can be used so.
  static bool possible(const Endpoint& endpoint);

  // The endpoint must outlive it.
  explicit TlsLine(Endpoint& endpoint);
  ~TlsLine();
  TlsLine(const TlsLine&) = delete;
  TlsLine& operator=(const TlsLine&) = delete;

  // Continues connecting; true once the line is up. Call it repeatedly until then.
  Result<bool> connect();
  // Of a line that is up: the server speaks HTTP/2 on it.
  bool speaks_http2() const { return speaks_http2_; }
  curl_socket_t socket() const;
  // What a line that is connecting waits for, and for how long at most. There may be no socket.
  struct Wait {
    curl_waitfd on = {.fd = CURL_SOCKET_BAD, .events = 0, .revents = 0};
    int patience_ms = 0;
  };
  Wait waits_for() const;
  // Bytes were received that nobody has read, and that the socket no longer shows.
  bool has_more() const;
  // How much was read or written; 0: nothing, for now. Error: the line is gone.
  Result<std::size_t> read(std::span<char> into);
  Result<std::size_t> write(std::string_view bytes);

  // Who we are and which authorities we trust on it.
  const std::shared_ptr<const TlsTexts>& texts() const { return texts_; }

 private:
  struct EasyDeleter {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  struct MultiDeleter {
    void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
  };
  static int note_protocol(void* user, char* primary_ip, char* local_ip, int primary_port,
                           int local_port);

  Endpoint& endpoint_;
  const std::shared_ptr<const TlsTexts> texts_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  bool speaks_http2_ = false;
  const SSL* tls_ = nullptr;  // libcurl's, while the line is up
  std::unique_ptr<CURL, EasyDeleter> easy_;
  // Its own: a multi handle closes idle connections whenever it makes another, and to libcurl this
  // one is idle.
  std::unique_ptr<CURLM, MultiDeleter> multi_;
};

}  // namespace muster::client
