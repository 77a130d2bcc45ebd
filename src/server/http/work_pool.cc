#include "server/http/work_pool.h"

#include <unistd.h>

#include <utility>

#include "base/thread_name.h"

namespace muster::server {
namespace {

constexpr int kStepBack = 5;  // of niceness

}  // namespace

WorkPool::WorkPool(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void WorkPool::run(const AccountPtr& whose, std::function<void()> work) {
  run_in_steps(whose, [work = std::move(work)] {
    work();
    return true;
  });
}

void WorkPool::run_in_steps(const AccountPtr& whose, std::function<bool()> step) {
  const std::lock_guard lock(mutex_);
  waiting_.push(whose, {whose, std::move(step)});
  changed_.notify_one();
}

void WorkPool::serve() {
  name_this_thread("work");
  static_cast<void>(::nice(kStepBack));  // on Linux that of this thread
  while (true) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
      if (stopped_) return;
      work = waiting_.pop();
    }
    if (work.step()) continue;
    const std::lock_guard lock(mutex_);
    const AccountPtr whose = work.whose;
    waiting_.push_front(whose, std::move(work));
    changed_.notify_one();
  }
}

}  // namespace muster::server
