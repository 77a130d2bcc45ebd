#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "scheduler/cache/ids.h"

namespace muster::scheduler {

// Rows of every column are padded to a whole number of these, so that a vector loop needs no tail.
inline constexpr std::size_t kRowBlock = 64;
inline constexpr std::size_t padded_rows(std::size_t rows) {
  return (rows + kRowBlock - 1) / kRowBlock * kRowBlock;
}

// Memory aligned for vector loads.
template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}  // NOLINT: allocators convert
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  template <typename U>
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator<U>&) {
    return true;
  }
};

// One value per node, 64-byte aligned, padded with zeros to whole blocks.
template <typename T>
class Column {
 public:
  // Grows to hold `rows` rows; new ones are zero.
  void resize(std::size_t rows) { values_.resize(padded_rows(rows)); }

  T& operator[](NodeId node) { return values_[index_of(node)]; }
  const T& operator[](NodeId node) const { return values_[index_of(node)]; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  std::size_t padded() const { return values_.size(); }
  void fill(T value) { std::ranges::fill(values_, value); }
  std::size_t bytes() const { return values_.capacity() * sizeof(T); }

  friend bool operator==(const Column&, const Column&) = default;

 private:
  std::vector<T, AlignedAllocator<T>> values_;
};

// How many more pods of one class each node takes.
using CapColumn = Column<std::int32_t>;
inline constexpr std::int32_t kNoCap = 1 << 30;  // a filter that does not count

}  // namespace muster::scheduler
