#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <memory>

#include "server/http/client_ledger.h"
#include "server/http/limits.h"
#include "server/http/loop.h"
#include "server/http/request_pipeline.h"
#include "server/http/tls.h"
#include "server/http/work_pool.h"

namespace muster::server {

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

// A refusal to who has too many connections open.
Error too_many_connections();

}  // namespace muster::server
