#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "scheduler/cache/text_hash.h"

namespace muster::scheduler {

// Numbers for texts, as long as somebody uses them; reused afterwards.
class TextTable {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = 0xffffffff;

  TextTable() = default;
  TextTable(const TextTable&) = delete;
  TextTable& operator=(const TextTable&) = delete;

  Id use(std::string_view text) {
    if (const auto at = ids_.find(text); at != ids_.end()) {
      ++texts_[at->second].users;
      return at->second;
    }
    if (free_.empty()) {
      free_.push_back(static_cast<Id>(texts_.size()));
      texts_.emplace_back();
    }
    const Id id = free_.back();
    free_.pop_back();
    texts_[id] = {.text = std::string(text), .users = 1};
    ids_.emplace(texts_[id].text, id);
    return id;
  }
  void release(Id id) {
    CHECK(texts_[id].users > 0);
    if (--texts_[id].users > 0) return;
    ids_.erase(std::string_view(texts_[id].text));
    texts_[id] = {};
    free_.push_back(id);
  }
  // kNone if nobody uses it.
  Id find(std::string_view text) const {
    const auto at = ids_.find(text);
    return at == ids_.end() ? kNone : at->second;
  }
  std::size_t size() const { return ids_.size(); }

 private:
  struct Entry {
    std::string text = {};
    std::uint32_t users = 0;
  };

  std::deque<Entry> texts_;  // by id; a text stays where it is, since the keys point to it
  boost::unordered_flat_map<std::string_view, Id, TextHash, std::equal_to<>> ids_;
  std::vector<Id> free_;
};

}  // namespace muster::scheduler
