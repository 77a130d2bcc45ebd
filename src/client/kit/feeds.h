#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "client/client.h"
#include "client/component.h"

namespace muster::client {

// The feeds of one component: what its driver polls.
class Feeds {
 public:
  // `wake` is called, from any thread, when poll() may have something.
  Feeds(Client& client, const Component& component, const std::function<void()>& wake) {
    for (const api::Kind* kind : component.watched_kinds())
      feeds_.push_back(client.watch(*kind, wake));
  }

  struct Round {
    bool applied = false;  // something was handed to the component
    bool more = false;     // there is more right now
  };
  // Hands up to `events_max` events of each kind to the component, and Synced once when all kinds
  // have handed over what existed at the start.
  Round poll(Component& component, Time now, std::size_t events_max) {
    Round round;
    bool all_synced = true;
    for (const auto& feed : feeds_) {
      events_.clear();
      const Feed::Poll poll = feed->poll(events_, events_max);
      for (Event& event : events_) component.apply(std::move(event), now);
      round.applied |= !events_.empty();
      round.more |= poll.more;
      all_synced &= poll.synced;
    }
    if (all_synced && !synced_) {
      synced_ = true;
      component.apply(Synced{}, now);
      round.applied = true;
    }
    return round;
  }

 private:
  std::vector<std::unique_ptr<Feed>> feeds_;
  std::vector<Event> events_;
  bool synced_ = false;
};

}  // namespace muster::client
