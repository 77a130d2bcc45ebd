#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/http/channel.h"
#include "server/http/client_ledger.h"
#include "server/http/limits.h"
#include "server/http/loop.h"
#include "server/http/request_pipeline.h"
#include "server/http/tls.h"
#include "server/http/work_pool.h"

namespace muster::server {

// Connections take turns by the bytes they move. A request counts as this many, about what it takes
// to judge and answer a short one; and as many again per 50 us of judging, since some users have
// thousands of bindings.
inline constexpr std::size_t kRequestWork = 8U << 10U;
constexpr std::size_t work_of(SteadyClock::duration judging) {
  const auto more = std::max<std::int64_t>(judging / std::chrono::microseconds(50), 0);
  return kRequestWork * (1 + static_cast<std::size_t>(more));
}

// What all connections of a listener share. Outlives them.
struct ConnectionShared {
  const RequestPipeline& pipeline;
  const ClientLedger& ledger;
  const TlsContext& tls;
  const HttpLimits& limits;
  WorkPool& pool;
};

using TicketPtr = std::unique_ptr<ClientLedger::Ticket>;

// Serves one accepted socket until it closes; owns itself meanwhile. On the loop's thread.
void serve_connection(Loop& loop, boost::asio::ip::tcp::socket socket, TicketPtr ticket,
                      const ConnectionShared& shared);

// The same for a socket whose TLS handshake chose HTTP/2. Many requests and watches share the one
// connection, each in a stream of its own.
void serve_http2(Loop& loop, boost::asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls,
                 TicketPtr ticket, const ConnectionShared& shared);

// The refusal for a user with too many open connections.
Error too_many_connections();

}  // namespace muster::server
