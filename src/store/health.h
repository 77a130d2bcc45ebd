#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace muster::store {

// Whether the store can be written, as the last attempt showed. The store's writer sets it; any
// thread may ask, at any time: it never waits for a disk.
class Health {
 public:
  // Why writes fail, as one sentence; nullopt while they succeed.
  std::optional<std::string> why_not_writable() const {
    const std::lock_guard lock(mutex_);
    return why_not_;
  }

  void set_writable() { set(std::nullopt); }
  void set_failed(std::string why) { set(std::move(why)); }

 private:
  void set(std::optional<std::string> why_not) {
    const std::lock_guard lock(mutex_);
    why_not_ = std::move(why_not);
  }

  mutable std::mutex mutex_;
  std::optional<std::string> why_not_;  // under mutex_
};

}  // namespace muster::store
