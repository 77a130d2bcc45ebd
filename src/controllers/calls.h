#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "client/component.h"

namespace muster::controllers {

// The calls of a controller that are under way, each with what it is about.
template <typename What>
class Calls {
 public:
  explicit Calls(client::Send send) : send_(std::move(send)) {}

  // The outcome may come before this returns.
  void send(api::Request request, What what) {
    const std::uint64_t ticket = next_ticket_++;
    under_way_.emplace(ticket, std::move(what));
    send_(std::move(request), ticket);
  }

  // What the call that came back was about; nullopt if it is none of ours.
  std::optional<What> take(const client::Called& called) {
    auto found = under_way_.extract(called.ticket);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
  }

 private:
  client::Send send_;
  std::uint64_t next_ticket_ = 1;
  std::map<std::uint64_t, What> under_way_;  // by ticket
};

}  // namespace muster::controllers
