#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/views/condition.h"
#include "client/kit/calls.h"

namespace muster::client {

// Writes conditions into the status of objects. For each condition (object and type) at most one
// call is under way and at most one version waits behind it, the newest. What the object already
// says is not written again. A condition may have a companion, which goes into the same call.
class StatusWriter {
 public:
  struct Options {
    std::size_t in_flight_max = 100;
  };

  StatusWriter(Options options, Calls& calls) : options_(options), calls_(calls) {}

  struct Companion {
    const api::Condition* current = nullptr;
    api::Condition wanted;  // without a status: it is removed
  };

  // `current` is this condition in `object`, null if it has none. observedGeneration is the
  // object's generation; lastTransitionTime changes with the status only. A condition once written
  // with a companion must always be written with one.
  void write(const api::ObjectPtr& object, const api::Condition* current, api::Condition wanted,
             Companion companion, Time now);
  void write(const api::ObjectPtr& object, const api::Condition* current, api::Condition wanted,
             Time now) {
    write(object, current, std::move(wanted), {}, now);
  }
  // Removes the condition if it has this reason, in the object or in what is about to be written.
  void withdraw(const api::ObjectPtr& object, std::string_view type, const api::Condition* current,
                std::string_view reason);
  // The watch showed a newer version: from now on `current` is trusted again.
  void observed(std::string_view uid);
  // The object is gone, or others write its conditions now: what waits is dropped.
  void forget(std::string_view uid);
  void run(Time now);

  std::optional<Time> next_deadline() const;
  // Conditions that are not written yet, or that the watch has not shown yet.
  std::size_t pending() const { return pending_; }

 private:
  // The wanted condition of one type.
  struct Statement {
    api::Condition wanted;                // without a status: none of this type
    std::optional<Time> transition = {};  // to write as lastTransitionTime
  };
  struct Record {
    api::ObjectPtr object;
    Statement main;
    Statement companion;        // without a type: none
    std::uint64_t version = 0;  // of `wanted`
    std::uint64_t sent = 0;     // version of the last call
    int tries = 0;
    bool in_flight = false;
    bool echoed = false;  // observed() while the call was under way
    bool forgotten = false;
    std::optional<Time> retry_at;
  };

  // Which condition of which object.
  struct Key {
    std::string uid;
    std::string type;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Records = std::map<std::string, Record, std::less<>>;  // by type; those of one object

  Record* find(const Key& key);
  Record& make(const Key& key);
  void drop(const Key& key);
  Records::iterator erase(Records& records, Records::iterator at);
  void queue(const Key& key, Record& record);
  void replace(const Key& key, Record& record, const api::ObjectPtr& object, api::Condition wanted,
               api::Condition companion);
  void send(const Key& key, Record& record);
  void finish(const Key& key, const Outcome& outcome, Time now);

  const Options options_;
  Calls& calls_;
  std::size_t in_flight_ = 0;
  std::size_t pending_ = 0;
  boost::unordered_flat_map<std::string, Records> records_;  // by uid; never iterated
  std::deque<Key> waiting_;  // in order; may name records that are gone
  std::set<std::pair<Time, Key>> retries_;
};

// {"metadata":{"uid":…},"status":{"conditions":[…]}}, a strategic merge patch. The uid makes it a
// conflict on another object of the same name. A condition without a status is deleted.
api::Json condition_patch(const api::Object& object, const api::Condition& condition,
                          std::optional<Time> transition);

}  // namespace muster::client
