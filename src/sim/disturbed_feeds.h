#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/entropy.h"
#include "client/client.h"

namespace muster::sim {

// What feeds may do to a component without breaking their promise, each once
// in this many times; 0: never. Each kind has a feed of its own, so a late
// one lets the events of others overtake its own. Within one kind, changes of
// one object keep their order; a gap does not keep the order of different
// objects.
struct Disturbance {
  unsigned late = 0;    // a poll starts a silence of a few polls
  unsigned single = 0;  // a poll hands over one event and keeps the rest for later
  unsigned twice =
      0;  // an event is followed by a state handed over before, the newest of its object
  unsigned gaps = 0;  // a silence ends with the differences alone, in the order of names

  friend bool operator==(const Disturbance&, const Disturbance&) = default;
};

// Passes everything on to another client. Its feeds follow `disturbance`, which may change at any
// time.
class DisturbedClient final : public client::Client {
 public:
  // All three outlive it and its feeds.
  DisturbedClient(client::Client& inner, const Disturbance& disturbance, Entropy& entropy)
      : inner_(inner), disturbance_(disturbance), entropy_(entropy) {}

  void send(api::Request request, client::Done done) override {
    inner_.send(std::move(request), std::move(done));
  }
  std::unique_ptr<client::Feed> watch(const api::Kind& kind, std::function<void()> wake) override;

 private:
  client::Client& inner_;
  const Disturbance& disturbance_;
  Entropy& entropy_;
};

}  // namespace muster::sim
