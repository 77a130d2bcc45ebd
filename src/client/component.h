#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "base/time.h"
#include "client/client.h"

// What a component is to whoever drives it: app/ gives it a thread, sim/ steps it under virtual
// time.
namespace muster::client {

// The outcome of a call the component made, under the ticket it chose.
struct Called {
  std::uint64_t ticket;
  Outcome outcome;
};

// The initial objects of all watched kinds have been told.
struct Synced {};

// Everything a component can be told. Recording a run means writing these down, with their times.
using Input = std::variant<Event, Called, Synced>;

// Sends a request; its outcome comes back as Called{ticket}. Handed to the component by its driver.
using Send = std::function<void(api::Request request, std::uint64_t ticket)>;

// A deterministic state machine: no clock, no thread, no blocking, no randomness of its own.
template <typename T>
concept Component =
    requires(T component, const T& reader, Input input, Time now, std::size_t limit) {
      component.apply(std::move(input), now);
      // Does at most `limit` pieces of work; returns how many it did. 0: nothing to do right now.
      { component.run_once(now, limit) } -> std::convertible_to<std::size_t>;
      // When run_once has something to do next if no input comes; nullopt: only on input.
      { reader.next_deadline() } -> std::convertible_to<std::optional<Time>>;
      { T::watched_kinds() } -> std::convertible_to<std::vector<const api::Kind*>>;
    };

}  // namespace muster::client
