#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fair_queue.h"
#include "server/http/client_ledger.h"

namespace muster::server {

// Threads for what takes longer than an I/O thread may be away from its other connections. Clients
// take turns, and the threads have lower priority than all others of the process: a client that
// asks for much waits for its own work and does not hold up the rest.
class WorkPool {
 public:
  explicit WorkPool(unsigned threads);
  // Finishes the work that has begun and drops the rest.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // Any thread. `work` must not throw. How much can wait is bounded by the connections' open
  // requests.
  void run(const AccountPtr& whose, std::function<void()> work);
  // Calls `step` until it returns true. Other clients have their turn in between; the client's own
  // further work comes afterwards. So no client has more work begun than there are threads, and a
  // step that only waits for the work of others never blocks that work.
  void run_in_steps(const AccountPtr& whose, std::function<bool()> step);

 private:
  struct Work {
    AccountPtr whose;
    std::function<bool()> step;
  };
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  FairQueue<AccountPtr, Work> waiting_;  // under mutex_, as is stopped_
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace muster::server
