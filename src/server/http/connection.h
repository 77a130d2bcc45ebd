#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <cstddef>

#include "server/http/loop.h"
#include "server/http/request_pipeline.h"
#include "server/http/tls.h"

namespace muster::server {

// What all connections of a listener share. Outlives them.
struct ConnectionShared {
  const RequestPipeline& pipeline;
  const TlsContext& tls;
  std::size_t body_bytes_max;
};

// Serves one accepted socket until it closes; owns itself meanwhile. On the loop's thread.
void serve_connection(Loop& loop, boost::asio::ip::tcp::socket socket,
                      const ConnectionShared& shared);

}  // namespace muster::server
