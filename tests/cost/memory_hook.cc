#include <cstddef>
#include <cstdlib>
#include <new>

#include "cost/work.h"

// NOLINTBEGIN: names and forms that the linker and the language prescribe

extern "C" {
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  muster::cost::work_of_this_thread().bytes_moved += bytes;
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes);
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  muster::cost::work_of_this_thread().bytes_moved += bytes;
  return __real_memmove(to, from, bytes);
}

// Clang's address sanitizer calls these instead.
#ifdef MUSTER_CLANG_ASAN
void* __real___asan_memcpy(void* to, const void* from, std::size_t bytes);
void* __real___asan_memmove(void* to, const void* from, std::size_t bytes);

void* __wrap___asan_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap___asan_memcpy(void* to, const void* from, std::size_t bytes) {
  muster::cost::work_of_this_thread().bytes_moved += bytes;
  return __real___asan_memcpy(to, from, bytes);
}
void* __wrap___asan_memmove(void* to, const void* from, std::size_t bytes);
void* __wrap___asan_memmove(void* to, const void* from, std::size_t bytes) {
  muster::cost::work_of_this_thread().bytes_moved += bytes;
  return __real___asan_memmove(to, from, bytes);
}
#endif
}

namespace {

void* allocate(std::size_t bytes) {
  muster::cost::work_of_this_thread().bytes_allocated += bytes;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  std::abort();
}

void* allocate(std::size_t bytes, std::align_val_t alignment) {
  muster::cost::work_of_this_thread().bytes_allocated += bytes;
  const auto step = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(step, (bytes + step - 1) / step * step))
    return memory;
  std::abort();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// NOLINTEND
