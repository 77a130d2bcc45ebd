#include "app/rival_look.h"

#include <utility>

#include "base/log.h"
#include "base/thread_name.h"

namespace muster::app {

RivalLook::RivalLook(FindRival find, std::chrono::seconds pause)
    : find_(std::move(find)), pause_(pause), thread_([this] {
        name_this_thread("rival-look");
        run();
      }) {}

RivalLook::~RivalLook() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  stopping_.notify_all();
  thread_.join();
}

std::optional<std::string> RivalLook::found() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

void RivalLook::run() {
  do {
    Result<std::string> rival = find_([this](std::chrono::seconds time) { return sleep(time); });
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return;
    if (rival) {
      found_ = *std::move(rival);
      return;
    }
    log(LogLevel::Warning, "cannot tell whether somebody else is at work: {}",
        rival.error().message);
  } while (sleep(pause_));
}

bool RivalLook::sleep(std::chrono::seconds time) {
  std::unique_lock lock(mutex_);
  stopping_.wait_for(lock, time, [this] { return is_stopped_; });
  return !is_stopped_;
}

}  // namespace muster::app
