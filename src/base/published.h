#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace muster {

// The newest version of something that never changes once published: one writer, many readers.
// A mutex and a shared_ptr, because GCC 12's atomic<shared_ptr> trips ThreadSanitizer.
template <typename T>
class Published {
 public:
  std::shared_ptr<const T> get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<const T> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace muster
