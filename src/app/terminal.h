#pragma once

#include <cstddef>

namespace muster::app {

// The terminal that standard output goes to; zeros if it goes elsewhere.
struct TerminalSize {
  std::size_t columns = 0;
  std::size_t lines = 0;
};
TerminalSize terminal_size();

// Whether colours may be written to standard output: it is a terminal, not a dumb one, and NO_COLOR
// is not set.
bool terminal_has_colours();

}  // namespace muster::app
