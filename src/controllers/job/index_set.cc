#include "controllers/job/index_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace muster::controllers {
namespace {

using Range = IndexSet::Range;

// Reads a number at the front of `text` and removes it.
std::optional<std::int32_t> take_number(std::string_view& text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// Puts together what touches; `ranges` are sorted.
std::vector<Range> joined(const std::vector<Range>& ranges) {
  std::vector<Range> out;
  for (const Range& range : ranges) {
    if (!out.empty() && range.first <= std::int64_t{out.back().last} + 1)
      out.back().last = std::max(out.back().last, range.last);
    else
      out.push_back(range);
  }
  return out;
}

}  // namespace

IndexSet::IndexSet(std::vector<Range> ranges) {
  std::ranges::sort(ranges);
  ranges_ = joined(ranges);
}

IndexSet IndexSet::parse(std::string_view text, std::int32_t end) {
  std::vector<Range> ranges;
  while (!text.empty()) {
    const std::optional<std::int32_t> first = take_number(text);
    if (!first) break;
    std::optional<std::int32_t> last = first;
    if (take(text, '-')) last = take_number(text);
    if (!last || *last < *first) break;
    if (*first < end) ranges.push_back({*first, std::min(*last, end - 1)});
    if (!take(text, ',')) break;
  }
  return IndexSet(std::move(ranges));
}

IndexSet IndexSet::of(const std::vector<std::int32_t>& indexes) {
  std::vector<Range> ranges;
  ranges.reserve(indexes.size());
  for (const std::int32_t index : indexes) ranges.push_back({index, index});
  return IndexSet(std::move(ranges));
}

IndexSet IndexSet::with(const IndexSet& other) const {
  std::vector<Range> all;
  all.reserve(ranges_.size() + other.ranges_.size());
  std::ranges::merge(ranges_, other.ranges_, std::back_inserter(all));
  IndexSet out;
  out.ranges_ = joined(all);
  return out;
}

bool IndexSet::contains(std::int32_t index) const {
  const auto after = std::ranges::upper_bound(ranges_, index, {}, &Range::first);
  return after != ranges_.begin() && std::prev(after)->last >= index;
}

std::int64_t IndexSet::size() const {
  std::int64_t size = 0;
  for (const Range& range : ranges_) size += std::int64_t{range.last} - range.first + 1;
  return size;
}

std::int64_t IndexSet::shared_with(const IndexSet& other) const {
  std::int64_t shared = 0;
  auto theirs = other.ranges_.begin();
  for (const Range& range : ranges_) {
    while (theirs != other.ranges_.end() && theirs->last < range.first) ++theirs;
    for (auto at = theirs; at != other.ranges_.end() && at->first <= range.last; ++at)
      shared += std::int64_t{std::min(at->last, range.last)} - std::max(at->first, range.first) + 1;
  }
  return shared;
}

std::vector<std::int32_t> IndexSet::first_missing(std::int64_t count, std::int32_t end) const {
  std::vector<std::int32_t> out;
  auto next = ranges_.begin();
  for (std::int32_t index = 0; index < end && std::ssize(out) < count;) {
    if (next != ranges_.end() && next->first <= index) {
      if (next->last >= end - 1) break;
      index = next->last + 1;
      ++next;
    } else {
      out.push_back(index++);
    }
  }
  return out;
}

std::string IndexSet::text() const {
  std::string out;
  for (const Range& range : ranges_) {
    if (!out.empty()) out += ',';
    const std::int64_t more = std::int64_t{range.last} - range.first;
    if (more == 0)
      fmt::format_to(std::back_inserter(out), "{}", range.first);
    else
      fmt::format_to(std::back_inserter(out), "{}{}{}", range.first, more == 1 ? ',' : '-',
                     range.last);
  }
  return out;
}

}  // namespace muster::controllers
