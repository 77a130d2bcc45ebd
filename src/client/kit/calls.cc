#include "client/kit/calls.h"

#include <algorithm>
#include <utility>

namespace muster::client {

namespace {

constexpr int kTriesMax = 4;
constexpr int kTriesBusyMax = 10;
constexpr Duration kFirstDelay = std::chrono::milliseconds{10};
constexpr Duration kDelayMax = std::chrono::seconds{10};

}  // namespace

void Calls::send(api::Request request, Done done) {
  const std::uint64_t ticket = ++last_ticket_;
  calls_.emplace(ticket, std::move(done));
  send_(std::move(request), ticket);
}

void Calls::complete(std::uint64_t ticket, const Outcome& outcome, Time now) {
  const auto at = calls_.find(ticket);
  if (at == calls_.end()) return;
  const Done done = std::move(at->second);
  calls_.erase(at);
  done(outcome, now);
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
  return std::max<Duration>(delay, std::chrono::seconds{error.retry_after_s});
}

}  // namespace muster::client
