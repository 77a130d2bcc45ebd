#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Compares the arrows that rooms declare in their CMakeLists.txt with the includes in their files.
//
//   - A room may include itself and the rooms its DEPENDS name; its *_test.cc and *_test.h files
//   also
//     those of TEST_DEPENDS. Arrows are direct: what a neighbour depends on is not ours to include.
//   - The exceptions are `base` and `api` with its sub-rooms, the vocabulary everything is written
//   in:
//     they may also be reached through a declared arrow. No other header can be read without them.
//   - A declared arrow is used by some file, points at a room, and is part of no cycle. A room that
//     has no code yet may announce its arrows.
//   - A file belongs to the deepest folder that is a room, so scheduler/cache is not scheduler.
//   - Heavy libraries are included in the rooms behind whose door they stand, and nowhere else.
namespace muster::layout {

// One line of rooms.txt, as cmake/MusterModule.cmake writes it. Arrows are kept as written there:
// "muster::api".
struct Room {
  std::string name;
  std::string folder;  // below src/: "scheduler/cache"
  std::vector<std::string> arrows;
  std::vector<std::string> test_arrows;
};

struct Include {
  std::string file;  // below src/: "watch/hub.cc"
  int line = 0;
  std::string header;   // as written between the quotes or angle brackets
  bool quoted = false;  // "ours" rather than <theirs>
};

// Headers that start with `prefix` are only for files in `folders` or below them.
struct Door {
  std::string_view prefix;
  std::vector<std::string_view> folders;
};

std::span<const Door> doors();

std::vector<Room> parse_rooms(std::string_view text);
// The #include lines of one file's text.
std::vector<Include> parse_includes(std::string_view file, std::string_view text);
// Those of every .h and .cc file below `src`, in the order of their paths.
std::vector<Include> read_includes(const std::filesystem::path& src);

// One sentence per broken rule, each naming the place and the remedy; empty if all is well.
std::vector<std::string> complaints(std::span<const Room> rooms, std::span<const Include> includes);

}  // namespace muster::layout
