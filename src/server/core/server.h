#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "api/request.h"
#include "base/result.h"
#include "server/core/read/reader.h"
#include "server/core/request/reply.h"
#include "watch/window.h"

// Requests in, objects out; pure: no sockets, no threads, no clock.
namespace muster::server {

// The door into the core, for any thread: HTTP connections and loopback clients use the same one.
// Reads are answered on the calling thread from durable state (read/reader.h); writes travel to the
// registry's thread (write/registry.h).
class Server {
 public:
  // Hands a write to the registry's thread. False if its mailbox is full: request and reply are
  // then untouched. In a simulation it simply calls Registry::submit.
  using Post = std::function<bool(api::Request& request, Reply& reply)>;
  using OpenWatch = Reader::OpenWatch;

  Server(const Reader& reader, Post post) : reader_(reader), post_(std::move(post)) {}

  Result<api::Answer> read(const api::Request& request) const { return reader_.read(request); }
  Result<std::unique_ptr<ListReading>> begin_list(const api::Request& request) const {
    return reader_.begin_list(request);
  }

  // Bytes of the object that a Get asks for; 0 if there is none.
  std::size_t size_of(const api::Request& request) const { return reader_.size_of(request); }

  // Whether the revision that a read asks for has been reached: then read() is not a Timeout.
  bool has_reached(const api::Request& request) const { return reader_.has_reached(request); }

  // Answers every verb but Watch. `reply` is called exactly once: at once for reads, later on the
  // registry's thread for writes. A full mailbox is TooManyRequests with retry_after_s 1.
  void handle(api::Request request, Reply reply) const;

  Result<OpenWatch> watch(const api::Request& request, watch::Window::Wake wake) const {
    return reader_.watch(request, std::move(wake));
  }
  std::unique_ptr<watch::Window::Subscription> listen(watch::Window::Wake wake) const {
    return reader_.listen(std::move(wake));
  }

  api::Revision revision() const { return reader_.revision(); }
  Kinds served() const { return reader_.served(); }
  const GroupTally& tally() const { return reader_.tally(); }

 private:
  const Reader& reader_;
  Post post_;
};

}  // namespace muster::server
