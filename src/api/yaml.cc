#include "api/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "api/json_bounds.h"
#include "api/place.h"
#include "api/yaml_scalar.h"
#include "base/check.h"

namespace muster::api {
namespace {

// What a value costs in memory beyond its text, about.
constexpr std::size_t kNodeBytes = 48;
// libyaml compares each tag directive with all before it.
constexpr std::size_t kTagDirectivesMax = 100;

std::size_t tag_directives(std::string_view text) {
  std::size_t count = text.starts_with("%TAG") ? 1 : 0;
  for (std::size_t at = text.find("\n%TAG"); at != std::string_view::npos;
       at = text.find("\n%TAG", at + 1))
    ++count;
  return count;
}

class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  yaml_event_t* get() { return &event_; }
  yaml_event_type_t type() const { return event_.type; }
  std::string_view scalar() const {
    return {bytes(event_.data.scalar.value), event_.data.scalar.length};
  }
  bool is_plain() const { return event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }
  std::string anchor() const {
    switch (event_.type) {
      case YAML_SCALAR_EVENT: return text(event_.data.scalar.anchor);
      case YAML_SEQUENCE_START_EVENT: return text(event_.data.sequence_start.anchor);
      case YAML_MAPPING_START_EVENT: return text(event_.data.mapping_start.anchor);
      case YAML_ALIAS_EVENT: return text(event_.data.alias.anchor);
      default: return {};
    }
  }
  bool has_anchor() const {
    switch (event_.type) {
      case YAML_SCALAR_EVENT: return event_.data.scalar.anchor != nullptr;
      case YAML_SEQUENCE_START_EVENT: return event_.data.sequence_start.anchor != nullptr;
      case YAML_MAPPING_START_EVENT: return event_.data.mapping_start.anchor != nullptr;
      default: return false;
    }
  }
  std::string tag() const {
    return event_.type == YAML_SCALAR_EVENT ? text(event_.data.scalar.tag) : std::string();
  }

 private:
  static const char* bytes(const yaml_char_t* text) {
    return reinterpret_cast<const char*>(text);  // NOLINT: libyaml's bytes are unsigned
  }
  static std::string text(const yaml_char_t* text) {
    return text == nullptr ? std::string() : std::string(bytes(text));
  }

  yaml_event_t event_{};
};

Result<Json> resolve_scalar(const Event& event) {
  const std::string tag = event.tag();
  const bool is_text = tag == "!" || tag == YAML_STR_TAG || (tag.empty() && !event.is_plain());
  if (is_text) return Json(boost::json::string(event.scalar()));
  if (tag.empty() || tag == YAML_INT_TAG || tag == YAML_FLOAT_TAG || tag == YAML_BOOL_TAG ||
      tag == YAML_NULL_TAG)
    return resolve_plain_scalar(event.scalar());
  return fail(Reason::BadRequest, "error converting YAML to JSON: unsupported tag {}",
              shortened(tag));
}

std::string key_text(const Json& key) {
  return key.is_string() ? std::string(key.get_string()) : to_text(key);
}

class Loader {
 public:
  explicit Loader(std::string_view text) {
    CHECK_THAT(yaml_parser_initialize(&parser_) == 1, "no memory for a YAML parser");
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());  // NOLINT: see Event
    yaml_parser_set_input_string(&parser_, bytes, text.size());
  }
  ~Loader() { yaml_parser_delete(&parser_); }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  Result<ParsedJson> load() {
    ParsedJson parsed;
    bool found = false;
    while (true) {
      Event event;
      if (auto done = next(event); !done) return fail(std::move(done).error());
      if (event.type() == YAML_STREAM_END_EVENT) break;
      if (event.type() != YAML_DOCUMENT_START_EVENT) continue;
      if (std::exchange(found, true))
        return fail(Reason::BadRequest, "a body holds one YAML document, this one holds several");
      Event root;
      if (auto done = next(root); !done) return fail(std::move(done).error());
      parsed.value = TRY(load_node(root, {}));
    }
    parsed.duplicates_left_out = duplicates_.left_out();
    parsed.duplicates = std::move(duplicates_).kept();
    return parsed;
  }

 private:
  // How much has been made of the text.
  struct Made {
    std::size_t values = 0;
    std::size_t bytes = 0;
  };
  struct Anchored {
    Json value;
    Made made;
    std::size_t depth = 0;
  };

  Result<void> next(Event& event) {
    if (yaml_parser_parse(&parser_, event.get()) == 1) return {};
    return fail(Reason::BadRequest, "error converting YAML to JSON: yaml: line {}: {}",
                parser_.problem_mark.line + 1,
                parser_.problem == nullptr ? "cannot be read" : parser_.problem);
  }

  static tl::unexpected<Error> too_large() {
    return fail(Reason::RequestEntityTooLarge,
                "error converting YAML to JSON: yaml: document contains more than {} values",
                kLimits.values);
  }

  // A value that the text itself holds.
  Result<void> count(std::size_t bytes) {
    made_.bytes += kNodeBytes + bytes;
    if (++made_.values > kLimits.values) return too_large();
    return {};
  }

  // A copy of what the text holds once: small texts may not grow into large documents.
  Result<void> count_copy(const Made& made) {
    if (!copies_.spend(made.bytes))
      return fail(Reason::BadRequest,
                  "error converting YAML to JSON: yaml: document contains excessive aliasing");
    return {};
  }

  static tl::unexpected<Error> too_deep() {
    return fail(Reason::BadRequest, "error converting YAML to JSON: yaml: exceeded max depth of {}",
                kJsonDepthMax);
  }

  Result<Json> load_node(const Event& event, const Place& place) {
    if (event.type() == YAML_ALIAS_EVENT) return expand(event.anchor());
    const Made before = made_;
    const bool is_scalar = event.type() == YAML_SCALAR_EVENT;
    if (auto done = count(is_scalar ? event.scalar().size() : 0); !done)
      return fail(std::move(done).error());
    if (depth_ == kJsonDepthMax) return too_deep();
    ++depth_;
    Result<Json> value = event.type() == YAML_MAPPING_START_EVENT    ? load_mapping(place)
                         : event.type() == YAML_SEQUENCE_START_EVENT ? load_sequence(place)
                                                                     : resolve_scalar(event);
    --depth_;
    if (value && event.has_anchor())
      if (auto done = add_anchor(event.anchor(), *value, before); !done)
        return fail(std::move(done).error());
    return value;
  }

  // Anchors keep a copy each, and may stand inside one another.
  Result<void> add_anchor(std::string anchor, const Json& value, const Made& before) {
    const Made made{.values = made_.values - before.values, .bytes = made_.bytes - before.bytes};
    if (auto done = count_copy(made); !done) return done;
    anchors_[std::move(anchor)] = {.value = value, .made = made, .depth = depth_of(value)};
    return {};
  }

  Result<Json> expand(const std::string& anchor) {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      return fail(Reason::BadRequest,
                  "error converting YAML to JSON: yaml: unknown anchor '{}' referenced",
                  shortened(anchor));
    const Anchored& anchored = found->second;
    if (auto done = count_copy(anchored.made); !done) return fail(std::move(done).error());
    made_.bytes += anchored.made.bytes;
    made_.values += anchored.made.values;
    if (made_.values > kLimits.values) return too_large();
    if (depth_ + anchored.depth > kJsonDepthMax) return too_deep();
    return anchored.value;
  }

  Result<Json> load_sequence(const Place& place) {
    JsonArray items;
    while (true) {
      Event event;
      if (auto done = next(event); !done) return fail(std::move(done).error());
      if (event.type() == YAML_SEQUENCE_END_EVENT) return Json(std::move(items));
      items.push_back(TRY(load_node(event, {.up = &place, .item = items.size()})));
    }
  }

  Result<Json> load_mapping(const Place& place) {
    JsonObject object;
    std::vector<Json> merged;  // of `<<`, whose members give way to the mapping's own
    while (true) {
      Event key_event;
      if (auto done = next(key_event); !done) return fail(std::move(done).error());
      if (key_event.type() == YAML_MAPPING_END_EVENT) break;
      const bool is_merge = key_event.type() == YAML_SCALAR_EVENT && key_event.is_plain() &&
                            key_event.scalar() == "<<";
      const Json key = TRY(load_node(key_event, place));
      if (key.is_structured() || key.is_null())
        return fail(Reason::BadRequest, "error converting YAML to JSON: a key must be a scalar");
      const std::string name = key_text(key);
      const Place here{.up = &place, .field = name};
      Event value_event;
      if (auto done = next(value_event); !done) return fail(std::move(done).error());
      Json value = TRY(load_node(value_event, here));
      if (is_merge)
        merged.push_back(std::move(value));
      else if (!object.insert_or_assign(name, std::move(value)).second)
        duplicates_.add([&] { return here.path(); });
    }
    for (const Json& source : merged)
      if (auto done = merge_into(object, source); !done) return fail(std::move(done).error());
    return Json(std::move(object));
  }

  static Result<void> merge_into(JsonObject& object, const Json& source) {
    if (const JsonArray* sources = source.if_array()) {
      for (const Json& each : *sources)
        if (auto done = merge_into(object, each); !done) return done;
      return {};
    }
    if (!source.is_object())
      return fail(
          Reason::BadRequest,
          "error converting YAML to JSON: yaml: map merge requires map or sequence of maps as "
          "the value");
    for (const auto& member : source.get_object()) object.emplace(member.key(), member.value());
    return {};
  }

  yaml_parser_t parser_{};
  std::size_t depth_ = 0;
  Made made_;
  Budget copies_{kLimits.alias_bytes};
  std::map<std::string, Anchored> anchors_;
  Reports duplicates_;
};

bool is_blank(std::string_view document) {
  while (!document.empty()) {
    const std::size_t end = std::min(document.find('\n'), document.size());
    const std::string_view line = document.substr(0, end);
    document.remove_prefix(std::min(end + 1, document.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
  }
  return true;
}

}  // namespace

Result<ParsedJson> parse_yaml(std::string_view text) {
  // Most bodies that claim to be YAML are JSON, which is read much faster.
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    if (auto parsed = parse_json(text);
        parsed || parsed.error().reason == Reason::RequestEntityTooLarge)
      return parsed;
  if (tag_directives(text) > kTagDirectivesMax)
    return fail(Reason::BadRequest,
                "error converting YAML to JSON: yaml: more than {} tag directives",
                kTagDirectivesMax);
  return Loader(text).load();
}

std::vector<std::string_view> split_yaml_documents(std::string_view text) {
  std::vector<std::string_view> documents;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool separates = line.starts_with("---") && (line.size() == 3 || line[3] == ' ' ||
                                                       line[3] == '\t' || line[3] == '\r');
    if (separates || end == text.size()) {
      const std::string_view document = text.substr(begin, (separates ? at : text.size()) - begin);
      if (!is_blank(document)) documents.push_back(document);
      begin = std::min(separates ? at + 3 : text.size(), text.size());
    }
    at = end + 1;
  }
  if (begin < text.size() && !is_blank(text.substr(begin))) documents.push_back(text.substr(begin));
  return documents;
}

}  // namespace muster::api
