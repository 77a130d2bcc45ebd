#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/metrics.h"
#include "base/time.h"
#include "client/component.h"

namespace muster::client {

// The calls of a component that are under way: gives each a ticket, and hands the outcome to the
// caller.
class Calls {
 public:
  using OnOutcome = std::function<void(const Outcome& outcome, Time now)>;

  // `metrics` may be null. They count as rest_client_requests_total of this host.
  explicit Calls(Send send, Metrics* metrics = nullptr, std::string host = "loopback")
      : send_(std::move(send)), metrics_(metrics), host_(std::move(host)) {}

  void send(api::Request request, OnOutcome on_outcome);
  // Outcomes of unknown tickets are ignored: a recording may be cut anywhere.
  void complete(std::uint64_t ticket, const Outcome& outcome, Time now);
  std::size_t under_way() const { return calls_.size(); }
  std::size_t bytes_under_way() const { return bytes_; }  // of the bodies of their requests

 private:
  struct Call {
    OnOutcome on_outcome;
    api::Verb verb;
    std::size_t bytes;
  };

  void count(api::Verb verb, const Outcome& outcome);

  Send send_;
  Metrics* const metrics_;
  const std::string host_;
  std::map<std::pair<std::string_view, int>, Counter> counters_;  // by method and code
  std::uint64_t last_ticket_ = 0;
  boost::unordered_flat_map<std::uint64_t, Call> calls_;  // by ticket; never iterated
  std::size_t bytes_ = 0;                                 // of all of them
};

// The memory a document takes, roughly.
std::size_t bytes_of(const api::Json& json);

// How long to wait before a call that failed with `error` is made again, if at all; `tries` were
// made so far. A busy server is asked ten times, one that failed four times, as upstream's clients
// do.
struct RetryOptions {
  bool conflicts =
      false;  // a patch may win the next race; a binding that conflicts has lost for good
};
std::optional<Duration> retry_delay(const Error& error, int tries, RetryOptions options);

}  // namespace muster::client
