#pragma once

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace muster::store {

// Hashes store keys; text and views of text alike, so that a lookup never copies the key.
struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const {
    return boost::hash<std::string_view>()(key);
  }
};

// For the one hot question, "what is stored at this key?". Its order means nothing: sort after
// iterating.
template <typename T>
using KeyMap = boost::unordered_flat_map<std::string, T, KeyHash, std::equal_to<>>;

}  // namespace muster::store
