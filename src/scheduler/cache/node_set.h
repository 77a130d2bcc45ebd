#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "scheduler/cache/column.h"

namespace muster::scheduler {

// A set of nodes, one bit per row.
class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(std::size_t rows) { resize(rows); }

  void resize(std::size_t rows) { words_.resize(padded_rows(rows) / 64); }
  bool contains(NodeId node) const {
    return (words_[index_of(node) / 64] >> (index_of(node) % 64)) & 1;
  }
  void insert(NodeId node) { words_[index_of(node) / 64] |= bit(node); }
  void remove(NodeId node) { words_[index_of(node) / 64] &= ~bit(node); }
  void set(NodeId node, bool member) { member ? insert(node) : remove(node); }
  void clear() { std::ranges::fill(words_, 0); }

  bool empty() const {
    for (const std::uint64_t word : words_)
      if (word != 0) return false;
    return true;
  }
  std::size_t count() const {
    std::size_t nodes = 0;
    for (const std::uint64_t word : words_) nodes += static_cast<std::size_t>(std::popcount(word));
    return nodes;
  }

  // Keeps the nodes for which keep(node) is true.
  template <typename Keep>
  void keep_if(Keep&& keep) {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) {
        const auto node =
            static_cast<NodeId>(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
        if (!keep(node)) words_[w] &= ~bit(node);
      }
  }
  // Visits members by rising row number.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        visit(static_cast<NodeId>(w * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
  }

  std::uint64_t* words() { return words_.data(); }
  const std::uint64_t* words() const { return words_.data(); }
  std::size_t word_count() const { return words_.size(); }
  std::size_t bytes() const { return words_.capacity() * sizeof(std::uint64_t); }
  friend bool operator==(const NodeSet&, const NodeSet&) = default;

 private:
  static std::uint64_t bit(NodeId node) { return std::uint64_t{1} << (index_of(node) % 64); }

  std::vector<std::uint64_t> words_;
};

}  // namespace muster::scheduler
