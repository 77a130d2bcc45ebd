#pragma once

namespace muster {

// A deleter for std::unique_ptr that calls a C library's own function.
template <auto Free>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

}  // namespace muster
