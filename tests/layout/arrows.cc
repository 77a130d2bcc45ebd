#include "layout/arrows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace muster::layout {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAlias = "muster::";

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_test(std::string_view file) {
  return file.ends_with("_test.cc") || file.ends_with("_test.h") || file.ends_with("testing.h");
}

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

// The declared arrows as a graph over room names, and what has been seen of their use.
class Layout {
 public:
  explicit Layout(std::span<const Room> rooms) {
    for (const Room& room : rooms) add(room);
    for (const auto& [name, room] : rooms_) resolve(*room);
    find_cycles();
  }

  void see(const Include& include) {
    check_doors(include);
    const Room* from = room_of(include.file);
    if (from != nullptr) with_code_.insert(from->name);
    if (!include.quoted) return;
    if (from == nullptr) {
      complain("src/{} belongs to no room: no folder above it has a muster_module.", include.file);
      return;
    }
    const Room* to = room_of(include.header);
    if (to == nullptr) {
      if (!is_generated(include.header)) {
        complain(
            "src/{}:{} includes \"{}\", which is in no room: write our headers from src/, those of "
            "libraries in angle brackets.",
            include.file, include.line, include.header);
      }
      return;
    }
    if (from != to) check_arrow(include, *from, *to);
  }

  std::vector<std::string> finish() {
    for (const auto& [name, room] : rooms_) {
      if (!with_code_.contains(name)) continue;
      for (const std::string& to : arrows_[name]) check_used(*room, to);
      for (const std::string& to : test_arrows_[name]) {
        if (!used_by_tests_.contains({name, to}))
          complain(
              "room {} declares the test arrow {}{}, but no *_test file uses it: delete it from "
              "TEST_DEPENDS in src/{}/CMakeLists.txt.",
              name, kAlias, to, room->folder);
      }
    }
    return std::move(complaints_);
  }

 private:
  using Names = std::set<std::string, std::less<>>;
  using Arrow = std::pair<std::string, std::string>;

  template <typename... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    complaints_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void add(const Room& room) {
    if (const auto [at, fresh] = folders_.emplace(room.folder, &room); !fresh)
      complain("rooms {} and {} share the folder src/{}: give each its own.", at->second->name,
               room.name, room.folder);
    rooms_.emplace(room.name, &room);
  }

  void resolve(const Room& room) {
    for (const std::string& arrow : room.arrows)
      if (const auto to = target(room, "DEPENDS", arrow)) arrows_[room.name].insert(*to);
    for (const std::string& arrow : room.test_arrows)
      if (const auto to = target(room, "TEST_DEPENDS", arrow)) test_arrows_[room.name].insert(*to);
  }

  std::optional<std::string> target(const Room& room, std::string_view list,
                                    const std::string& arrow) {
    if (!arrow.starts_with(kAlias)) {
      complain(
          "{} of room {} names {}, which is no room: libraries go into LIBRARIES or "
          "TEST_LIBRARIES in src/{}/CMakeLists.txt.",
          list, room.name, arrow, room.folder);
      return std::nullopt;
    }
    std::string to = arrow.substr(kAlias.size());
    if (rooms_.contains(to)) return to;
    complain("{} of room {} names {}, but there is no such room: see src/{}/CMakeLists.txt.", list,
             room.name, arrow, room.folder);
    return std::nullopt;
  }

  // Walks every path of arrows once; an arrow back onto the path in progress closes a cycle.
  void find_cycles() {
    Names done;
    std::vector<std::string> path;
    for (const auto& [name, room] : rooms_) find_cycles_from(name, done, path);
  }
  void find_cycles_from(const std::string& name, Names& done, std::vector<std::string>& path) {
    if (const auto at = std::ranges::find(path, name); at != path.end()) {
      complain("rooms depend on each other in a circle: {} -> {}. Cut one of these arrows.",
               fmt::join(at, path.end(), " -> "), name);
      return;
    }
    if (done.contains(name)) return;
    path.push_back(name);
    for (const std::string& to : arrows_[name]) find_cycles_from(to, done, path);
    path.pop_back();
    done.insert(name);
  }

  const Room* room_of(std::string_view path) const {
    for (std::size_t end = path.rfind('/'); end != std::string_view::npos;
         end = path.rfind('/', end - 1)) {
      if (const auto at = folders_.find(path.substr(0, end)); at != folders_.end())
        return at->second;
      if (end == 0) break;
    }
    return nullptr;
  }

  // Headers that protoc writes into the build tree.
  static bool is_generated(std::string_view header) { return header.ends_with(".pb.h"); }

  void check_arrow(const Include& include, const Room& from, const Room& to) {
    const bool test = is_test(include.file);
    (test ? used_by_tests_ : used_).emplace(from.name, to.name);
    if (arrows_[from.name].contains(to.name)) return;
    if (test && test_arrows_[from.name].contains(to.name)) return;
    if (is_vocabulary(to) && reaches(from.name, to.name, test)) return;
    complain(
        "src/{}:{} includes \"{}\", but room {} has no arrow to {}{}: add it to {} in "
        "src/{}/CMakeLists.txt, or move the line to a room that has it.",
        include.file, include.line, include.header, from.name, kAlias, to.name,
        test ? "TEST_DEPENDS" : "DEPENDS", from.folder);
  }

  static bool is_vocabulary(const Room& room) {
    return is_below(room.folder, "base") || is_below(room.folder, "api");
  }

  bool reaches(const std::string& from, const std::string& to, bool with_test_arrows) {
    Names seen;
    std::vector<std::string> open{from};
    if (with_test_arrows)
      open.insert(open.end(), test_arrows_[from].begin(), test_arrows_[from].end());
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      if (name == to) return true;
      if (seen.insert(name).second)
        open.insert(open.end(), arrows_[name].begin(), arrows_[name].end());
    }
    return false;
  }

  void check_used(const Room& room, const std::string& to) {
    if (used_.contains({room.name, to})) return;
    if (used_by_tests_.contains({room.name, to}))
      complain(
          "room {} uses {}{} in its tests only: move it from DEPENDS to TEST_DEPENDS in "
          "src/{}/CMakeLists.txt.",
          room.name, kAlias, to, room.folder);
    else
      complain(
          "room {} declares an arrow to {}{}, but none of its files uses it: delete it from "
          "DEPENDS in src/{}/CMakeLists.txt.",
          room.name, kAlias, to, room.folder);
  }

  void check_doors(const Include& include) {
    for (const Door& door : doors()) {
      if (!include.header.starts_with(door.prefix)) continue;
      const auto holds = [&](std::string_view folder) { return is_below(include.file, folder); };
      if (!std::ranges::any_of(door.folders, holds))
        complain(
            "src/{}:{} includes <{}>, which stands behind the door of src/{}: go through that "
            "room's headers.",
            include.file, include.line, include.header, fmt::join(door.folders, " and src/"));
    }
  }

  std::map<std::string, const Room*, std::less<>> rooms_;    // by name
  std::map<std::string, const Room*, std::less<>> folders_;  // by folder
  std::map<std::string, Names> arrows_;                      // by name, resolved
  std::map<std::string, Names> test_arrows_;
  Names with_code_;
  std::set<Arrow> used_;
  std::set<Arrow> used_by_tests_;
  std::vector<std::string> complaints_;
};

}  // namespace

std::span<const Door> doors() {
  static const std::vector<Door> kDoors = {
      {"rocksdb/", {"store/engines"}},
      {"grpc", {"store/engines"}},
      {"google/protobuf/", {"store/engines"}},
      {"boost/asio", {"server/http"}},
      {"boost/beast", {"server/http"}},
      {"nghttp2/", {"server/http"}},
      {"openssl/", {"server/http", "server/access"}},
      {"curl/", {"client"}},
      {"simdjson", {"api"}},
      {"boost/json", {"api"}},
      {"yaml.h", {"api"}},
      {"hwy/", {"scheduler/cache", "scheduler/placement"}},
      {"spdlog/", {"base"}},
      {"prometheus/", {"base"}},
      {"CLI/", {"app"}},
      {"mimalloc", {"app"}},
  };
  return kDoors;
}

std::vector<Room> parse_rooms(std::string_view text) {
  std::vector<Room> rooms;
  for (const std::string& line : split(text, '\n')) {
    std::vector<std::string> fields = split(line, '|');
    if (fields.size() != 4) continue;
    rooms.push_back({.name = fields[0],
                     .folder = fields[1],
                     .arrows = words(fields[2]),
                     .test_arrows = words(fields[3])});
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

std::vector<std::string> complaints(std::span<const Room> rooms,
                                    std::span<const Include> includes) {
  Layout layout(rooms);
  for (const Include& include : includes) layout.see(include);
  return layout.finish();
}

}  // namespace muster::layout
