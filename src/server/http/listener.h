#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "server/access/access.h"
#include "server/core/server.h"
#include "server/http/audit.h"

namespace muster::server {

struct ListenOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 6443;  // 0 picks a free one
  // PEM. Clients with a certificate signed by the CA are who it says they are.
  std::string ca_certificate;
  std::string certificate;
  std::string private_key;
  unsigned threads = 2;
  std::size_t connections_max = 10'000;
  std::size_t body_bytes_max = 3U << 20U;
  std::size_t requests_in_flight_max = 600;  // writes; reads are answered at once
  std::size_t watches_max = 50'000;
  // How long a read or a WatchList waits for a revision that the store has not reached.
  std::chrono::milliseconds unreached_max{3000};
  AuditLog* audit = nullptr;  // outlives the listener
};

// The HTTPS side of the server: TLS, HTTP/1.1 and HTTP/2, authentication, routes, content
// negotiation, watch streams. Owns its I/O threads.
class Listener {
 public:
  // Binds and starts serving. The error says what is in the way ("address already in use …").
  static Result<std::unique_ptr<Listener>> start(const ListenOptions& options, const Server& server,
                                                 const Access& access, const Clock& clock);
  virtual ~Listener() = default;            // stops, drops connections, joins its threads
  virtual std::string address() const = 0;  // "127.0.0.1:6443", with the real port
};

}  // namespace muster::server
