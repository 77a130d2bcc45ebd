#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/entropy.h"
#include "client/component.h"
#include "client/kit/calls.h"

namespace muster::client {

// Whether we lead, for every thread to ask.
class Leadership {
 public:
  // Nobody else can lead before `now` plus the five seconds between the renew deadline and the end
  // of the lease: what is sent now arrives in time.
  bool leads(Time now) const { return now < Time(Duration(until_.load())); }
  // It led, should have renewed or ended that long ago, and did neither: the election is stuck.
  bool is_overdue(Time now, Duration by) const {
    return until_ != 0 && !ended_ && now >= Time(Duration(until_.load())) + by;
  }
  // It led and does not any more, or gave it up. Final.
  bool ended() const { return ended_; }
  // Asks for a hand-over; `ended` follows.
  void give_up() { asked_to_end_ = true; }

 private:
  friend class LeaderElection;
  std::atomic<Duration::rep> until_ = 0;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> asked_to_end_ = false;
};

// Elects one leader among processes by a Lease, compatible with client-go, so that either may
// succeed the other: a record that did not change for its duration, by our own clock, may be taken
// over. Writes are updates of the revision that was read, so that only one of several wins; the
// role that Kubernetes has for schedulers allows updates of leases, not patches.
//
//   reading ──▶ taking ──▶ leading: renewed every retry period ──▶ ended
//      ▲  held   │ lost the race        not renewed for renew_deadline, taken by somebody, given up
//      └─────────┘
class LeaderElection final : public Component {
 public:
  struct Options {
    std::string name_space = "kube-system";
    std::string name;
    std::string identity;  // of this process: HOST_UUID
    Duration lease_duration = std::chrono::seconds{15};
    Duration renew_deadline = std::chrono::seconds{10};
    Duration retry_period = std::chrono::seconds{2};
  };

  // `on_lead` is called once, when it leads. The time it is driven by must only go forward.
  LeaderElection(Options options, ComponentContext context, Entropy& entropy,
                 std::shared_ptr<Leadership> leadership, std::function<void()> on_lead);

  void apply(Input input, Time now) override;
  std::size_t run_once(Time now, std::size_t limit) override;
  std::optional<Time> next_deadline() const override;
  std::vector<const api::Kind*> watched_kinds() const override { return {}; }

 private:
  enum class State : std::uint8_t { Seeking, Leading, Ended };

  void read(Time now);
  void on_read(const Outcome& outcome, Time now);
  void observe(const api::ObjectPtr& lease, Time now);
  void create(Time now);
  void acquire(Time now);
  void renew(Time now);
  void release();
  void on_written(const Outcome& outcome, Time sent, Time now);
  void end(std::string_view why);
  Time retry_time(Time now);
  api::Request request(api::Verb verb) const;
  api::Request update(const api::JsonObject& spec) const;

  const Options options_;
  Calls calls_;
  Entropy& entropy_;
  const std::shared_ptr<Leadership> leadership_;
  const std::function<void()> on_lead_;

  State state_ = State::Seeking;
  api::ObjectPtr lease_;  // as it was last seen
  Time observed_;         // when it last changed
  Time due_ = Time::min();
  Time renewed_;  // when the last renewal that succeeded was sent
  bool under_way_ = false;
  bool releasing_ = false;
};

}  // namespace muster::client
