#include "client/kit/calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/request_metrics.h"

namespace muster::client {

namespace {

constexpr int kTriesMax = 4;
constexpr int kTriesBusyMax = 10;
constexpr Duration kFirstDelay = std::chrono::milliseconds{10};
constexpr Duration kDelayMax = std::chrono::seconds{10};
constexpr int kRetryAfterMax = 60;  // seconds: a server's word must not hold a node's room for long

}  // namespace

void Calls::send(api::Request request, OnOutcome on_outcome) {
  const std::uint64_t ticket = ++last_ticket_;
  const std::size_t bytes = bytes_of(request.body);
  bytes_ += bytes;
  calls_.emplace(ticket, Call{std::move(on_outcome), request.verb, bytes});
  send_(std::move(request), ticket);
}

void Calls::complete(std::uint64_t ticket, const Outcome& outcome, Time now) {
  const auto at = calls_.find(ticket);
  if (at == calls_.end()) return;
  const Call call = std::move(at->second);
  calls_.erase(at);
  bytes_ -= call.bytes;
  if (metrics_ != nullptr) count(call.verb, outcome);
  call.on_outcome(outcome, now);
}

void Calls::count(api::Verb verb, const Outcome& outcome) {
  const std::string_view method = http_method(verb);
  const int success = verb == api::Verb::Create ? 201 : 200;
  const int code = outcome ? success : http_code(outcome.error().reason);
  const auto [at, fresh] = counters_.try_emplace({method, code});
  if (fresh) at->second = request_counter(*metrics_, method, code, host_);
  at->second.add();
}

std::size_t bytes_of(const api::Json& json) {
  std::size_t bytes = sizeof(api::Json);
  if (json.is_string()) {
    bytes += json.get_string().size();
  } else if (json.is_array()) {
    for (const api::Json& element : json.get_array()) bytes += bytes_of(element);
  } else if (json.is_object()) {
    for (const auto& member : json.get_object())
      bytes += sizeof(member) - sizeof(api::Json) + member.key().size() + bytes_of(member.value());
  }
  return bytes;
}

std::optional<Duration> retry_delay(const Error& error, int tries, RetryOptions options) {
  int tries_max = 1;
  switch (error.reason) {
    case Reason::TooManyRequests:
    case Reason::ServiceUnavailable:
    case Reason::ServerTimeout: tries_max = kTriesBusyMax; break;
    case Reason::InternalError:
    case Reason::Timeout: tries_max = kTriesMax; break;
    case Reason::Conflict: tries_max = options.conflicts ? kTriesMax : 1; break;
    default: break;
  }
  if (tries >= tries_max) return std::nullopt;
  Duration delay = kFirstDelay;
  for (int i = 1; i < tries && delay < kDelayMax; ++i) delay *= 5;
  delay = std::min(delay, kDelayMax);
  return std::max<Duration>(delay,
                            std::chrono::seconds{std::min(error.retry_after_s, kRetryAfterMax)});
}

}  // namespace muster::client
