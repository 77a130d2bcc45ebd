#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace muster::controllers {

// Which ordinals of a range are free, as intervals: memory and time depend on the number of gaps,
// not on the length of the range.
class FreeOrdinals {
 public:
  // All of [first, end) is free.
  void reset(std::int64_t first, std::int64_t end);
  // Outside the range these do nothing.
  void occupy(std::int64_t ordinal);
  void release(std::int64_t ordinal);

  std::int64_t first() const { return first_; }
  std::int64_t end() const { return end_; }
  bool has(std::int64_t ordinal) const { return ordinal >= first_ && ordinal < end_; }
  std::int64_t count() const { return count_; }
  // How many are free from this one on.
  std::int64_t count_from(std::int64_t ordinal) const;
  std::optional<std::int64_t> lowest() const;
  std::optional<std::int64_t> highest() const;
  // The lowest ones, at most `count`.
  std::vector<std::int32_t> lowest(std::size_t count) const;

 private:
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
  std::int64_t count_ = 0;
  std::map<std::int64_t, std::int64_t> free_;  // first to end of each interval; never adjacent
};

}  // namespace muster::controllers
