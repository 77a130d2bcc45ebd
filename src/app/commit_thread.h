#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/thread_name.h"
#include "server/core/write/batch.h"
#include "store/store.h"

namespace muster::app {

// Makes batches durable and answers them, one at a time, beside the thread that decides.
class CommitThread {
 public:
  // `committed` is called on this thread whenever a batch has become durable. `store` must outlive
  // this.
  CommitThread(store::Store& store, std::function<void()> committed)
      : store_(store), committed_(std::move(committed)), thread_([this] { run(); }) {}
  ~CommitThread() { stop(); }
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  // The last batch must have been committed; its replies may still be on their way.
  void begin(std::shared_ptr<server::Batch> batch) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(batch);
    busy_ = true;
    changed_.notify_all();
  }
  // A batch is not durable yet.
  bool busy() const {
    const std::lock_guard lock(mutex_);
    return busy_;
  }
  // Returns once it is durable.
  void await() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
  }
  // Finishes what was begun, answers included.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    name_this_thread("commit");
    while (const std::shared_ptr<server::Batch> batch = pop()) {
      batch->commit(store_);
      {
        const std::lock_guard lock(mutex_);
        busy_ = false;
        changed_.notify_all();
      }
      committed_();
      batch->answer();
    }
  }
  // Null once stopped and done.
  std::shared_ptr<server::Batch> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return next_ || stopped_; });
    return std::exchange(next_, nullptr);
  }

  store::Store& store_;
  const std::function<void()> committed_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<server::Batch> next_;  // under mutex_, as are the two below
  bool busy_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace muster::app
