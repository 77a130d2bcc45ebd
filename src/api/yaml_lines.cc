#include "api/yaml_lines.h"

#include <yaml.h>

#include <string>
#include <vector>

#include "api/json_bounds.h"
#include "base/check.h"

namespace muster::api {
namespace {

// Walks the events of a text and keeps, for each path, the line of the longest part of it.
class LineFinder {
 public:
  LineFinder(std::string_view text, std::span<const std::string> paths) {
    for (const std::string& path : paths) wanted_.push_back({.path = path});
    CHECK_THAT(yaml_parser_initialize(&parser_) == 1, "no memory for a YAML parser");
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());  // NOLINT: libyaml's
    yaml_parser_set_input_string(&parser_, bytes, text.size());
  }
  ~LineFinder() { yaml_parser_delete(&parser_); }
  LineFinder(const LineFinder&) = delete;
  LineFinder& operator=(const LineFinder&) = delete;

  std::vector<std::optional<std::size_t>> find() {
    yaml_event_type_t type = YAML_NO_EVENT;
    while (type != YAML_STREAM_END_EVENT) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) != 1) break;
      type = event.type;
      apply(event);
      yaml_event_delete(&event);
      if (levels_.size() > kJsonDepthMax) break;
    }
    std::vector<std::optional<std::size_t>> lines;
    for (const Wanted& one : wanted_) lines.push_back(one.line);
    return lines;
  }

 private:
  struct Wanted {
    std::string_view path;
    std::size_t longest = 0;
    std::optional<std::size_t> line = {};
  };
  // An open mapping or sequence, and what of it comes next.
  struct Level {
    std::string path;
    bool is_sequence = false;
    std::size_t item = 0;
    bool has_key = false;  // the next node is the value of `key`
    std::string key = {};
  };

  void apply(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_MAPPING_START_EVENT: open(event, false); break;
      case YAML_SEQUENCE_START_EVENT: open(event, true); break;
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        if (!levels_.empty()) levels_.pop_back();
        break;
      case YAML_SCALAR_EVENT: scalar(event); break;
      case YAML_ALIAS_EVENT: next_path(event); break;
      default: break;
    }
  }

  void open(const yaml_event_t& event, bool is_sequence) {
    std::string path = next_path(event);
    levels_.push_back({.path = std::move(path), .is_sequence = is_sequence});
  }

  void scalar(const yaml_event_t& event) {
    if (!levels_.empty() && !levels_.back().is_sequence && !levels_.back().has_key) {
      const auto* bytes =
          reinterpret_cast<const char*>(event.data.scalar.value);  // NOLINT: libyaml's
      levels_.back().key.assign(bytes, event.data.scalar.length);
      levels_.back().has_key = true;
      const Level& level = levels_.back();
      meet(level.path.empty() ? level.key : level.path + "." + level.key, event);
      return;
    }
    next_path(event);
  }

  // The path of the value that begins here.
  std::string next_path(const yaml_event_t& event) {
    if (levels_.empty()) {
      meet("", event);
      return "";
    }
    Level& level = levels_.back();
    if (level.is_sequence) {
      std::string path = level.path + "[" + std::to_string(level.item++) + "]";
      meet(path, event);
      return path;
    }
    level.has_key = false;
    return level.path.empty() ? level.key : level.path + "." + level.key;
  }

  void meet(const std::string& path, const yaml_event_t& event) {
    for (Wanted& one : wanted_) {
      if (!one.path.starts_with(path) || (one.line && path.size() < one.longest)) continue;
      const bool is_whole = path.empty() || path.size() == one.path.size() ||
                            one.path[path.size()] == '.' || one.path[path.size()] == '[';
      if (!is_whole) continue;
      one.longest = path.size();
      one.line = event.start_mark.line + 1;
    }
  }

  std::vector<Wanted> wanted_;
  yaml_parser_t parser_{};
  std::vector<Level> levels_;
};

}  // namespace

std::optional<std::size_t> yaml_line_of(std::string_view text, std::string_view path) {
  const std::string one(path);
  return yaml_lines_of(text, {&one, 1}).front();
}

std::vector<std::optional<std::size_t>> yaml_lines_of(std::string_view text,
                                                      std::span<const std::string> paths) {
  return LineFinder(text, paths).find();
}

}  // namespace muster::api
