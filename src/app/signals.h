#pragma once

#include <pthread.h>
#include <signal.h>  // NOLINT: sigaction is POSIX, not C++

#include <chrono>
#include <ctime>

namespace muster::app {

// Blocks SIGINT and SIGTERM in every thread started from here on, so that one place waits for them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  void wait() const {
    int caught = 0;
    sigwait(&set_, &caught);
  }
  // Whether one arrives within this time.
  bool came_within(std::chrono::milliseconds patience) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(patience);
    const timespec time{.tv_sec = seconds.count(),
                        .tv_nsec = std::chrono::nanoseconds(patience - seconds).count()};
    return sigtimedwait(&set_, nullptr, &time) > 0;
  }

 private:
  sigset_t set_{};
};

}  // namespace muster::app
