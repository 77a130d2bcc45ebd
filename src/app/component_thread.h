#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mailbox.h"
#include "base/metrics.h"
#include "base/thread_name.h"
#include "base/time.h"
#include "client/component.h"
#include "client/kit/feeds.h"

namespace muster::app {

// Gives a component a thread: feeds it what it watches and the outcomes of its calls, and lets it
// work. Only this thread touches the component.
class ComponentThread {
 public:
  using Make = std::function<std::unique_ptr<client::Component>(client::ComponentContext context)>;

  // A component's share of a thread in one round, whatever else runs there: kRound each for
  // outcomes, events and work, so that none of them keeps the others waiting.
  static constexpr std::size_t kEventsPerPoll = 1000;
  static constexpr std::size_t kWorkPerRound = 100;
  static constexpr Duration kRound = std::chrono::milliseconds{20};
  static constexpr Duration kIdle = std::chrono::seconds{1};  // without anything to do

  // What every component of the process shares. All must outlive the threads.
  struct Surroundings {
    const Clock& clock;
    Metrics& metrics;
    std::string host = "loopback";  // of the server, in metrics
  };

  // `name` is the thread's, cut to the 15 characters that Linux keeps. `client` must outlive this.
  ComponentThread(std::string_view name, client::Client& client, const Surroundings& surroundings,
                  const Make& make)
      : clock_(surroundings.clock),
        mailbox_(kMailboxCapacity),
        component_(make(
            {.send = sender(client),
             .metrics = &surroundings.metrics,
             .host = surroundings.host,
             .stopwatch = [] { return std::chrono::steady_clock::now().time_since_epoch(); }})),
        feeds_(client, *component_, [this] { wake(); }) {
    thread_ = std::thread([this, name = std::string(name.substr(0, 15))] {
      name_this_thread(name.c_str());
      run();
    });
  }

  // No outcome of a call may arrive after this: stop the server's threads first, or wait for
  // them.
  ~ComponentThread() {
    close();
    thread_.join();
  }
  // Lets the component finish the step, or the input, that it is at, without waiting for it.
  void close() {
    closing_ = true;
    mailbox_.close();
  }

 private:
  // A message is an outcome, or nothing: a reason to look at the feeds.
  using Message = std::optional<client::Called>;

  // More than every component's calls in flight together; a full mailbox is a bug, not load.
  static constexpr std::size_t kMailboxCapacity = 1'000'000;

  client::Send sender(client::Client& client) {
    return [this, &client](api::Request request, std::uint64_t ticket) {
      client.send(std::move(request), [this, ticket](client::Outcome outcome) {
        // After close() there is nobody left to receive an outcome.
        static_cast<void>(mailbox_.try_push(client::Called{ticket, std::move(outcome)}));
      });
    };
  }
  void wake() {
    if (!woken_.exchange(true)) static_cast<void>(mailbox_.try_push(Message{}));
  }

  void run() {
    std::vector<Message> messages;
    bool busy = true;
    while (!closing_ && mailbox_.pop_all(messages, busy ? Duration{0} : patience())) {
      for (Message& message : messages)
        if (message) outcomes_.push_back(std::move(*message));
      woken_ = false;
      busy = look();
      busy |= work();
    }
  }

  // Hands over what has come, as far as a short time allows; true if there is more.
  bool look() {
    const Time now = clock_.now();
    bool more = client::deliver(outcomes_, *component_, now, until_late(now));
    if (closing_) return true;
    const Time then = clock_.now();
    more |= feeds_.poll(*component_, then, kEventsPerPoll, until_late(then)).more;
    return more;
  }

  // A round of steps; false if there was nothing to do. One step may take long, so steps are asked
  // for one by one: close() waits for at most one, and new input is looked at after the steps that
  // fit into a short time.
  bool work() {
    const Time now = clock_.now();
    const client::Stop late = until_late(now);
    for (std::size_t done = 0; done < kWorkPerRound; ++done) {
      if (closing_ || (done > 0 && late())) return true;
      if (component_->run_once(now, 1) == 0) return done > 0;
    }
    return true;
  }

  client::Stop until_late(Time since) const {
    return [this, since] { return closing_ || clock_.now() - since >= kRound; };
  }

  Duration patience() const {
    const std::optional<Time> deadline = component_->next_deadline();
    if (!deadline) return kIdle;
    return std::clamp<Duration>(*deadline - clock_.now(), Duration{0}, kIdle);
  }

  const Clock& clock_;
  Mailbox<Message> mailbox_;
  std::atomic<bool> woken_{false};
  std::atomic<bool> closing_{false};
  const std::unique_ptr<client::Component> component_;
  std::deque<client::Called> outcomes_;  // not yet applied
  client::Feeds feeds_;
  std::thread thread_;
};

}  // namespace muster::app
