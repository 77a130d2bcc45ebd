#pragma once

#include <string_view>

namespace muster::api {

// One column of a Table; priority 1 is shown by -o wide only.
struct Column {
  std::string_view name;
  std::string_view type = "string";
  std::string_view format = {};
  std::string_view description = {};
  int priority = 0;
};

}  // namespace muster::api
