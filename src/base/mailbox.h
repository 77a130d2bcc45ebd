#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"

namespace muster {

// The bounded way into a thread's work: many push, the owner pops everything at once. A full
// mailbox refuses, and the sender passes the refusal on.
template <typename T>
class Mailbox {
 public:
  explicit Mailbox(std::size_t capacity) : capacity_(capacity) {}

  // Makes a message of the arguments and puts it in. False if the mailbox is full or closed; the
  // arguments are then untouched, also those given by std::move.
  template <typename... Args>
  [[nodiscard]] bool try_push(Args&&... args) {
    const std::lock_guard lock(mutex_);
    if (closed_ || messages_.size() >= capacity_) return false;
    messages_.emplace_back(std::forward<Args>(args)...);
    if (messages_.size() == 1) filled_.notify_one();
    return true;
  }

  // Moves all messages into `out` (emptied first). Waits for one up to `patience`, or without limit
  // if there is none. False once the mailbox is closed and empty.
  bool pop_all(std::vector<T>& out, std::optional<Duration> patience = std::nullopt) {
    out.clear();
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return closed_ || !messages_.empty(); };
    if (patience)
      filled_.wait_for(lock, *patience, ready);
    else
      filled_.wait(lock, ready);
    out.swap(messages_);
    return !out.empty() || !closed_;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    filled_.notify_all();
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<T> messages_;  // under mutex_, as is closed_
  bool closed_ = false;
};

}  // namespace muster
