#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/component.h"

namespace muster::client {

// Asked after each input that a component was given: true leaves the others for the next round. One
// input may take a component long, so a driver that counted inputs would promise nothing about
// time.
using Stop = std::function<bool()>;

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
  // have handed over what existed at the start. If it is stopped, the next call goes on with the
  // event that comes next, then with the kinds that have not had their turn: a kind with many
  // events delays the others by `events_max` of its own.
  Round poll(Component& component, Time now, std::size_t events_max, const Stop& stop = never()) {
    Round round;
    for (; at_ < feeds_.size(); ++at_, taken_.reset()) {
      if (!taken_) take(events_max);
      while (next_ < events_.size()) {
        component.apply(std::move(events_[next_++]), now);
        round.applied = true;
        if (stop()) return {.applied = true, .more = true};
      }
      turn_.more |= taken_->more;
      turn_.synced &= taken_->synced;
    }
    const Feed::Poll turn = std::exchange(turn_, kTurn);
    at_ = 0;
    if (turn.synced && !std::exchange(synced_, true)) {
      component.apply(Synced{}, now);
      round.applied = true;
    }
    round.more = turn.more;
    return round;
  }

 private:
  static constexpr Feed::Poll kTurn{.synced = true, .more = false};

  static const Stop& never() {
    static const Stop kNever = [] { return false; };
    return kNever;
  }
  void take(std::size_t events_max) {
    events_.clear();
    next_ = 0;
    taken_ = feeds_[at_]->poll(events_, events_max);
  }

  std::vector<std::unique_ptr<Feed>> feeds_;
  // The turn under way: each feed is asked once, in their order.
  std::size_t at_ = 0;               // the feed whose events are applied
  std::optional<Feed::Poll> taken_;  // what it said when it was asked; nullopt: not yet
  std::vector<Event> events_;        // what it handed over
  std::size_t next_ = 0;             // the first of them that is not applied
  Feed::Poll turn_ = kTurn;          // what all said that had theirs
  bool synced_ = false;
};

// Gives a component outcomes of its calls, in order, those that were there at the beginning. True
// if some are left.
inline bool deliver(std::deque<Called>& outcomes, Component& component, Time now,
                    const Stop& stop) {
  for (std::size_t left = outcomes.size(); left > 0; --left) {
    Called called = std::move(outcomes.front());
    outcomes.pop_front();
    component.apply(std::move(called), now);
    if (stop()) break;
  }
  return !outcomes.empty();
}

}  // namespace muster::client
