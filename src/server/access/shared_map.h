#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::server {

// A map from texts, in parts that its versions share: a copy costs a pointer per part, and a change
// the copy of one part, however large the map is. Other threads may read older versions at the same
// time; a version is changed by one thread only, before others see it.
template <typename Value>
class SharedMap {
 public:
  SharedMap() : parts_(kParts), own_(kParts, false) {}
  SharedMap(const SharedMap& other) : parts_(other.parts_), own_(kParts, false) {}
  SharedMap& operator=(const SharedMap&) = delete;
  ~SharedMap() = default;

  // Null if there is none.
  const Value* find(std::string_view key) const {
    const auto& part = parts_[place(key)];
    if (part == nullptr) return nullptr;
    const auto at = part->find(key);
    return at == part->end() ? nullptr : &at->second;
  }
  // To be changed; made if there is none.
  Value& edit(const std::string& key) { return own_part(key)[key]; }
  void erase(const std::string& key) { own_part(key).erase(key); }

 private:
  using Part = std::map<std::string, Value, std::less<>>;
  static constexpr std::size_t kParts = 512;
  static std::size_t place(std::string_view key) {
    return std::hash<std::string_view>()(key) % kParts;
  }
  Part& own_part(std::string_view key) {
    const std::size_t at = place(key);
    if (!own_[at]) parts_[at] = std::make_shared<Part>(parts_[at] ? *parts_[at] : Part());
    own_[at] = true;
    return *parts_[at];
  }

  std::vector<std::shared_ptr<Part>> parts_;
  std::vector<bool> own_;  // made by this version, which may change them
};

}  // namespace muster::server
