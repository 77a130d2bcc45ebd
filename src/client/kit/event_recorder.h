#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/kit/calls.h"
#include "client/kit/recently_used.h"

namespace muster::client {

// What happened to an object, in upstream's words.
struct EventNote {
  std::string type;    // Normal, Warning
  std::string reason;  // FailedScheduling
  std::string action;  // Scheduling
  std::string message;
  // Who says it; empty: the recorder's own component and instance.
  std::string component = {};
  std::string instance = {};
};

// Tells users what happened to an object, as core/v1 Events. Best effort: repeats are counted in
// one Event, events that differ only in their message share one after the first few, objects with
// too many events are silenced, and what does not fit the queue is dropped.
class EventRecorder {
 public:
  struct Options {
    std::string component = "default-scheduler";
    std::string instance = "default-scheduler";
    std::size_t in_flight_max = 1000;
    std::size_t queue_max = 1000;
    std::size_t remembered_max =
        4096;  // events whose repeats are counted, objects that are silenced
    // This many messages about one matter get events of their own; those that follow within
    // `similar_within` of each other share one, which shows the last of them.
    std::size_t messages_max = 9;
    Duration similar_within = std::chrono::minutes{10};
    // An object may have `burst` events of a type at once and one more per `refill`.
    int burst = 25;
    Duration refill = std::chrono::seconds{300};
    // Events that were not repeated for this long are forgotten: the server has let them expire.
    Duration repeats_within = std::chrono::hours{1};
  };

  EventRecorder(Options options, Calls& calls);

  void record(const api::Object& about, EventNote note, Time now);
  void run(Time now);

  std::optional<Time> next_deadline() const;
  std::uint64_t dropped() const { return dropped_; }
  // Events, matters and objects it remembers, to count repeats, to combine similar events and to
  // silence objects with too many.
  std::size_t remembered() const { return seen_.size() + similar_.size() + silence_.size(); }

 private:
  // Events about one object that differ at most in their messages.
  struct Similar {
    std::vector<std::size_t> messages;  // hashes of those that have events of their own
    Time last;
  };
  // The object that an event is about.
  struct Regarding {
    const api::Kind* kind = nullptr;
    std::string name_space, name, uid;
    api::Revision revision;
  };
  // One Event object and how much of it the server knows.
  struct Sighting {
    EventNote note;
    Regarding regarding;
    std::string name;
    Time first, last;
    std::int64_t count = 0;
    std::int64_t written = 0;  // count the server has; 0: not created
    int tries = 0;
    bool combined = false;  // of several messages
    bool busy = false;      // queued, waiting to be retried, or under way
  };
  using SightingPtr = std::shared_ptr<Sighting>;

  bool may_speak(const api::Object& about, std::string_view type, Time now);
  bool must_combine(std::uint64_t matter, std::string_view message, Time now);
  void send(const SightingPtr& sighting);
  void finish(const SightingPtr& sighting, std::int64_t sent, const Outcome& outcome, Time now);
  static api::Json reference_to(const Regarding& object);
  static std::string_view name_space_of(const Sighting& sighting);
  std::string name_for(std::string_view object, Time now);
  api::Json body(const Sighting& sighting) const;

  const Options options_;
  Calls& calls_;
  std::uint64_t counter_ = 0;  // makes names unique
  std::uint64_t dropped_ = 0;
  std::size_t in_flight_ = 0;
  // By hashes of what they are about: there are thousands, and the texts are longer than the rest.
  RecentlyUsed<SightingPtr> seen_;
  RecentlyUsed<Similar> similar_;
  RecentlyUsed<Time> silence_;  // by object and type: when its allowance is full again
  std::deque<SightingPtr> waiting_;
  std::map<std::pair<Time, std::uint64_t>, SightingPtr> retries_;
};

// At most 1024 bytes: longer ones end in " ..." after whole characters.
std::string cut_message(std::string message);

}  // namespace muster::client
