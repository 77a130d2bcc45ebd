#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/entropy.h"
#include "client/component.h"
#include "controllers/composite_protection.h"
#include "controllers/disruption.h"
#include "controllers/garbage_collector.h"
#include "controllers/namespace_defaults.h"
#include "controllers/pod_garbage.h"
#include "controllers/podgroup_protection.h"
#include "controllers/role_aggregation.h"
#include "scheduler/scheduler.h"
#include "server/core/read/reader.h"
#include "server/core/server.h"
#include "server/core/write/registry.h"
#include "server/loopback/loopback.h"
#include "sim/cluster_shape.h"
#include "sim/pretend_nodes.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::sim {

// Steps one component: feeds it what it watches, brings back the outcomes of its calls.
template <client::Component T>
class Stepper {
 public:
  // `make` builds the component around the Send it is given.
  Stepper(client::Client& client, const std::function<std::unique_ptr<T>(client::Send)>& make)
      : client_(client) {
    component_ = make([this](api::Request request, std::uint64_t ticket) {
      client_.send(std::move(request), [this, ticket](client::Outcome outcome) {
        outcomes_.push_back({ticket, std::move(outcome)});
      });
    });
    for (const api::Kind* kind : T::watched_kinds()) feeds_.push_back(client.watch(*kind, [] {}));
  }

  T& component() { return *component_; }
  const T& component() const { return *component_; }

  // One round; true if anything happened.
  bool step(Time now) {
    const bool moved = take_in(now);
    return component_->run_once(now, kWorkPerStep) > 0 || moved;
  }

  // Only tells the component what has happened; it does no work of its own.
  bool take_in(Time now) {
    bool moved = take_in_events(now);
    while (!outcomes_.empty()) {
      component_->apply(std::move(outcomes_.front()), now);
      outcomes_.pop_front();
      moved = true;
    }
    return moved;
  }

 private:
  static constexpr std::size_t kEventsPerPoll = 1000;
  static constexpr std::size_t kWorkPerStep = 100;

  bool take_in_events(Time now) {
    bool moved = false;
    bool all_synced = true;
    std::vector<client::Event> events;
    for (const auto& feed : feeds_) {
      client::Feed::Poll poll;
      do {
        events.clear();
        poll = feed->poll(events, kEventsPerPoll);
        for (client::Event& event : events) component_->apply(std::move(event), now);
        moved |= !events.empty();
      } while (poll.more);
      all_synced &= poll.synced;
    }
    if (all_synced && !synced_) {
      synced_ = true;
      component_->apply(client::Synced{}, now);
      moved = true;
    }
    return moved;
  }

  client::Client& client_;
  std::unique_ptr<T> component_;
  std::vector<std::unique_ptr<client::Feed>> feeds_;
  std::deque<client::Called> outcomes_;
  bool synced_ = false;
};

// The whole control plane in one loop under virtual time: server core, memory store, scheduler,
// pretend nodes. It is the product itself, not a model of it; same options and same requests, same
// history.
class World {
 public:
  struct Options {
    ClusterShape shape;
    std::uint64_t seed = 1;
    Time start = Time{std::chrono::seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z
    scheduler::SchedulerOptions scheduler = {.group_bindings = true};
  };
  explicit World(Options options);
  ~World();

  Time now() const { return now_; }
  // Runs until nothing is left to do at this moment.
  void settle();
  // Lets time pass, stopping at every deadline on the way.
  void advance(Duration duration);

  // While it is held, the scheduler takes in what happens and decides nothing.
  void hold_scheduler(bool held) { held_ = held; }
  // Requests for which this gives an error fail with it, as if the server had refused them.
  using Fault = std::function<std::optional<Error>(const api::Request&)>;
  void set_fault(Fault fault) { fault_ = std::move(fault); }
  // A new scheduler in place of the old one: all it knows, it learns from the API. While a call of
  // the old one is under way its answer would find nobody, so settle() first.
  void restart_scheduler();
  void add_nodes(const ClusterShape& shape) { nodes_->component().add(shape); }

  // Asks as an administrator; runs the world until the answer is there.
  Result<api::Answer> ask(api::Request request);
  // The object, or null.
  api::ObjectPtr get(const api::Kind& kind, std::string_view name_space,
                     std::string_view name) const;

  const store::Store& store() const { return *store_; }
  const scheduler::Scheduler& scheduler() const;

 private:
  std::optional<Time> next_deadline() const;

  Time now_;
  const scheduler::SchedulerOptions scheduler_options_;
  SeededEntropy entropy_;
  std::unique_ptr<store::Store> store_;
  watch::Window window_;
  std::unique_ptr<server::Reader> reader_;
  std::unique_ptr<server::Registry> registry_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<server::LoopbackClient> scheduler_client_;
  std::unique_ptr<server::LoopbackClient> nodes_client_;
  std::unique_ptr<server::LoopbackClient> admin_client_;
  std::unique_ptr<Stepper<scheduler::Scheduler>> scheduler_;
  std::unique_ptr<Stepper<PretendNodes>> nodes_;
  std::unique_ptr<server::LoopbackClient> controllers_client_;
  std::unique_ptr<Stepper<controllers::PodGroupProtection>> pod_group_protection_;
  std::unique_ptr<Stepper<controllers::CompositeProtection>> composite_protection_;
  std::unique_ptr<Stepper<controllers::GarbageCollector>> garbage_collector_;
  std::unique_ptr<Stepper<controllers::NamespaceDefaults>> namespace_defaults_;
  std::unique_ptr<Stepper<controllers::Disruption>> disruption_;
  std::unique_ptr<Stepper<controllers::PodGarbage>> pod_garbage_;
  std::unique_ptr<server::LoopbackClient> aggregation_client_;
  std::unique_ptr<Stepper<controllers::RoleAggregation>> role_aggregation_;
  bool submitted_ = false;
  bool held_ = false;
  Fault fault_;
};

}  // namespace muster::sim
