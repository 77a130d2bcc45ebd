#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <memory>

#include "server/http/connection.h"
#include "server/http/loop.h"
#include "server/http/tls.h"

namespace muster::server {

// Serves a socket whose TLS handshake chose HTTP/2, until it closes; owns itself meanwhile. On the
// loop's thread. Many requests and watches share the one connection, each in a stream of its own.
void serve_http2(Loop& loop, boost::asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls,
                 const ConnectionShared& shared);

}  // namespace muster::server
