#include "server/core/server.h"

#include <utility>

namespace muster::server {

void Server::handle(api::Request request, Reply reply) const {
  if (request.verb == api::Verb::Get || request.verb == api::Verb::List) {
    reply(read(request));
    return;
  }
  if (post_(std::move(request), std::move(reply))) return;
  // A mailbox that refuses leaves its message untouched.
  Error error = make_error(Reason::TooManyRequests, "Too many requests, please try again later.");
  error.retry_after_s = 1;
  reply(fail(std::move(error)));  // NOLINT(bugprone-use-after-move)
}

Result<Server::OpenWatch> Server::watch(const api::Request& request,
                                        watch::Window::Wake wake) const {
  // Subscribe first: a change between the two is then a wake too many, never one too few.
  OpenWatch out;
  out.subscription = window_.subscribe(request.kind->store_prefix, wake);
  out.watcher = TRY(Watcher::open(request, store_, window_));
  if (out.watcher->unreached()) out.any_change = listen(std::move(wake));
  return out;
}

}  // namespace muster::server
