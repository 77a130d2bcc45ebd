#include "server/core/server.h"

#include <utility>

namespace muster::server {

void Server::handle(api::Request request, Reply reply) const {
  if (request.verb == api::Verb::Get || request.verb == api::Verb::List) {
    reply(read(request));
    return;
  }
  if (post_(request, reply)) return;
  Error error = make_error(Reason::TooManyRequests, "Too many requests, please try again later.");
  error.retry_after_s = 1;
  reply(fail(std::move(error)));
}

}  // namespace muster::server
