#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::controllers {

// Completion indexes, as the status of a Job writes them: "1,3-5,7". Kept as ranges, so that a Job
// of 100,000 indexes that ends in order costs one of them.
class IndexSet {
 public:
  struct Range {
    std::int32_t first = 0;
    std::int32_t last = 0;
    friend auto operator<=>(const Range&, const Range&) = default;
  };

  IndexSet() = default;
  // Of ranges in any order.
  explicit IndexSet(std::vector<Range> ranges);
  // Indexes at or above `end` are left out. An invalid text gives what precedes the
  // mistake.
  static IndexSet parse(std::string_view text, std::int32_t end);
  static IndexSet of(const std::vector<std::int32_t>& indexes);

  IndexSet with(const IndexSet& other) const;
  bool contains(std::int32_t index) const;
  std::int64_t size() const;
  // How many of these are in `other` too.
  std::int64_t shared_with(const IndexSet& other) const;
  // The first `count` indexes below `end` that are not in it.
  std::vector<std::int32_t> first_missing(std::int64_t count, std::int32_t end) const;
  // Ascending; runs of three or more as a range, pairs as two numbers.
  std::string text() const;

  bool empty() const { return ranges_.empty(); }
  friend bool operator==(const IndexSet&, const IndexSet&) = default;

 private:
  std::vector<Range> ranges_;  // ascending, apart by at least one
};

}  // namespace muster::controllers
