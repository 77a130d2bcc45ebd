#include "layout/arrows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace muster::layout {
namespace {

constexpr std::string_view kAlias = "muster::";

using Names = std::set<std::string, std::less<>>;
using Graph = std::map<std::string, Names, std::less<>>;

// Finds circles: walks every path once; an arrow back onto the path in progress closes one.
class CycleFinder {
 public:
  explicit CycleFinder(const Graph& graph) : graph_(graph) {
    for (const auto& [name, targets] : graph) walk(name);
  }
  // Each as "a -> b -> a".
  std::vector<std::string> found() && { return std::move(found_); }

 private:
  void walk(const std::string& name) {
    if (const auto at = std::ranges::find(path_, name); at != path_.end()) {
      found_.push_back(fmt::format("{} -> {}", fmt::join(at, path_.end(), " -> "), name));
      return;
    }
    const auto targets = graph_.find(name);
    if (targets == graph_.end() || done_.contains(name)) return;
    path_.push_back(name);
    for (const std::string& to : targets->second) walk(to);
    path_.pop_back();
    done_.insert(name);
  }

  const Graph& graph_;
  Names done_;
  std::vector<std::string> path_;
  std::vector<std::string> found_;
};

std::string folder_of(std::string_view file) {
  return std::string(file.substr(0, file.rfind('/')));
}

// A header and its source are one: "store/put" for store/put.h and store/put.cc.
std::string unit_of(std::string_view file) { return std::string(file.substr(0, file.rfind('.'))); }

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_test(std::string_view file) {
  return file.ends_with("_test.cc") || file.ends_with("_test.h") || file.ends_with("testing.h");
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
    if (from != to)
      check_arrow(include, *from, *to);
    else
      note_inside(include);
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
    for (const auto& [name, room] : rooms_) check_links(*room);
    for (const std::string& cycle : CycleFinder(folder_arrows_).found())
      complain("folders of one room include each other in a circle: {}. Cut one of these arrows.",
               cycle);
    for (const std::string& cycle : CycleFinder(file_arrows_).found())
      complain(
          "files of one folder depend on each other in a circle: {}. Move what both need to a "
          "header of its own, or hand it in.",
          cycle);
    return std::move(complaints_);
  }

 private:
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
    for (const std::string& arrow : room.link_only)
      if (const auto to = target(room, "LINK_ONLY", arrow)) link_only_[room.name].insert(*to);
    for (const std::string& arrow : room.test_link_only)
      static_cast<void>(target(room, "TEST_LINK_ONLY", arrow));
    if (room.because.empty() && !(room.link_only.empty() && room.test_link_only.empty()))
      complain(
          "room {} links rooms that it never includes and does not say why: add BECAUSE in "
          "src/{}/CMakeLists.txt.",
          room.name, room.folder);
  }

  // What CMake links is what the room declares, whichever command linked it.
  void check_links(const Room& room) {
    const auto declared = [](const std::vector<std::string>& list, const std::string& arrow) {
      return std::ranges::find(list, arrow) != list.end();
    };
    for (const std::string& arrow : room.linked)
      if (!declared(room.arrows, arrow) && !declared(room.link_only, arrow))
        complain(
            "room {} links {} without declaring it: name it in DEPENDS, or in LINK_ONLY if no "
            "include leads there, in src/{}/CMakeLists.txt.",
            room.name, arrow, room.folder);
    for (const std::string& arrow : room.test_linked)
      if (arrow != std::string(kAlias) + room.name && !declared(room.test_arrows, arrow) &&
          !declared(room.test_link_only, arrow))
        complain(
            "the tests of room {} link {} without declaring it: name it in TEST_DEPENDS, or in "
            "TEST_LINK_ONLY if no include leads there, in src/{}/CMakeLists.txt.",
            room.name, arrow, room.folder);
  }

  // Files of one folder, and folders of one room; into which of those tests reach is their own
  // business.
  void note_inside(const Include& include) {
    std::string from = folder_of(include.file);
    std::string to = folder_of(include.header);
    if (from == to) {
      if (unit_of(include.file) != unit_of(include.header))
        file_arrows_[unit_of(include.file)].insert(unit_of(include.header));
    } else if (!is_test(include.file)) {
      folder_arrows_[std::move(from)].insert(std::move(to));
    }
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

  void find_cycles() {
    Graph linked = arrows_;
    for (const auto& [name, targets] : link_only_)
      linked[name].insert(targets.begin(), targets.end());
    for (const std::string& cycle : CycleFinder(linked).found())
      complain("rooms depend on each other in a circle: {}. Cut one of these arrows.", cycle);
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
    if (!test && link_only_[from.name].contains(to.name)) {
      complain(
          "src/{}:{} includes \"{}\", so {}{} is no link-only arrow: move it to DEPENDS in "
          "src/{}/CMakeLists.txt.",
          include.file, include.line, include.header, kAlias, to.name, from.folder);
      return;
    }
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
  Graph arrows_;                                             // by name, resolved
  Graph test_arrows_;
  Graph link_only_;
  Graph folder_arrows_;  // between folders of one room
  Graph file_arrows_;    // between units of one folder
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
      {"nghttp2/", {"server/http", "client/remote"}},
      {"openssl/", {"base", "client/https", "client/remote", "server/http", "server/access"}},
      {"re2/", {"api/values"}},
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

std::vector<std::string> complaints(std::span<const Room> rooms,
                                    std::span<const Include> includes) {
  Layout layout(rooms);
  for (const Include& include : includes) layout.see(include);
  return layout.finish();
}

}  // namespace muster::layout
