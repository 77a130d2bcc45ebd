#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

#include "api/object.h"

namespace muster::client {

// The newest version we were told of every object of one kind, so that a change can be compared
// with what it replaced. Keyed by namespace and name as they stand inside the objects; never
// iterated.
class Mirror {
 public:
  // Null if there is none.
  api::ObjectPtr find(std::string_view name_space, std::string_view name) const {
    const auto at = objects_.find(Key{name_space, name});
    return at == objects_.end() ? nullptr : at->second;
  }
  // Both return what was known before, or null.
  api::ObjectPtr put(const api::ObjectPtr& object) {
    api::ObjectPtr before = remove(*object);
    objects_.emplace(key_of(*object), object);
    return before;
  }
  api::ObjectPtr remove(const api::Object& object) {
    const auto at = objects_.find(key_of(object));
    if (at == objects_.end()) return nullptr;
    // Moved out first: the key lies inside the object.
    api::ObjectPtr known = std::move(at->second);
    objects_.erase(at);
    return known;
  }
  std::size_t size() const { return objects_.size(); }

 private:
  struct Key {
    std::string_view name_space;
    std::string_view name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::hash<std::string_view> hash;
      return hash(key.name) * 31 + hash(key.name_space);
    }
  };
  static Key key_of(const api::Object& object) {
    return {object.meta().name_space, object.meta().name};
  }

  boost::unordered_flat_map<Key, api::ObjectPtr, Hash> objects_;
};

}  // namespace muster::client
