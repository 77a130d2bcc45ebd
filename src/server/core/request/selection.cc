#include "server/core/request/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "api/json.h"
#include "api/views/pod_view.h"
#include "store/engine.h"

namespace muster::server {
namespace {

// A path, and where the text of its value goes, with quotes or brackets.
struct Sought {
  std::string_view path;  // what is left of it
  std::string_view* value;

  bool begins_with(std::string_view key) const {
    return path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '.');
  }
};

// Reads on over JSON text that we wrote ourselves: no white space, no errors.
class ScalarFinder {
 public:
  explicit ScalarFinder(std::string_view text) : text_(text) {}

  // Finds the values at several paths of the value that stands here, in one reading. It ends with
  // the last of them, or behind the whole value.
  void find(std::span<Sought> sought, bool to_the_end) {
    if (peek() != '{') {
      take_value();
      return;
    }
    do {
      ++at_;
      if (peek() != '"') break;  // {}
      std::string_view key = take_value();
      key = key.substr(1, key.size() - 2);
      ++at_;  // the colon
      const auto others =
          std::ranges::partition(sought, [&](const Sought& one) { return one.begins_with(key); });
      const std::span<Sought> here = sought.first(sought.size() - others.size());
      sought = sought.subspan(here.size());
      find_in_member(here, key.size(), to_the_end || !sought.empty());
      if (sought.empty() && !to_the_end) return;
    } while (peek() == ',');
    ++at_;  // the bracket
  }

  // The text of the value that stands here, with its quotes or brackets.
  std::string_view take_value() {
    const std::size_t start = at_;
    int depth = 0;
    do {
      const char c = peek();
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    } while (at_ < text_.size() && (depth > 0 || !ends_value(text_[at_])));
    return text_.substr(start, at_ - start);
  }

 private:
  // At a member's value; all of the paths begin with its key.
  void find_in_member(std::span<Sought> sought, std::size_t key_size, bool to_the_end) {
    const auto longer = std::ranges::partition(
        sought, [&](const Sought& one) { return one.path.size() == key_size; });
    const std::span<Sought> below(longer.begin(), longer.end());
    for (Sought& one : below) one.path.remove_prefix(key_size + 1);
    if (!sought.empty() && below.size() == sought.size()) return find(below, to_the_end);
    const std::string_view value = take_value();
    for (const Sought& one : sought.first(sought.size() - below.size())) *one.value = value;
    if (!below.empty()) ScalarFinder(value).find(below, false);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  static bool ends_value(char c) { return c == ',' || c == '}' || c == ']' || c == ':'; }
  // A quote ends the text unless an odd number of backslashes stands before it. Most of a document
  // is texts, and find() looks at many characters at once.
  void skip_string() {
    for (++at_;; ++at_) {
      at_ = std::min(text_.find('"', at_), text_.size());
      std::size_t before = at_;
      while (text_[before - 1] == '\\') --before;
      if (at_ == text_.size() || (at_ - before) % 2 == 0) break;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string plain(std::string_view value) {
  if (value.empty() || value == "null" || value.starts_with('{') || value.starts_with('['))
    return {};
  if (!value.starts_with('"')) return std::string(value);
  if (value.find('\\') == std::string_view::npos)
    return std::string(value.substr(1, value.size() - 2));
  const auto parsed = api::parse_json(value);
  return parsed && parsed->value.is_string() ? std::string(parsed->value.get_string().c_str())
                                             : std::string();
}

bool is_boolean(std::string_view field) {
  return field == "spec.unschedulable" || field == "spec.hostNetwork";
}

// Every term is asked of every object, and of every change while a watch lasts: thirty thousand of
// them fit into the head of a request.
Result<void> check_terms(std::string_view parameter, std::size_t count) {
  constexpr std::size_t kTermsMax = 250;
  if (count <= kTermsMax) return {};
  return fail(Reason::BadRequest, "{}: too many requirements: {}, at most {} are judged", parameter,
              count, kTermsMax);
}

Error unsupported_field(const api::Kind& kind, std::string_view field) {
  if (kind.kind == "Job")
    return make_error(Reason::BadRequest, R"(field label "{}" not supported for Job)", field);
  if (!kind.selectable_fields.empty())
    return make_error(Reason::BadRequest, "field label not supported: {}", field);
  return make_error(
      Reason::BadRequest,
      R"("{}" is not a known field selector: only "metadata.name", "metadata.namespace")", field);
}

bool supported(const api::Kind& kind, std::string_view field) {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return kind.namespaced;
  if (field == "spec.host") return kind.kind == "Pod";
  return std::ranges::find(kind.selectable_fields, field) != kind.selectable_fields.end();
}

// What is known of a pod without a look at its bytes; null: nothing of that name.
const std::string* known_of(const api::PodView& pod, std::string_view field) {
  if (field == "spec.nodeName" || field == "spec.host") return &pod.node_name;
  if (field == "status.phase") return &pod.phase;
  if (field == "spec.schedulerName") return &pod.scheduler_name;
  if (field == "status.nominatedNodeName") return &pod.nominated_node;
  return nullptr;
}

// Where a field stands in the bytes: the first of these that is there; none if nobody has to look.
std::vector<std::string> paths_of(const api::Kind& kind, std::string_view field) {
  if (field == "metadata.name" || field == "metadata.namespace") return {};
  // What the view knows need not be looked for in the bytes; who watches pods by these is asked at
  // every change of every pod.
  if (&kind == &api::kinds::pod() && known_of(api::PodView{}, field) != nullptr) return {};
  if (field == "status.successful") return {"status.succeeded"};
  if (field == "reportingController") return {"reportingComponent"};
  if (constexpr std::string_view kRegarding = "regarding."; field.starts_with(kRegarding))
    return {fmt::format("involvedObject.{}", field.substr(kRegarding.size()))};
  if (field == "source") return {"source.component", "reportingComponent"};
  return {std::string(field)};
}

// What a field says that is left out.
std::string_view default_of(std::string_view field) {
  if (field == "status.successful" || field == "status.replicas") return "0";
  return is_boolean(field) ? "false" : "";
}

// A field that its object knows without a look at its bytes.
std::string known_text(const api::Object& object, std::string_view field) {
  if (field == "metadata.name") return object.meta().name;
  if (field == "metadata.namespace") return object.meta().name_space;
  return *known_of(object.view<api::PodView>(), field);
}

}  // namespace

std::string scalar_at(std::string_view bytes, std::string_view dotted_path) {
  std::string_view value;
  Sought sought{.path = dotted_path, .value = &value};
  ScalarFinder(bytes).find({&sought, 1}, false);
  return plain(value);
}

Result<Selection> Selection::of(const api::Request& request) {
  const api::Kind& kind = *request.kind;
  Selection out;
  out.labels_ = TRY(api::LabelSelector::parse(request.list.label_selector));
  out.fields_ = TRY(api::FieldSelector::parse(request.list.field_selector));
  TRY(check_terms("labelSelector", out.labels_.requirements().size()));
  TRY(check_terms("fieldSelector", out.fields_.terms().size()));
  std::string_view before;
  for (const api::FieldTerm& term : out.fields_.terms()) {
    if (!supported(kind, term.field)) return fail(unsupported_field(kind, term.field));
    // Terms of one field stand together.
    if (term.field == before) continue;
    before = term.field;
    for (std::string& path : paths_of(kind, term.field))
      out.searched_.push_back({.field = term.field, .path = std::move(path)});
  }
  if (kind.namespaced) out.name_space_ = request.name_space;
  out.prefix_ = kind.store_prefix + "/";
  if (!out.name_space_.empty()) out.prefix_ += out.name_space_ + "/";
  const std::string* name = out.fields_.required_value("metadata.name");
  if (name != nullptr && (!kind.namespaced || !out.name_space_.empty()))
    out.only_key_ = store::make_key(kind, out.name_space_, *name);
  return out;
}

bool Selection::matches(const api::Object& object) const {
  if (!name_space_.empty() && object.meta().name_space != name_space_) return false;
  if (!labels_.selects_everything() && !labels_.matches(object.meta().labels)) return false;
  if (fields_.selects_everything()) return true;
  std::vector<std::string_view> values;
  return fields_.matches([&](std::string_view field) { return field_text(object, field, values); });
}

// The first field that stands in the bytes reads them for all.
std::string Selection::field_text(const api::Object& object, std::string_view field,
                                  std::vector<std::string_view>& values) const {
  auto at = std::ranges::find(searched_, field, &Searched::field);
  if (at == searched_.end()) return known_text(object, field);
  if (values.empty()) values = find_values(object.bytes());
  for (; at != searched_.end() && at->field == field; ++at)
    if (std::string text = plain(values[static_cast<std::size_t>(at - searched_.begin())]);
        !text.empty())
      return text;
  return std::string(default_of(field));
}

std::vector<std::string_view> Selection::find_values(std::string_view bytes) const {
  std::vector<std::string_view> values(searched_.size());
  std::vector<Sought> sought;
  sought.reserve(searched_.size());
  for (std::size_t i = 0; i < searched_.size(); ++i)
    sought.push_back({.path = searched_[i].path, .value = &values[i]});
  ScalarFinder(bytes).find(sought, false);
  return values;
}

}  // namespace muster::server
