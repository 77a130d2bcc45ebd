#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "client/component.h"
#include "scheduler/scheduler_options.h"

namespace muster::scheduler {

// The scheduler as a deterministic component: events come in through apply(), decisions go out
// through the client. It owns no thread and reads no clock; app/ gives it a thread, sim/ steps
// it.
//
//   watch ──▶ intake ──▶ model, queue ──run_once──▶ attempt ──▶ plan ──▶ commit ──▶ API
//                           ▲                                            │    │
//                           └────────── refused: rests, backs off ───────┘    └──▶ report
class Scheduler final : public client::Component {
 public:
  using Called = client::Called;
  using Synced = client::Synced;
  using Input = client::Input;
  using Send = client::Send;

  // `send` must not call back into the scheduler: outcomes come later, through apply().
  Scheduler(SchedulerOptions options, Send send);
  ~Scheduler() override;

  // An event of a watched kind, or the outcome of a call it made.
  void apply(Input input, Time now) override;
  // Makes at most `attempts_max` attempts and returns how many it made; 0 means nothing is
  // runnable.
  std::size_t run_once(Time now, std::size_t attempts_max) override;
  // When run_once has something to do next if no input comes; nullopt: only on input.
  std::optional<Time> next_deadline() const override;

  // Kinds whose feeds must be applied: pods, nodes and, where the API has them, groups and
  // Workloads.
  std::vector<const api::Kind*> watched_kinds() const override;

  // Counters, for tests, metrics and the console.
  struct Numbers {
    // Attempts at an entity; of pods: bindings accepted, refusals, errors.
    std::uint64_t attempts = 0, scheduled = 0, unschedulable = 0, errors = 0;
    // Entities that wait: a lone pod or a whole group tree each.
    std::size_t active = 0, backoff = 0, unschedulable_now = 0, gated = 0;
    std::size_t incomplete = 0;  // pods whose group, or an ancestor of it, is missing
    std::size_t binding = 0;  // pods with a node in our books that the server has not accepted yet
  };
  Numbers numbers() const;

  // For tests and simulations, while no binding is under way: how our books differ from these nodes
  // and pods, which are all there are; empty if they do not.
  std::string audit(std::span<const api::ObjectPtr> nodes,
                    std::span<const api::ObjectPtr> pods) const;

 private:
  void update_metrics(Time now);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muster::scheduler
