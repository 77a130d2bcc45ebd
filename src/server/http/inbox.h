#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "api/request.h"
#include "base/result.h"

namespace muster::server {

struct DelegatedRun;

// Something on an I/O thread that waits for the core: a connection or an HTTP/2 stream.
// Called on its own thread only.
class Recipient {
 public:
  virtual ~Recipient() = default;
  virtual void on_answer(Result<api::Answer> answer) = 0;
  virtual void on_wake() = 0;
  // The work it gave to the pool (delegated_run.h) is done.
  virtual void on_outcome(DelegatedRun& run) = 0;
  // One of them threw: its connection ends, and nothing else.
  virtual void on_exception(std::string_view what) noexcept = 0;
};

// How other threads reach the recipients of one I/O thread. A whole batch of answers, as a group
// commit gives, or of wakes costs that thread one turn. Outlives the thread: what comes after
// close() is dropped. Its size is bounded by the requests in flight and the watches that are open.
class Inbox {
 public:
  // `ring` makes the I/O thread call deliver_…(); it is called under the lock, once per batch.
  explicit Inbox(std::function<void()> ring) : ring_(std::move(ring)) {}

  // --- any thread ---
  void put_answer(std::weak_ptr<Recipient> to, Result<api::Answer> answer) {
    const std::lock_guard lock(mutex_);
    if (!ring_) return;
    answers_.emplace_back(std::move(to), std::move(answer));
    ring_once();
  }
  // `on_its_way` is true from before the call until just before the recipient hears of it.
  void put_wake(std::weak_ptr<Recipient> to, std::shared_ptr<std::atomic<bool>> on_its_way) {
    const std::lock_guard lock(mutex_);
    if (!ring_) return;
    wakes_.push_back({std::move(to), std::move(on_its_way)});
    ring_once();
  }

  void put_outcome(std::weak_ptr<Recipient> to, std::shared_ptr<DelegatedRun> run) {
    const std::lock_guard lock(mutex_);
    if (!ring_) return;
    outcomes_.emplace_back(std::move(to), std::move(run));
    ring_once();
  }

  // --- the I/O thread ---
  void deliver_answers() {
    std::vector<std::pair<std::weak_ptr<Recipient>, Result<api::Answer>>> answers;
    std::vector<std::pair<std::weak_ptr<Recipient>, std::shared_ptr<DelegatedRun>>> outcomes;
    {
      const std::lock_guard lock(mutex_);
      rung_ = false;
      answers.swap(answers_);
      outcomes.swap(outcomes_);
    }
    for (const auto& [to, run] : outcomes)
      if (const std::shared_ptr<Recipient> recipient = to.lock())
        guard(*recipient, [&] { recipient->on_outcome(*run); });
    for (auto& [to, answer] : answers)
      if (const std::shared_ptr<Recipient> recipient = to.lock())
        guard(*recipient, [&] { recipient->on_answer(std::move(answer)); });
  }
  bool has_wakes() const {
    const std::lock_guard lock(mutex_);
    return !wakes_.empty();
  }
  // Delivers at most this many of the wakes that have arrived, and stops once `is_late` says so;
  // true if more are left. Thousands of watches may want the same change, and other requests should
  // not wait for all of them, nor for a hundred that search a large object for fields.
  template <typename IsLate>
  bool deliver_wakes(std::size_t most, const IsLate& is_late) {
    if (next_wake_ == due_.size()) {
      due_.clear();
      next_wake_ = 0;
      const std::lock_guard lock(mutex_);
      due_.swap(wakes_);
    }
    for (; next_wake_ < due_.size() && most > 0; --most) {
      const WakeCall call = std::move(due_[next_wake_++]);
      call.on_its_way->store(false);
      if (const std::shared_ptr<Recipient> recipient = call.to.lock())
        guard(*recipient, [&] { recipient->on_wake(); });
      if (is_late()) break;
    }
    return next_wake_ < due_.size();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    ring_ = nullptr;
    answers_.clear();
    outcomes_.clear();
    wakes_.clear();
  }

 private:
  struct WakeCall {
    std::weak_ptr<Recipient> to;
    std::shared_ptr<std::atomic<bool>> on_its_way;
  };
  template <typename Call>
  static void guard(Recipient& recipient, Call&& call) {
    try {
      call();
    } catch (const std::exception& error) {
      recipient.on_exception(error.what());
    }
  }
  void ring_once() {
    if (std::exchange(rung_, true)) return;
    ring_();
  }

  mutable std::mutex mutex_;
  std::function<void()> ring_;  // under mutex_, as all below
  bool rung_ = false;
  std::vector<std::pair<std::weak_ptr<Recipient>, Result<api::Answer>>> answers_;
  std::vector<std::pair<std::weak_ptr<Recipient>, std::shared_ptr<DelegatedRun>>> outcomes_;
  std::vector<WakeCall> wakes_;

  // The I/O thread's: wakes that are being delivered.
  std::vector<WakeCall> due_;
  std::size_t next_wake_ = 0;
};

}  // namespace muster::server
