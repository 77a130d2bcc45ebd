#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/live_leases.h"
#include "base/result.h"

namespace muster::app {

// Finds somebody else who is at work and would undo what this process does: a sentence about them,
// empty if there is nobody. Blocks, for a minute at most, and sleeps by `sleep`; an error if it
// cannot be known now.
using FindRival = std::function<Result<std::string>(const Sleep& sleep)>;

// A look for a rival on a thread of its own, so that the caller goes on meanwhile.
// What cannot be known now is asked again until it is.
class RivalLook {
 public:
  // Begins at once.
  explicit RivalLook(FindRival find, std::chrono::seconds pause = std::chrono::seconds{1});
  // Waits for a call that is under way.
  ~RivalLook();
  RivalLook(const RivalLook&) = delete;
  RivalLook& operator=(const RivalLook&) = delete;

  // What was found; nullopt while it is not known.
  std::optional<std::string> found() const;

 private:
  void run();
  bool sleep(std::chrono::seconds time);

  const FindRival find_;
  const std::chrono::seconds pause_;
  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  bool is_stopped_ = false;  // these two under mutex_
  std::optional<std::string> found_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace muster::app
