#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/metrics.h"
#include "base/time.h"
#include "client/client.h"

// A component as its driver sees it: app/ gives it a thread, sim/ steps it under virtual time.
namespace muster::client {

// The outcome of a call the component made, under the ticket it chose.
struct Called {
  std::uint64_t ticket;
  Outcome outcome;
};

// The initial objects of all watched kinds have been handed over.
struct Synced {};

// Everything that can reach a component. Recording a run means writing these down, with their
// times.
using Input = std::variant<Event, Called, Synced>;

// Sends a request; its outcome comes back as Called{ticket}. Handed to the component by its driver.
using Send = std::function<void(api::Request request, std::uint64_t ticket)>;

// What a driver hands to the component it makes.
struct ComponentContext {
  Send send;
  // Where its metrics go; null: nowhere. Outlives the component.
  Metrics* metrics = nullptr;
  // The server that answers its requests, in metrics.
  std::string host = "loopback";
  // Time that only goes forward, for durations in metrics. Decisions must not depend on it; empty:
  // durations are not measured.
  std::function<std::chrono::nanoseconds()> stopwatch = {};
};

// A deterministic state machine: no clock, no thread, no blocking, no randomness of its own.
class Component {
 public:
  Component() = default;
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;
  virtual ~Component() = default;

  virtual void apply(Input input, Time now) = 0;
  // Does at most `limit` pieces of work; returns how many it did. 0: nothing to do right now.
  virtual std::size_t run_once(Time now, std::size_t limit) = 0;
  // When run_once has something to do next if no input comes; nullopt: only on input.
  virtual std::optional<Time> next_deadline() const = 0;
  // Kinds whose feeds must be applied; the same during its whole life.
  virtual std::vector<const api::Kind*> watched_kinds() const = 0;
};

}  // namespace muster::client
