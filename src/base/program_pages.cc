#include "base/program_pages.h"

#include <sys/mman.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace muster {
namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// "7f00-7fff r-xp 00000000 08:01 123  /path": a part of a file that nobody writes to.
std::optional<Range> read_only_part(std::string_view line) {
  if (line.find(" /") == std::string_view::npos) return std::nullopt;
  if (line.find(" r-xp ") == std::string_view::npos &&
      line.find(" r--p ") == std::string_view::npos)
    return std::nullopt;
  Range range;
  const char* const last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, range.begin, 16);
  if (first.ec != std::errc{} || first.ptr == last || *first.ptr != '-') return std::nullopt;
  if (std::from_chars(first.ptr + 1, last, range.end, 16).ec != std::errc{}) return std::nullopt;
  return range;
}

}  // namespace

void release_program_pages() {
  std::ifstream mappings("/proc/self/smaps");
  std::optional<Range> part;
  for (std::string line; std::getline(mappings, line);) {
    const bool is_field = line.find(":  ") != std::string::npos;
    if (!is_field) part = read_only_part(line);
    // Pages that the loader wrote to, before it forbade that, are not in the file.
    const bool is_of_file = line.starts_with("Anonymous:") && line.ends_with(" 0 kB");
    if (!part || !is_of_file) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the kernel names them.
    madvise(reinterpret_cast<void*>(part->begin), part->end - part->begin, MADV_DONTNEED);
    part.reset();
  }
}

}  // namespace muster
