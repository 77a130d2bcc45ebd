#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/entropy.h"
#include "base/metrics.h"
#include "client/component.h"
#include "client/kit/feeds.h"
#include "components/components.h"
#include "scheduler/scheduler.h"
#include "server/core/read/reader.h"
#include "server/core/server.h"
#include "server/core/write/registry.h"
#include "server/loopback/loopback.h"
#include "sim/cluster_shape.h"
#include "sim/disturbed_feeds.h"
#include "sim/pretend_nodes.h"
#include "store/store.h"
#include "watch/window.h"
#include "workload/job.h"

namespace muster::sim {

// Steps one component: feeds it what it watches and the outcomes of its calls.
class Stepper {
 public:
  using Make = std::function<std::unique_ptr<client::Component>(client::ComponentContext context)>;
  // How its feeds are disturbed; both outlive the stepper.
  struct Feeds {
    const Disturbance& disturbance;
    Entropy& entropy;
  };
  Stepper(const server::Server& server, api::User user, Metrics& metrics, const Make& make,
          std::optional<Feeds> disturbed = std::nullopt);

  client::Component& component() { return *component_; }
  const client::Component& component() const { return *component_; }

  // One round; true if anything happened.
  bool step(Time now);
  // Only hands over what has happened; the component does no work of its own.
  bool deliver(Time now);
  // While its feeds are held, it gets the answers to its calls and nothing else.
  void hold_feeds(bool held) { feeds_held_ = held; }

 private:
  server::LoopbackClient client_;
  std::optional<DisturbedClient> disturbed_;
  std::deque<client::Called> outcomes_;
  const std::unique_ptr<client::Component> component_;
  client::Feeds feeds_;
  bool feeds_held_ = false;
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
    workload::JobOptions jobs = {};
    Disturbance controller_feeds = {};
    Disturbance scheduler_feeds = {};
    watch::Limits window = {};
  };
  explicit World(Options options);
  ~World();

  Time now() const { return now_; }
  // Runs until nothing is left to do at this moment.
  void run_until_idle();
  // Lets time pass, stopping at every deadline on the way.
  void advance(Duration duration);

  // While it is held, the scheduler learns what happens and decides nothing.
  void hold_scheduler(bool held) { held_ = held; }
  // Requests for which this gives an error fail with it, as if the server had refused them.
  using Fault = std::function<std::optional<Error>(const api::Request&)>;
  void set_fault(Fault fault) { fault_ = std::move(fault); }
  // A new scheduler in place of the old one: all it knows, it learns from the API. No call of the
  // old one may be under way, since nobody would get the answer: run_until_idle() first.
  void restart_scheduler();
  // New controllers in place of the old ones, at any moment: answers that are on their way are
  // lost.
  void restart_controllers();
  // The controllers see nothing new until they are let go.
  void hold_controller_feeds(bool held);
  void hold_scheduler_feeds(bool held) { scheduler_->hold_feeds(held); }
  // The feeds that the options disturb are calm from now on, or disturbed again.
  void calm_feeds(bool calm);
  // A new scheduler and new controllers with these features, as after a change of their flags. The
  // server keeps its own.
  void restart_components_with(const api::Gates& gates);
  // Drops the changes that watches could resume from, as maintenance does in the product.
  void forget_history();
  void add_nodes(const ClusterShape& shape);

  // Asks as an administrator; runs the world until the answer is there.
  Result<api::Answer> ask(api::Request request);
  // The object, or null.
  api::ObjectPtr get(const api::Kind& kind, std::string_view name_space,
                     std::string_view name) const;
  // The objects of a kind in one namespace, or everywhere.
  std::vector<api::ObjectPtr> list(const api::Kind& kind, std::string_view name_space = "");

  const store::Store& store() const { return *store_; }
  // What watches are fed from.
  const watch::Window& window() const { return window_; }
  const scheduler::Scheduler& scheduler() const;
  const Metrics& metrics() const { return metrics_; }

 private:
  std::unique_ptr<Stepper> make_stepper(const components::Entry& entry);
  std::optional<Time> next_deadline() const;

  Time now_;
  components::Settings settings_;
  // What the options say about feeds, and what is done at the moment.
  struct Disturbances {
    Disturbance controllers;
    Disturbance scheduler;
  };
  const Disturbances asked_disturbances_;
  Disturbances disturbances_;
  SeededEntropy entropy_;
  SeededEntropy feed_entropy_;  // of its own: late events must not change uids
  Metrics metrics_;
  std::unique_ptr<store::Store> store_;
  watch::Window window_;
  std::unique_ptr<server::Reader> reader_;
  std::unique_ptr<server::Registry> registry_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<server::LoopbackClient> admin_client_;
  std::unique_ptr<Stepper> nodes_;
  std::unique_ptr<Stepper> storage_;
  std::unique_ptr<Stepper> scheduler_;
  std::vector<std::unique_ptr<Stepper>> controllers_;  // the other components of the list
  bool submitted_ = false;
  bool held_ = false;
  Fault fault_;
};

}  // namespace muster::sim
