#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace muster::server {

// Keeps values that were made from a state with a stamp: they are valid as long as the stamp is the
// same. Bounded in bytes; what was not used lately goes first. Any thread.
template <typename Value>
class StampedCache {
 public:
  using ValuePtr = std::shared_ptr<const Value>;

  explicit StampedCache(std::size_t bytes_max) : half_max_(bytes_max / 2) {}

  // Whether a value of that size could be kept at all.
  bool fits(std::size_t bytes) const { return bytes + kEntryBytes <= half_max_; }
  // Null if there is none of that stamp.
  ValuePtr find(const std::string& key, std::int64_t stamp) {
    const std::lock_guard lock(mutex_);
    if (const auto at = young_.find(key); at != young_.end())
      return at->second.stamp == stamp ? at->second.value : nullptr;
    const auto at = old_.find(key);
    if (at == old_.end() || at->second.stamp != stamp) return nullptr;
    const Entry entry = at->second;
    put_young(key, entry);
    return entry.value;
  }
  void put(const std::string& key, std::int64_t stamp, ValuePtr value, std::size_t bytes) {
    if (!fits(bytes)) return;
    const std::lock_guard lock(mutex_);
    put_young(key, {.stamp = stamp, .value = std::move(value), .bytes = bytes + kEntryBytes});
  }

 private:
  struct Entry {
    std::int64_t stamp = 0;
    ValuePtr value;
    std::size_t bytes = 0;
  };
  using Entries = std::unordered_map<std::string, Entry>;
  static constexpr std::size_t kEntryBytes = 512;  // the key and what surrounds the value

  void put_young(const std::string& key, Entry entry) {
    if (young_bytes_ + entry.bytes > half_max_) {
      old_ = std::exchange(young_, {});
      young_bytes_ = 0;
    }
    Entry& kept = young_[key];
    young_bytes_ += entry.bytes - kept.bytes;
    kept = std::move(entry);
  }

  const std::size_t half_max_;
  std::mutex mutex_;
  // Under the mutex. What is asked for becomes young; once the young fill their half, they become
  // the old ones, and the old ones are dropped.
  Entries young_;
  Entries old_;
  std::size_t young_bytes_ = 0;
};

}  // namespace muster::server
