#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <optional>

#include "base/error.h"
#include "base/time.h"
#include "client/component.h"

namespace muster::client {

// The calls under way: gives each a ticket and finds who asked for it when the outcome comes.
class Calls {
 public:
  using Done = std::function<void(const Outcome& outcome, Time now)>;

  explicit Calls(Send send) : send_(std::move(send)) {}

  void send(api::Request request, Done done);
  // Hands an outcome to whoever asked. Unknown tickets are ignored: a recording may be cut
  // anywhere.
  void complete(std::uint64_t ticket, const Outcome& outcome, Time now);

 private:
  Send send_;
  std::uint64_t last_ticket_ = 0;
  boost::unordered_flat_map<std::uint64_t, Done> calls_;  // never iterated
};

// How long to wait before a call that failed with `error` is made again, if at all; `tries` were
// made so far. A busy server is asked ten times, one that failed four times, as upstream's clients
// do.
struct RetryOptions {
  bool conflicts =
      false;  // a patch may win the next race; a binding that conflicts has lost for good
};
std::optional<Duration> retry_delay(const Error& error, int tries, RetryOptions options);

}  // namespace muster::client
