#include "layout/tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace muster::layout {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> parts = split(text, ' ');
  std::erase(parts, "");
  return parts;
}

std::string_view skip_blanks(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

}  // namespace

std::vector<Room> parse_rooms(std::string_view text) {
  std::vector<Room> rooms;
  for (const std::string& line : split(text, '\n')) {
    std::vector<std::string> fields = split(line, '|');
    if (fields.size() < 4) continue;
    fields.resize(9);
    rooms.push_back({.name = fields[0],
                     .folder = fields[1],
                     .arrows = words(fields[2]),
                     .test_arrows = words(fields[3]),
                     .link_only = words(fields[4]),
                     .test_link_only = words(fields[5]),
                     .because = fields[6],
                     .linked = words(fields[7]),
                     .test_linked = words(fields[8])});
  }
  return rooms;
}

std::vector<Include> parse_includes(std::string_view file, std::string_view text) {
  std::vector<Include> includes;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    std::string_view rest = skip_blanks(line);
    if (!rest.starts_with('#')) continue;
    rest = skip_blanks(rest.substr(1));
    if (!rest.starts_with("include")) continue;
    rest = skip_blanks(rest.substr(std::string_view("include").size()));
    if (!rest.starts_with('"') && !rest.starts_with('<')) continue;
    const bool quoted = rest.front() == '"';
    rest.remove_prefix(1);
    includes.push_back({.file = std::string(file),
                        .line = number,
                        .header = std::string(rest.substr(0, rest.find(quoted ? '"' : '>'))),
                        .quoted = quoted});
  }
  return includes;
}

std::vector<Include> read_includes(const fs::path& src) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(src)) {
    const fs::path& path = entry.path();
    if (entry.is_regular_file() && (path.extension() == ".h" || path.extension() == ".cc"))
      files.push_back(path);
  }
  std::ranges::sort(files);

  std::vector<Include> includes;
  for (const fs::path& path : files) {
    std::ifstream in(path);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::ranges::move(parse_includes(path.lexically_relative(src).generic_string(), text),
                      std::back_inserter(includes));
  }
  return includes;
}

}  // namespace muster::layout
