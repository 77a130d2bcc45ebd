#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cache/column.h"
#include "scheduler/cache/copying.h"
#include "scheduler/cache/ids.h"
#include "scheduler/cache/text_hash.h"

namespace muster::scheduler {

// The value of one label on every row. Takes no memory while no row has one: pods may ask for keys
// that no node has.
class LabelValues {
 public:
  LabelValueId operator[](NodeId node) const {
    return present_ == 0 ? LabelValueId::Absent : values_[node];
  }
  // Grows to hold `rows` rows; new ones have no value.
  void resize(std::size_t rows) {
    rows_ = rows;
    if (present_ > 0) values_.resize(rows);
  }
  // Returns the value that the row had.
  LabelValueId set(NodeId node, LabelValueId value) {
    const LabelValueId before = (*this)[node];
    if (before == value) return before;
    if (before == LabelValueId::Absent && present_++ == 0) values_.resize(rows_);
    values_[node] = value;
    if (value == LabelValueId::Absent && --present_ == 0) values_ = {};
    return before;
  }

 private:
  Column<LabelValueId> values_;
  std::size_t rows_ = 0;
  std::size_t present_ = 0;  // rows that have a value
};

// One label key of all nodes, values interned. Kept for the keys that somebody asked for.
struct LabelColumn {
  std::string key;
  LabelValues values;
  std::vector<std::string> names;  // by id; the first stands for "absent"
  boost::unordered_flat_map<std::string, LabelValueId, TextHash, std::equal_to<>> ids;
  // Grows whenever the values are renumbered, because many are gone. New values only add
  // numbers.
  std::uint64_t numbering = 0;

  // The other way round, once somebody has asked for it: the living nodes by value, in no order.
  // At most 8 bytes a row, and a list for each value.
  struct Index {
    std::vector<std::vector<NodeId>> nodes;  // by value; that of "absent" stays empty
    Column<std::uint32_t> position;          // of a row in its list
  };
  NotCopied<std::optional<Index>> index;
  // How many use it: classes, and LabelHolds. Without any it is dropped, unless it is kept for
  // good.
  NotCopied<std::uint32_t> users;
  bool is_kept = false;
};

}  // namespace muster::scheduler
