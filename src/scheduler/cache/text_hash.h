#pragma once

#include <functional>
#include <string_view>

namespace muster::scheduler {

// Looks up texts without making strings of them.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

}  // namespace muster::scheduler
