#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "client/client.h"

namespace muster::app {

// The client of a component that must not act yet: its feeds run, so that it knows the cluster once
// it may act, but none counts as complete before activate(). A component does nothing
// before its feeds are complete.
class StandbyClient final : public client::Client {
 public:
  explicit StandbyClient(client::Client& inner) : inner_(inner) {}

  void send(api::Request request, client::Done done) override {
    inner_.send(std::move(request), std::move(done));
  }
  std::unique_ptr<client::Feed> watch(const api::Kind& kind, std::function<void()> wake) override {
    {
      const std::lock_guard lock(mutex_);
      wakes_.push_back(wake);
    }
    return std::make_unique<StandbyFeed>(inner_.watch(kind, std::move(wake)), active_);
  }

  // Any thread, while its component lives.
  void activate() {
    active_ = true;
    const std::lock_guard lock(mutex_);
    for (const std::function<void()>& wake : wakes_) wake();
  }
  bool active() const { return active_; }

 private:
  class StandbyFeed final : public client::Feed {
   public:
    StandbyFeed(std::unique_ptr<client::Feed> inner, const std::atomic<bool>& active)
        : inner_(std::move(inner)), active_(active) {}
    Poll poll(std::vector<client::Event>& out, std::size_t max) override {
      Poll poll = inner_->poll(out, max);
      poll.synced = poll.synced && active_;
      return poll;
    }

   private:
    const std::unique_ptr<client::Feed> inner_;
    const std::atomic<bool>& active_;
  };

  client::Client& inner_;
  std::atomic<bool> active_ = false;
  std::mutex mutex_;
  std::vector<std::function<void()>> wakes_;  // under mutex_
};

}  // namespace muster::app
