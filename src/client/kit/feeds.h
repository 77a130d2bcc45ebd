#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/component.h"

namespace muster::client {

// Asked after each input that a component was given: true leaves the others for the next round. A
// single input may take a component long, so a limit on the number of inputs would not bound the
// time.
using Stop = std::function<bool()>;

// The feeds of one component: what its driver polls.
class Feeds {
 public:
  // `wake` is called, from any thread, when poll() may have something.
  Feeds(Client& client, const Component& component, const std::function<void()>& wake) {
    for (const api::Kind* kind : component.watched_kinds())
      sources_.push_back({.feed = client.watch(*kind, wake)});
  }

  struct Round {
    bool applied = false;  // something was handed to the component
    bool more = false;     // there is more right now
  };
  // Hands up to `events_max` events of each kind to the component, and Synced once when all kinds
  // have handed over what existed at the start. If it is stopped, the next call begins with the
  // next kind: one with events without end delays the others by one round of its own, and its own
  // stay in order. Without a stop every call begins with the same kind.
  Round poll(Component& component, Time now, std::size_t events_max, const Stop& stop = never()) {
    Round round;
    bool all_synced = true;
    for (std::size_t left = sources_.size(); left > 0; --left) {
      Source& source = sources_[at_];
      at_ = (at_ + 1) % sources_.size();
      // What is left of the last time; then what has come since, or a wake would be lost.
      for (const bool fresh : {false, true}) {
        if (fresh) source.pop(events_max);
        while (source.next < source.events.size()) {
          component.apply(std::move(source.events[source.next++]), now);
          round.applied = true;
          if (stop()) return {.applied = true, .more = true};
        }
      }
      round.more |= source.said.more;
      all_synced &= source.said.synced;
    }
    if (all_synced && !synced_) {
      synced_ = true;
      component.apply(Synced{}, now);
      round.applied = true;
    }
    return round;
  }

 private:
  struct Source {
    std::unique_ptr<Feed> feed;
    std::vector<Event> events = {};  // that it handed over last
    std::size_t next = 0;            // the first of them that is not applied
    Feed::Poll said = {};            // about them

    void pop(std::size_t events_max) {
      events.clear();
      next = 0;
      said = feed->poll(events, events_max);
    }
  };

  static const Stop& never() {
    static const Stop kNever = [] { return false; };
    return kNever;
  }

  std::vector<Source> sources_;
  std::size_t at_ = 0;  // the kind that has the next turn
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
