#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "client/client.h"

namespace muster::client {

// The queue between the thread that receives changes and the component that polls them.
//
// While a component is busy, events pile up here; beyond kCompactAt those about one object are
// merged, so the queue is bounded by the number of objects.
class FeedQueue {
 public:
  explicit FeedQueue(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Wakes nobody: events that arrive together are announced together.
  void push(Event event);
  // Wakes the component if something was pushed since the last time.
  void announce();
  // All that existed at the start has been pushed.
  void set_synced();
  // No wake after this returns.
  void close();
  bool closed() const;
  Feed::Poll poll(std::vector<Event>& out, std::size_t max);

  static constexpr std::size_t kCompactAt = 100'000;

 private:
  void compact();

  mutable std::mutex mutex_;
  std::function<void()> wake_;  // under mutex_, as all that follows; empty: closed
  std::deque<Event> events_;
  std::size_t compact_at_ = kCompactAt;
  bool has_news_ = false;
  bool synced_ = false;
};

// The component's end of a queue.
class QueuedFeed final : public Feed {
 public:
  explicit QueuedFeed(std::shared_ptr<FeedQueue> queue) : queue_(std::move(queue)) {}
  ~QueuedFeed() override { queue_->close(); }
  QueuedFeed(const QueuedFeed&) = delete;
  QueuedFeed& operator=(const QueuedFeed&) = delete;

  Poll poll(std::vector<Event>& out, std::size_t max) override { return queue_->poll(out, max); }

 private:
  const std::shared_ptr<FeedQueue> queue_;
};

}  // namespace muster::client
