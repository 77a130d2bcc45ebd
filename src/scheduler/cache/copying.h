#pragma once

#include <memory>
#include <utility>

namespace muster::scheduler {

// A value at an address of its own: it stays where it is when the container that holds the box
// grows, and a copy of the box holds a copy of the value.
template <typename T>
class Boxed {
 public:
  Boxed() : value_(std::make_unique<T>()) {}
  ~Boxed() = default;
  Boxed(const Boxed& from) : value_(std::make_unique<T>(*from.value_)) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed&) = delete;
  Boxed& operator=(Boxed&&) noexcept = default;

  T& operator*() const { return *value_; }
  T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

// A member that a copy of its owner starts without.
template <typename T>
class NotCopied {
 public:
  NotCopied() = default;
  ~NotCopied() = default;
  NotCopied(const NotCopied& /*from*/) {}
  NotCopied& operator=(const NotCopied&) = delete;

  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_{};
};

}  // namespace muster::scheduler
