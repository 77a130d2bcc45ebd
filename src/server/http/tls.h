#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "server/access/authenticator.h"
#include "server/http/openssl_handles.h"

// TLS straight on a non-blocking socket. asio::ssl would copy every byte through two more buffers
// and hold some 80 KB per idle connection; a watch is an idle connection most of its life.
namespace muster::server {

// The settings all connections share. Any thread.
class TlsContext {
 public:
  // All PEM. BadRequest naming the part that is not usable.
  static Result<TlsContext> make(const std::string& ca_certificate, const std::string& certificate,
                                 const std::string& private_key);
  SSL_CTX* get() const { return context_.get(); }

 private:
  explicit TlsContext(SslContextHandle context) : context_(std::move(context)) {}
  SslContextHandle context_;
};

// The result of a step on a non-blocking socket. WantRead and WantWrite: try again when the socket
// is ready.
enum class Io : std::uint8_t { Done, WantRead, WantWrite, Closed, Failed };

// One server-side TLS session on a socket that somebody else owns and waits for. Never blocks.
class TlsSession {
 public:
  TlsSession(const TlsContext& context, int socket);
  TlsSession(const TlsSession&) = delete;  // OpenSSL keeps the address of socket_
  TlsSession& operator=(const TlsSession&) = delete;

  Io handshake();
  // Moves at least one byte when Done; `moved` says how many.
  Io read(std::span<char> into, std::size_t& moved);
  Io write(std::string_view from, std::size_t& moved);
  // True if bytes were read off the socket that read() has not given out: the socket will not
  // become readable for them.
  bool has_buffered_input() const { return SSL_has_pending(ssl_.get()) == 1; }
  // Tells the peer that nothing more will be written. Best effort.
  void close_notify();

  // After the handshake.
  PeerCertificate peer() const;
  bool speaks_http2() const;
  // After a failed handshake: the client spoke plain HTTP.
  bool saw_plain_http() const { return saw_plain_http_; }

 private:
  Io io_of(int result);

  int socket_;
  SslHandle ssl_;
  bool broken_ = false;
  bool saw_plain_http_ = false;
};

}  // namespace muster::server
