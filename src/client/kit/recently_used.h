#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>

namespace muster::client {

// A bounded map from text that forgets the least recently used entries.
template <typename T>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t capacity) : capacity_(capacity) {}

  // The value of `key`, made if missing; now the most recently used one.
  T& use(std::string_view key) {
    if (const auto at = index_.find(key); at != index_.end()) {
      entries_.splice(entries_.begin(), entries_, at->second);
      return at->second->second;
    }
    if (entries_.size() >= capacity_) drop(std::prev(entries_.end()));
    entries_.emplace_front(std::string(key), T{});
    index_.emplace(std::string_view(entries_.front().first), entries_.begin());
    return entries_.front().second;
  }
  void erase(std::string_view key) {
    if (const auto at = index_.find(key); at != index_.end()) drop(at->second);
  }
  // Forgets the least recently used ones, up to the first for which this is false.
  template <typename IsOld>
  void drop_while(const IsOld& is_old) {
    while (!entries_.empty() && is_old(std::as_const(entries_.back().second)))
      drop(std::prev(entries_.end()));
  }
  std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, T>>;

  void drop(typename Entries::iterator entry) {
    index_.erase(std::string_view(entry->first));
    entries_.erase(entry);
  }

  const std::size_t capacity_;
  Entries entries_;  // the most recently used one first
  boost::unordered_flat_map<std::string_view, typename Entries::iterator> index_;
};

}  // namespace muster::client
