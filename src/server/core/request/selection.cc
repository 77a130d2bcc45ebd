#include "server/core/request/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/json.h"
#include "api/views/pod_view.h"
#include "store/engine.h"

namespace muster::server {
namespace {

// Reads on over JSON text that we wrote ourselves: no white space, no errors.
class ScalarFinder {
 public:
  explicit ScalarFinder(std::string_view text) : text_(text) {}

  // Enters the object that stands here and stops at the value of `member`; false if there is none.
  bool enter(std::string_view member) {
    if (peek() != '{') return false;
    do {
      ++at_;
      if (peek() != '"') return false;  // {}
      const std::string_view key = take_value();
      ++at_;  // the colon
      if (key.substr(1, key.size() - 2) == member) return true;
      take_value();
    } while (peek() == ',');
    return false;
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
  if (value == "null" || value.starts_with('{') || value.starts_with('[')) return {};
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

// How many searches of the bytes field_text() takes at most.
std::size_t searches_for(const api::Kind& kind, std::string_view field) {
  if (field == "metadata.name" || field == "metadata.namespace") return 0;
  if (&kind == &api::kinds::pod() && known_of(api::PodView{}, field) != nullptr) return 0;
  return field == "source" ? 2 : 1;
}

// A number that is left out where it is zero.
std::string number_text(const api::Object& object, std::string_view path) {
  std::string text = scalar_at(object.bytes(), path);
  return text.empty() ? "0" : text;
}

}  // namespace

std::string scalar_at(std::string_view bytes, std::string_view dotted_path) {
  ScalarFinder finder(bytes);
  while (!dotted_path.empty()) {
    const std::size_t dot = std::min(dotted_path.find('.'), dotted_path.size());
    if (!finder.enter(dotted_path.substr(0, dot))) return {};
    dotted_path.remove_prefix(std::min(dot + 1, dotted_path.size()));
  }
  return plain(finder.take_value());
}

std::string field_text(const api::Object& object, std::string_view field) {
  if (field == "metadata.name") return object.meta().name;
  if (field == "metadata.namespace") return object.meta().name_space;
  if (&object.kind() == &api::kinds::pod()) {
    // What the view knows need not be looked for in the bytes; who watches pods by these is
    // asked at every change of every pod.
    if (const std::string* known = known_of(object.view<api::PodView>(), field)) return *known;
  }
  if (field == "status.successful") return number_text(object, "status.succeeded");
  if (field == "status.replicas") return number_text(object, field);
  if (field == "reportingController") return scalar_at(object.bytes(), "reportingComponent");
  if (constexpr std::string_view kRegarding = "regarding."; field.starts_with(kRegarding))
    return scalar_at(object.bytes(),
                     fmt::format("involvedObject.{}", field.substr(kRegarding.size())));
  if (field == "source") {
    std::string component = scalar_at(object.bytes(), "source.component");
    return component.empty() ? scalar_at(object.bytes(), "reportingComponent") : component;
  }
  std::string text = scalar_at(object.bytes(), field);
  if (text.empty() && is_boolean(field)) return "false";
  return text;
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
    // Terms of one field stand together and share the look at it.
    if (term.field != before) out.searches_ += searches_for(kind, term.field);
    before = term.field;
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
  return fields_.selects_everything() ||
         fields_.matches([&](std::string_view field) { return field_text(object, field); });
}

}  // namespace muster::server
