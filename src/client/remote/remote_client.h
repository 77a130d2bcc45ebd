#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/entropy.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "client/https/exchange.h"
#include "client/kubeconfig.h"
#include "client/remote/rate_limit.h"
#include "client/remote/served_kinds.h"

namespace muster::client {

struct RemoteOptions {
  HttpsOptions https = {};
  // Upstream's scheduler asks no more than this; events have a bucket of their own.
  RateLimit::Options rate = {.per_second = 50, .burst = 100};
  std::size_t in_flight_max = 200;  // calls; watches are not counted
  // Asked before a write is sent, and before anything is written to a connection, on the client's
  // thread; false: writes fail, also those that wait for a connection or for room on one. Empty:
  // always.
  std::function<bool()> may_write = {};
  // Where lists and watches count, with the server as their host; calls count with who makes them.
  // May be null.
  Metrics* metrics = nullptr;
  // What feeds keep of objects, and how (Reflector::Target); on the client's thread.
  Projection project = {};
  Maker make = {};
};

// A Kubernetes API server as components see it. One thread carries all calls and watches; a kind
// is followed once, however many components watch it. Objects have the shape of our newest
// versions, whichever the server serves; kinds it does not serve are empty.
class RemoteClient final : public Client {
 public:
  // `entropy` is used by the client's thread alone, for jitter. Both must outlive the client.
  static Result<std::unique_ptr<RemoteClient>> start(Kubeconfig config, ServedKinds served,
                                                     RemoteOptions options, Entropy& entropy,
                                                     const Clock& clock);
  ~RemoteClient() override;
  RemoteClient(const RemoteClient&) = delete;
  RemoteClient& operator=(const RemoteClient&) = delete;

  void send(api::Request request, Done done) override;
  std::unique_ptr<Feed> watch(const api::Kind& kind, std::function<void()> wake) override;

  // Calls `round` on the client's thread after everything that arrives, and at the time that it
  // returns: a component on that thread needs no hand-over between threads, and what it asks for in
  // a round is sent with the same write. Call host() once. `round` must outlive the thread
  // (stop()).
  void host(std::function<std::optional<Time>()> round);
  // Any thread: a round is due.
  void nudge();

  // What keeps feeds from being complete: "pods: pods is forbidden: …", in the order they were
  // opened. For humans; any thread.
  std::vector<std::string> troubles() const;
  // A kind that is followed and was served at the start, but that the server has reported as
  // unknown for half a minute: "podgroups.scheduling.k8s.io/v1alpha2"; empty if there is none. Any
  // thread.
  std::string vanished() const;
  // Kinds that somebody follows and the server did not serve at the start: their feeds stay empty.
  // Any thread.
  std::vector<const api::Kind*> absent() const;
  // When the thread last ran; seconds ago at most if it is healthy. Any thread.
  Time last_turn() const;

  // Calls that are not sent yet fail, those under way may end; true if all have by then.
  bool drain(Duration patience);
  // Ends the thread; what is under way fails. There are no outcomes or wakes after this.
  void stop();

 private:
  struct State;
  explicit RemoteClient(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace muster::client
