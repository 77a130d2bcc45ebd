#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// The tree as it is: rooms as their CMakeLists.txt declare and link them, includes as files have
// them.
namespace muster::layout {

// One line of rooms.txt, as cmake/MusterModule.cmake writes it. Arrows are kept as written there:
// "muster::api".
struct Room {
  std::string name;
  std::string folder;               // below src/: "scheduler/cache"
  std::vector<std::string> arrows;  // DEPENDS
  std::vector<std::string> test_arrows;
  std::vector<std::string> link_only;  // LINK_ONLY: rooms that are linked and never included
  std::vector<std::string> test_link_only;
  std::string because;              // why; needed as soon as there are any
  std::vector<std::string> linked;  // every room CMake links into the library, however it got there
  std::vector<std::string> test_linked;  // the same of the test binary
};

struct Include {
  std::string file;  // below src/: "watch/hub.cc"
  int line = 0;
  std::string header;   // as written between the quotes or angle brackets
  bool quoted = false;  // "ours" rather than <theirs>
};

// Fields are separated by bars, words of a list by blanks; missing fields are empty.
std::vector<Room> parse_rooms(std::string_view text);
// The #include lines of one file's text.
std::vector<Include> parse_includes(std::string_view file, std::string_view text);
// Those of every .h and .cc file below `src`, in the order of their paths.
std::vector<Include> read_includes(const std::filesystem::path& src);

}  // namespace muster::layout
