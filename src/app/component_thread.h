#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mailbox.h"
#include "base/thread_name.h"
#include "base/time.h"
#include "client/component.h"

namespace muster::app {

// Gives a component a thread: what it watches and the outcomes of its calls come in, time passes,
// work is done. The component is touched by this thread alone.
template <client::Component T>
class ComponentThread {
 public:
  // `name` is the thread's. The component is built from `arguments` and, last, the Send it is
  // given. `client` and `clock` must outlive this.
  template <typename... Arguments>
  ComponentThread(const char* name, client::Client& client, const Clock& clock,
                  Arguments&&... arguments)
      : clock_(clock), mailbox_(kMailboxCapacity) {
    client::Send send = [this, &client](api::Request request, std::uint64_t ticket) {
      client.send(std::move(request), [this, ticket](client::Outcome outcome) {
        deliver(client::Called{ticket, std::move(outcome)});
      });
    };
    component_ = std::make_unique<T>(std::forward<Arguments>(arguments)..., std::move(send));
    for (const api::Kind* kind : T::watched_kinds())
      feeds_.push_back(client.watch(*kind, [this] { wake(); }));
    thread_ = std::thread([this, name] {
      name_this_thread(name);
      run();
    });
  }

  // No call of the component may come back after this: stop the server's threads first, or wait for
  // them.
  ~ComponentThread() {
    mailbox_.close();
    thread_.join();
  }

 private:
  // A message is an outcome, or nothing: a reason to look at the feeds.
  using Message = std::optional<client::Called>;

  // More than every component's calls in flight together; a full mailbox is a bug, not load.
  static constexpr std::size_t kMailboxCapacity = 1'000'000;
  static constexpr std::size_t kEventsPerPoll = 1000;
  static constexpr std::size_t kWorkPerRound = 100;
  static constexpr Duration kIdle = std::chrono::seconds{1};

  void deliver(client::Called called) {
    // After close() an outcome has nobody left to hear it.
    static_cast<void>(mailbox_.try_push(std::move(called)));
  }
  void wake() {
    if (!woken_.exchange(true)) static_cast<void>(mailbox_.try_push(Message{}));
  }

  void run() {
    std::vector<Message> messages;
    bool busy = true;
    while (mailbox_.pop_all(messages, busy ? Duration{0} : patience())) {
      const Time now = clock_.now();
      for (Message& message : messages)
        if (message) component_->apply(std::move(*message), now);
      woken_ = false;
      busy = take_in_events(now);
      busy |= component_->run_once(now, kWorkPerRound) > 0;
    }
  }

  // True if the feeds have more right now.
  bool take_in_events(Time now) {
    bool more = false;
    bool all_synced = true;
    for (const auto& feed : feeds_) {
      events_.clear();
      const client::Feed::Poll poll = feed->poll(events_, kEventsPerPoll);
      for (client::Event& event : events_) component_->apply(std::move(event), now);
      more |= poll.more;
      all_synced &= poll.synced;
    }
    if (all_synced && !synced_) {
      synced_ = true;
      component_->apply(client::Synced{}, now);
    }
    return more;
  }

  Duration patience() const {
    const std::optional<Time> deadline = component_->next_deadline();
    if (!deadline) return kIdle;
    return std::clamp<Duration>(*deadline - clock_.now(), Duration{0}, kIdle);
  }

  const Clock& clock_;
  Mailbox<Message> mailbox_;
  std::atomic<bool> woken_{false};
  std::unique_ptr<T> component_;
  std::vector<std::unique_ptr<client::Feed>> feeds_;
  std::vector<client::Event> events_;
  bool synced_ = false;
  std::thread thread_;
};

}  // namespace muster::app
