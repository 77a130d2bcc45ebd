#pragma once

#include <string_view>

namespace muster::app {

// "0.1.0".
std::string_view version();

}  // namespace muster::app
