#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>

// How many pieces of memory are allocated right now, to show that nothing is left behind: every
// entry of a map, every object, every longer text is at least one. To be included in one file of a
// test: it counts for the whole process.
namespace muster::sim {

inline std::atomic<std::int64_t> live_block_count = 0;

}  // namespace muster::sim

#if defined(__SANITIZE_ADDRESS__)

// Of the sanitizer's run time; not every compiler ships its header.
extern "C" int __sanitizer_install_malloc_and_free_hooks(  // NOLINT(bugprone-reserved-identifier)
    void (*on_malloc)(const volatile void*, std::size_t), void (*on_free)(const volatile void*));

namespace muster::sim {

// What was allocated before the first call is not counted, only that it was freed.
inline std::optional<std::int64_t> live_blocks() {
  static const int kInstalled = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t) { ++live_block_count; },
      [](const volatile void* block) {
        if (block != nullptr) --live_block_count;
      });
  if (kInstalled == 0) return std::nullopt;
  return live_block_count.load();
}

}  // namespace muster::sim

#elif defined(__SANITIZE_THREAD__)

namespace muster::sim {
inline std::optional<std::int64_t> live_blocks() { return std::nullopt; }
}  // namespace muster::sim

#else

// NOLINTBEGIN(misc-definitions-in-headers): one file alone includes it
void* operator new(std::size_t size) {
  void* const block = std::malloc(size > 0 ? size : 1);  // NOLINT(*-no-malloc)
  if (block == nullptr) throw std::bad_alloc();
  ++muster::sim::live_block_count;
  return block;
}
void operator delete(void* block) noexcept {
  if (block != nullptr) --muster::sim::live_block_count;
  std::free(block);  // NOLINT(*-no-malloc)
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
// NOLINTEND(misc-definitions-in-headers)

namespace muster::sim {
inline std::optional<std::int64_t> live_blocks() { return live_block_count.load(); }
}  // namespace muster::sim

#endif
