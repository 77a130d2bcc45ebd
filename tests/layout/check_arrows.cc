// check_arrows SRC ROOMS_TXT: compares the declared arrows with the includes in the real tree,
// prints what is wrong and ends with 1 if anything is.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "layout/arrows.h"

int main(int argc, char** argv) {
  using namespace muster::layout;
  if (argc != 3) {
    fmt::print(stderr, "usage: check_arrows SRC ROOMS_TXT\n");
    return 2;
  }
  std::ifstream in(argv[2]);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto rooms = parse_rooms(text);
  const auto includes = read_includes(argv[1]);
  if (rooms.empty() || includes.empty()) {
    fmt::print(stderr, "{} rooms in {}, {} includes below {}: nothing to compare\n", rooms.size(),
               argv[2], includes.size(), argv[1]);
    return 2;
  }
  const auto found = complaints(rooms, includes);
  for (const std::string& complaint : found) fmt::print("{}\n", complaint);
  fmt::print("{} rooms, {} includes, {} complaints\n", rooms.size(), includes.size(), found.size());
  return found.empty() ? 0 : 1;
}
