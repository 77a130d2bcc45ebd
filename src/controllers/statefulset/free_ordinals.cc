#include "controllers/statefulset/free_ordinals.h"

#include <algorithm>

namespace muster::controllers {

void FreeOrdinals::reset(std::int64_t first, std::int64_t end) {
  first_ = first;
  end_ = std::max(first, end);
  count_ = end_ - first_;
  free_.clear();
  if (count_ > 0) free_.emplace(first_, end_);
}

void FreeOrdinals::occupy(std::int64_t ordinal) {
  auto at = free_.upper_bound(ordinal);
  if (at == free_.begin()) return;
  --at;
  const auto [first, end] = *at;
  if (ordinal >= end) return;
  free_.erase(at);
  if (first < ordinal) free_.emplace(first, ordinal);
  if (ordinal + 1 < end) free_.emplace(ordinal + 1, end);
  --count_;
}

void FreeOrdinals::release(std::int64_t ordinal) {
  if (!has(ordinal)) return;
  auto after = free_.upper_bound(ordinal);
  const auto before = after == free_.begin() ? free_.end() : std::prev(after);
  if (before != free_.end() && ordinal < before->second) return;  // is free
  std::int64_t first = ordinal;
  std::int64_t end = ordinal + 1;
  if (before != free_.end() && before->second == ordinal) {
    first = before->first;
    free_.erase(before);
  }
  if (after != free_.end() && after->first == end) {
    end = after->second;
    free_.erase(after);
  }
  free_.emplace(first, end);
  ++count_;
}

std::int64_t FreeOrdinals::count_from(std::int64_t ordinal) const {
  std::int64_t sum = 0;
  for (auto at = free_.rbegin(); at != free_.rend() && at->second > ordinal; ++at)
    sum += at->second - std::max(at->first, ordinal);
  return sum;
}

std::optional<std::int64_t> FreeOrdinals::lowest() const {
  return free_.empty() ? std::nullopt : std::optional(free_.begin()->first);
}

std::optional<std::int64_t> FreeOrdinals::highest() const {
  return free_.empty() ? std::nullopt : std::optional(free_.rbegin()->second - 1);
}

std::vector<std::int32_t> FreeOrdinals::lowest(std::size_t count) const {
  std::vector<std::int32_t> out;
  for (const auto& [first, end] : free_)
    for (std::int64_t ordinal = first; ordinal < end; ++ordinal) {
      if (out.size() == count) return out;
      out.push_back(static_cast<std::int32_t>(ordinal));
    }
  return out;
}

}  // namespace muster::controllers
