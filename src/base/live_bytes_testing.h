#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Of the sanitizer's run time; not every compiler ships its header.
extern "C" std::size_t
__sanitizer_get_current_allocated_bytes();  // NOLINT(bugprone-reserved-identifier)
#endif

// For tests only.
namespace muster {

// How many bytes of memory are allocated right now, in the whole process: to show that little is
// held, whatever it is called.
inline std::int64_t live_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return static_cast<std::int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  const auto use = mallinfo2();
  return static_cast<std::int64_t>(use.uordblks + use.hblkhd);
#endif
}

}  // namespace muster
