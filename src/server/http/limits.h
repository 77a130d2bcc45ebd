#pragma once

#include <chrono>
#include <cstddef>

// Every limit of the HTTP side in one place. docs/threat-model.md lists them with their flags.
namespace muster::server {

// How much of something clients may hold: all of them together, and each one. Beyond `total` minus
// `reserved` only members of system:masters get any.
struct Share {
  std::size_t total = 0;
  std::size_t each = 0;
  std::size_t reserved = 0;
};

struct ClientLimits {
  // Open connections; `each` is one user's.
  Share connections{.total = 10'000, .each = 2'500, .reserved = 64};
  std::size_t connections_per_address = 5'000;
  // Connections that no known user has sent a request on. Beyond it the oldest such is closed.
  std::size_t connections_unproven = 2'500;
  // Bytes of requests and answers that are in memory: input that is not yet a whole request,
  // bodies while they are worked on, answers that are not yet sent.
  Share bytes{.total = 192U << 20U, .each = 72U << 20U, .reserved = 32U << 20U};
  std::size_t bytes_per_connection = 48U << 20U;
  Share writes{.total = 600, .each = 300, .reserved = 60};  // in flight; reads are answered at once
  Share watches{.total = 50'000, .each = 20'000, .reserved = 100};
  // Requests on HTTP/2 streams that are not fully answered, without watches. A connection may
  // have a hundred, and each costs a few kilobytes however little it asks for.
  Share streams{.total = 20'000, .each = 5'000, .reserved = 1'000};
};

// How long each state of a connection may last. A few more bytes extend none of them.
struct Deadlines {
  using Milliseconds = std::chrono::milliseconds;
  Milliseconds handshake{10'000};
  Milliseconds head{
      32'000};  // from a request's first byte, or the handshake, to the end of the head
  Milliseconds body{60'000};    // from the end of the head to the end of the body
  Milliseconds idle{90'000};    // between two requests
  Milliseconds answer{60'000};  // of the core to a write
  // To send an answer: this, and a second more per `send_bytes_per_second`.
  Milliseconds send{60'000};
  std::size_t send_bytes_per_second = 64U << 10U;
  Milliseconds watch_stall{300'000};  // until the client has read what a watch has sent
  Milliseconds linger{5'000};         // after a refusal, so that the client reads it
  Milliseconds access_check{30'000};  // between two checks whether a watch is still allowed

  // When an answer of that size must have been read by its client.
  std::chrono::steady_clock::time_point send_by(std::chrono::steady_clock::time_point now,
                                                std::size_t bytes) const {
    return now + send + std::chrono::seconds(bytes / send_bytes_per_second);
  }
};

struct HttpLimits {
  ClientLimits clients;
  Deadlines deadlines;
  std::size_t body_bytes = 3U << 20U;
  // Of a body that nobody wants, before the connection is closed.
  std::size_t unwanted_body_bytes = 256U << 10U;
  // Decoded documents are larger than their text; a body counts this many times while it is decoded
  // and written.
  std::size_t body_weight = 8;
  // A deletion of a collection counts this while it is decided: the names it goes through and what
  // it will show (core/write/collection_deletion.h).
  std::size_t collection_bytes = 2U << 20U;
  // How long a read or a WatchList waits for a revision that the store has not reached.
  std::chrono::milliseconds unreached{3000};
};

}  // namespace muster::server
