#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster::scheduler {

// The best of many contestants that keep changing: keys in blocks, block winners in a tree of
// maxima above. Changing a key costs a block and a path; asking for the best costs nothing. Key 0
// stands for "does not take part". A tournament over n keys takes about 9 n bytes.
class Tournament {
 public:
  // Starts over with `size` contestants; fill keys(), then call rebuild().
  void reset(std::size_t size);
  std::span<std::uint64_t> keys() { return {keys_.data(), size_}; }
  std::span<const std::uint64_t> keys() const { return {keys_.data(), size_}; }
  void rebuild();

  // One more contestant, with key 0; its number.
  std::size_t append();

  std::size_t size() const { return size_; }
  std::uint64_t key(std::size_t contestant) const { return keys_[contestant]; }
  void set(std::size_t contestant, std::uint64_t key);
  // How many take part; goes over all of them.
  std::size_t count() const;
  std::uint64_t best() const { return tree_.empty() ? 0 : tree_[1]; }
  std::size_t bytes() const {
    return (keys_.capacity() + tree_.capacity()) * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::size_t kBlock = 16;
  std::uint64_t block_best(std::size_t block) const;

  std::size_t size_ = 0;
  std::size_t leaves_ = 0;           // blocks, rounded up to a power of two
  std::vector<std::uint64_t> keys_;  // padded with 0 to whole blocks
  std::vector<std::uint64_t> tree_;  // [1] is the root, [leaves_ + b] the winner of block b
};

}  // namespace muster::scheduler
