#include "scheduler/framework/tournament.h"

#include <algorithm>
#include <bit>

namespace muster::scheduler {

void Tournament::reset(std::size_t size) {
  size_ = size;
  const std::size_t blocks = std::max<std::size_t>(1, (size + kBlock - 1) / kBlock);
  leaves_ = std::bit_ceil(blocks);
  keys_.assign(blocks * kBlock, 0);
  tree_.assign(2 * leaves_, 0);
}

void Tournament::rebuild() {
  for (std::size_t block = 0; block * kBlock < keys_.size(); ++block)
    tree_[leaves_ + block] = block_best(block);
  for (std::size_t at = leaves_ - 1; at >= 1; --at)
    tree_[at] = std::max(tree_[2 * at], tree_[2 * at + 1]);
}

std::size_t Tournament::append() {
  if (size_ == keys_.size()) {
    keys_.resize(2 * keys_.size(), 0);
    leaves_ = std::bit_ceil(keys_.size() / kBlock);
    tree_.assign(2 * leaves_, 0);
    rebuild();
  }
  return size_++;
}

std::uint64_t Tournament::block_best(std::size_t block) const {
  const std::uint64_t* keys = keys_.data() + block * kBlock;
  std::uint64_t best = keys[0];
  for (std::size_t i = 1; i < kBlock; ++i) best = std::max(best, keys[i]);
  return best;
}

std::size_t Tournament::count() const {
  return keys_.size() - static_cast<std::size_t>(std::ranges::count(keys_, std::uint64_t{0}));
}

void Tournament::set(std::size_t contestant, std::uint64_t key) {
  const std::uint64_t before = keys_[contestant];
  if (before == key) return;
  keys_[contestant] = key;
  const std::size_t block = contestant / kBlock;
  std::size_t at = leaves_ + block;
  if (key > before) {
    // A raised key can only raise winners.
    for (; at >= 1 && tree_[at] < key; at /= 2) tree_[at] = key;
    return;
  }
  if (tree_[at] != before) return;  // it was not the winner
  tree_[at] = block_best(block);
  for (at /= 2; at >= 1; at /= 2) {
    const std::uint64_t best = std::max(tree_[2 * at], tree_[2 * at + 1]);
    if (tree_[at] == best) return;
    tree_[at] = best;
  }
}

}  // namespace muster::scheduler
