#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace muster::scheduler {

// Looks up texts without making strings of them. Eight bytes at a time and inline: most texts are
// uids and names, and a pod that is bound is looked up several times.
struct TextHash {
  using is_transparent = void;

  std::size_t operator()(std::string_view text) const {
    std::uint64_t hash = text.size();
    std::uint64_t word = 0;
    for (; text.size() >= sizeof(word); text.remove_prefix(sizeof(word))) {
      std::memcpy(&word, text.data(), sizeof(word));
      hash = mixed(hash, word);
    }
    word = 0;
    for (const char byte : text) word = (word << 8U) | static_cast<unsigned char>(byte);
    return mixed(hash, word);
  }

 private:
  static std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 32U);
  }
};

}  // namespace muster::scheduler
