#include "client/remote/snapshot.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/entropy.h"
#include "client/https/dialect.h"
#include "client/remote/reflector.h"

namespace muster::client {
namespace {

constexpr int kFailuresMax = 3;

// What the server says against a request; nullopt if it answers it.
std::optional<Error> refusal_in(const api::Request& request, const Result<HttpReply>& reply) {
  if (!reply) return reply.error();
  if (reply->code < 400) return std::nullopt;
  const Result<api::Answer> answer = decode_reply(request, *reply);
  return answer ? make_error(Reason::InternalError, "code {}", reply->code) : answer.error();
}

// Whether the reflector can go on: from a stream to a list, or from pages to one piece.
bool has_another_way(const api::Request& request, const Error& error) {
  if (error.reason == Reason::ServiceUnavailable || error.reason == Reason::Timeout ||
      error.reason == Reason::TooManyRequests || error.reason == Reason::NotFound)
    return false;
  return request.verb == api::Verb::Watch || error.reason == Reason::Expired;
}

Result<std::vector<api::ObjectPtr>> read_version(HttpsClient& client, Reflector& reflector) {
  int failures = 0;
  Time now;
  while (!reflector.synced()) {
    // Nobody waits here: whatever is worth a pause ends the reading.
    now = std::max(now, *reflector.next_deadline());
    const api::Request request = *reflector.next(now);
    Exchange::Sink sink;
    if (request.verb == api::Verb::Watch)
      sink = [&](std::string_view bytes) {
        return reflector.on_bytes(bytes) && !reflector.synced();
      };
    const Result<HttpReply> reply = client.read(request, reflector.accept(), std::move(sink));
    if (reflector.synced()) break;  // the stream was ended by us
    reflector.on_end(reply, now);
    const std::optional<Error> refusal = refusal_in(request, reply);
    if (!refusal && request.verb == api::Verb::List) continue;  // a page
    if (++failures > kFailuresMax)
      return fail(Reason::InternalError, "{}: {}", request.kind->plural, reflector.trouble());
    if (refusal && !has_another_way(request, *refusal)) return fail(*refusal);
  }
  return reflector.objects();
}

}  // namespace

Result<std::vector<api::ObjectPtr>> read_once(HttpsClient& client, const api::Kind& kind,
                                              const Projection& project) {
  SystemEntropy entropy;
  Result<std::vector<api::ObjectPtr>> read = fail(Reason::NotFound, "{} has no version", kind.kind);
  for (const std::string& version : versions_to_ask(kind)) {
    Reflector reflector({&kind, version, project}, entropy, [](const Event& /*event*/) {});
    read = read_version(client, reflector);
    if (read || read.error().reason != Reason::NotFound) return read;
  }
  return read;
}

}  // namespace muster::client
