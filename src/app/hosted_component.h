#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "app/component_thread.h"
#include "base/time.h"
#include "client/component.h"
#include "client/kit/feeds.h"
#include "client/remote/remote_client.h"

namespace muster::app {

// A component that lives, alone, on the thread of the client it uses: input is applied, decided and
// answered in one turn of that thread. A thread of its own would cost two
// wake-ups for each turn.
class HostedComponent {
 public:
  // `client` leads to `host`, which must have stopped before this is destroyed.
  HostedComponent(client::RemoteClient& host, client::Client& client,
                  const ComponentThread::Surroundings& surroundings,
                  const ComponentThread::Make& make)
      : clock_(surroundings.clock),
        component_(make(
            {.send = sender(client),
             .metrics = &surroundings.metrics,
             .host = surroundings.host,
             .stopwatch = [] { return std::chrono::steady_clock::now().time_since_epoch(); }})),
        feeds_(client, *component_, [&host] { host.nudge(); }) {
    host.host([this] { return round(); });
  }
  HostedComponent(const HostedComponent&) = delete;
  HostedComponent& operator=(const HostedComponent&) = delete;

 private:
  client::Send sender(client::Client& client) {
    return [this, &client](api::Request request, std::uint64_t ticket) {
      client.send(std::move(request), [this, ticket](client::Outcome outcome) {
        outcomes_.push_back({ticket, std::move(outcome)});
      });
    };
  }

  // Applies the input since the last round and does the work, as far as a short time allows for
  // each; returns when the next is due.
  Time round() {
    Time now = clock_.now();
    bool more = client::deliver(outcomes_, *component_, now, until_late(now));
    now = clock_.now();
    more |= feeds_.poll(*component_, now, ComponentThread::kEventsPerPoll, until_late(now)).more;
    now = clock_.now();
    if (work(now) || more || !outcomes_.empty()) return now;
    const Time latest = now + ComponentThread::kIdle;
    return std::min(component_->next_deadline().value_or(latest), latest);
  }

  // False if all is done. Steps are asked for one by one: one may take long, and others use the
  // thread, too.
  bool work(Time now) {
    const client::Stop late = until_late(now);
    for (std::size_t done = 0; done < ComponentThread::kWorkPerRound; ++done) {
      if (done > 0 && late()) return true;
      if (component_->run_once(now, 1) == 0) return false;
    }
    return true;
  }

  client::Stop until_late(Time since) const {
    return [this, since] { return clock_.now() - since >= ComponentThread::kRound; };
  }

  const Clock& clock_;
  std::deque<client::Called> outcomes_;  // on the client's thread, as all that follows
  const std::unique_ptr<client::Component> component_;
  client::Feeds feeds_;
};

}  // namespace muster::app
