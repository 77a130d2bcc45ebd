#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "base/entropy.h"
#include "sim/world.h"

// A world whose controllers are interrupted, to show that they come to the same end.
namespace muster::sim {

inline api::Json parsed(std::string_view text) {
  Result<api::ParsedJson> json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  return std::move(json->value);
}

// What a run does to the controllers.
struct Trouble {
  int crash_at = -1;         // restart after so many writes
  int crash_every = 0;       // and again after so many each
  int refuse_from = -1;      // after so many writes the server is away,
  Duration refuse_for = {};  // so long
  unsigned flaky = 0;        // one of so many calls conflicts
  unsigned late = 0;         // in one of so many moments the feeds stand still
  Disturbance feeds = {};    // of the controllers
  // After so many seconds the components are restarted without this feature, and with it again
  // after as many more; 0: never.
  int gate_off_after = 0;
  api::Gate gate = api::Gate::WorkloadWithJob;
};

class FaultyWorld {
 public:
  FaultyWorld(const Trouble& trouble, std::uint64_t seed, World::Options options)
      : trouble_(trouble), gates_(options.scheduler.gates), entropy_(seed), world_([&] {
          options.controller_feeds = trouble.feeds;
          return std::move(options);
        }()) {
    world_.run_until_idle();
    world_.set_fault([this](const api::Request& request) { return fault(request); });
  }

  virtual ~FaultyWorld() = default;
  FaultyWorld(const FaultyWorld&) = delete;
  FaultyWorld& operator=(const FaultyWorld&) = delete;

  World& world() { return world_; }
  // In the namespace "default".
  void create(const api::Kind& kind, std::string_view document) {
    const auto made = world_.ask(client::create_request(kind, "default", parsed(document)));
    ASSERT_TRUE(made) << made.error().message;
  }
  void patch(const api::Kind& kind, std::string_view name, std::string_view merge) {
    const auto made = world_.ask(
        client::patch_request(kind, "default", name, "", api::PatchType::Merge, parsed(merge)));
    ASSERT_TRUE(made) << made.error().message;
  }
  // Feeds are disturbed on the way; at the end everybody has seen everything.
  void advance(Duration duration) {
    world_.calm_feeds(false);
    for (Duration left = duration; left > Duration{0}; left -= std::chrono::seconds{1}) {
      if (trouble_.late > 0) world_.hold_controller_feeds(entropy_.below(trouble_.late) == 0);
      world_.advance(std::chrono::seconds{1});
      on_second();
      change_gates();
      if (!dead_) continue;
      world_.restart_controllers();
      dead_ = false;
    }
    world_.hold_controller_feeds(false);
    world_.calm_feeds(true);
    world_.advance(Duration{0});
  }
  std::vector<api::ObjectPtr> all(const api::Kind& kind) { return world_.list(kind, "default"); }
  // From now on the server refuses such requests of the controllers; null: none.
  void refuse(std::function<bool(const api::Request&)> which) { refused_ = std::move(which); }
  // Of the controllers, without events.
  int writes() const { return writes_; }

 protected:
  // At the end of each second of advance().
  virtual void on_second() {}

 private:
  void change_gates() {
    if (trouble_.gate_off_after == 0) return;
    ++second_;
    if (second_ == trouble_.gate_off_after)
      world_.restart_components_with(gates_.without(trouble_.gate));
    if (second_ == 2 * trouble_.gate_off_after) world_.restart_components_with(gates_);
  }

  std::optional<Error> fault(const api::Request& request) {
    if (request.user.name != "system:kube-controller-manager" ||
        request.kind == &api::kinds::event())
      return std::nullopt;
    if (dead_) return make_error(Reason::ServiceUnavailable, "the controller is dead");
    if (refused_ && refused_(request)) return make_error(Reason::Forbidden, "not allowed");
    const int write = writes_++;
    if (write == trouble_.crash_at ||
        (trouble_.crash_every > 0 && write % trouble_.crash_every == trouble_.crash_every - 1)) {
      dead_ = true;  // this one is still done; nobody hears the answer
      return std::nullopt;
    }
    if (write == trouble_.refuse_from) away_until_ = world_.now() + trouble_.refuse_for;
    if (world_.now() < away_until_) return make_error(Reason::ServiceUnavailable, "away");
    if (trouble_.flaky > 0 && entropy_.below(trouble_.flaky) == 0)
      return make_error(entropy_.below(2) == 0 ? Reason::Conflict : Reason::InternalError,
                        "no luck");
    return std::nullopt;
  }

  const Trouble trouble_;
  const api::Gates gates_;
  SeededEntropy entropy_;
  int writes_ = 0;
  int second_ = 0;
  bool dead_ = false;
  Time away_until_{};
  std::function<bool(const api::Request&)> refused_;
  World world_;
};

}  // namespace muster::sim
