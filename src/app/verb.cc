#include "app/verb.h"

#include <fmt/format.h>

#include <cstdio>

namespace muster::app {

int refuse(std::string_view sentence) {
  fmt::print(stderr, "muster: {}\n", sentence);
  return kRefused;
}

}  // namespace muster::app
