#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "server/access/access.h"
#include "server/core/request/request_meter.h"
#include "server/core/server.h"
#include "server/http/audit.h"
#include "server/http/client_ledger.h"
#include "server/http/limits.h"
#include "store/health.h"

namespace muster::server {

struct ListenOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 6443;  // 0 picks a free one
  // PEM. A client is who its certificate says, if the CA signed it.
  std::string ca_certificate;
  std::string certificate;
  std::string private_key;
  unsigned threads = 2;
  HttpLimits limits;
  AuditLog* audit = nullptr;  // outlives the listener
  // Whether the store can be written; null: it always can.
  const store::Health* store_health = nullptr;
  // Counts the requests; shared with others that answer requests. Null: one of its own.
  std::shared_ptr<RequestMeter> meter = nullptr;
  // What /metrics shows besides the meter, in the Prometheus text format; any thread.
  std::function<std::string()> more_metrics = {};
  // For tests: called before each step of a request with its name; what it throws ends the
  // connection.
  std::function<void(std::string_view)> before_step = {};
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
  // What all clients hold right now, for tests.
  virtual const ClientLedger& ledger() const = 0;
};

}  // namespace muster::server
