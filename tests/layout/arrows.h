#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout/tree.h"

// Compares the arrows that rooms declare in their CMakeLists.txt with the includes in their files
// and with what CMake links.
//
//   - A room may include itself and the rooms its DEPENDS name; its *_test.cc, *_test.h and
//     *testing.h files also those of TEST_DEPENDS. Arrows are direct: what a neighbour depends on
//     is not ours to include.
//   - The exceptions are `base` and `api` with its sub-rooms, the vocabulary everything is written
//     in: they may also be reached through a declared arrow. No other header can be read without
//     them.
//   - A declared arrow is used by some file, points at a room, and is part of no cycle. A room that
//     has no code yet may announce its arrows.
//   - A room that is linked and never included is named by LINK_ONLY, with the reason in BECAUSE;
//     nothing else may be linked past DEPENDS.
//   - The folders inside a room do not include each other in a circle either (tests aside).
//   - Nor do the files of a folder, a header and its source taken as one: what put.cc needs, who
//     includes put.h needs.
//   - A file belongs to the deepest folder that is a room, so scheduler/cache is not scheduler.
//   - Heavy libraries are included in the rooms behind whose door they stand, and nowhere else.
namespace muster::layout {

// Headers that start with `prefix` are only for files in `folders` or below them.
struct Door {
  std::string_view prefix;
  std::vector<std::string_view> folders;
};

std::span<const Door> doors();

// One sentence per broken rule, each naming the place and the remedy; empty if all is well.
std::vector<std::string> complaints(std::span<const Room> rooms, std::span<const Include> includes);

}  // namespace muster::layout
