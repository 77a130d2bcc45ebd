#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/entropy.h"
#include "client/client.h"

namespace muster::sim {

// How feeds treat those who read them. Within one kind events keep their order, as a watch
// promises; between kinds nothing is promised, so each feed is late on its own.
struct Disturbance {
  unsigned late = 0;    // one of so many polls brings nothing; 0: none does
  unsigned single = 0;  // one of so many brings one event and keeps the others back
  unsigned twice = 0;   // one of so many events comes twice
};

// A client whose feeds are late, slow and repeat themselves; its calls are those of the client it
// stands before.
class DisturbedClient final : public client::Client {
 public:
  // Both outlive it. The disturbance may change at any time; a calm one hands over everything.
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
