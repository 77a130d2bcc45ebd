#include "workload/spelling.h"

#include <fmt/format.h>

#include <utility>

#include "api/kinds/kind.h"
#include "api/reading.h"
#include "api/validation/seed_fields.h"
#include "api/values/well_known.h"
#include "workload/job.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

std::string_view last_step(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// {workload: {workloadName, podGroupTemplateName}} and {name} both became {workloadName,
// templateName}.
Json template_reference(Json value) {
  if (const Json* inner = api::find_set(value, "workload")) value = Json(*inner);
  JsonObject out;
  for (const auto& [was, now] :
       {std::pair("workloadName", "workloadName"),
        std::pair("podGroupTemplateName", "templateName"), std::pair("name", "templateName"),
        std::pair("templateName", "templateName")})
    if (const Json* found = api::find_set(value, was)) out[now] = *found;
  return out;
}

// The value in the form that the field has under its new name.
Json reshaped(std::string_view was, std::string_view now, Json value) {
  if (was == "podGroupTemplateRef" || was == "podGroupTemplateReference")
    return template_reference(std::move(value));
  if (now == "podGroupTemplates" && value.is_object()) return JsonArray{std::move(value)};
  if (was == "apiVersion" && now == "apiGroup") {
    const std::string_view text = api::text_of(value);
    const std::size_t slash = text.find('/');
    return Json(slash == std::string_view::npos ? std::string_view() : text.substr(0, slash));
  }
  return value;
}

class Walk {
 public:
  explicit Walk(std::string_view kind) : kind_(kind) {}

  // Members keep their order, whatever they are called.
  Result<void> object(JsonObject& holder, const std::string& path) {
    constexpr std::string_view kUse = "use ";
    JsonObject out;
    for (auto& member : holder) {
      const std::string name(api::key_of(member));
      const std::string from = join(path, name);
      const std::string hint = api::seed_field_hint(kind_, from);
      const bool moves = hint.starts_with(kUse);
      const std::string to = moves ? hint.substr(kUse.size()) : from;
      if (!hint.empty()) changes_.push_back({.from = from, .to = moves ? to : std::string()});
      if (!hint.empty() && !moves) continue;
      Json value = moves ? reshaped(name, last_step(to), std::move(member.value()))
                         : std::move(member.value());
      // A name that stays is one step, whatever dots it has: annotations have them.
      TRY(moves ? put(out, path, to, std::move(value)) : place(out, name, from, std::move(value)));
    }
    holder = std::move(out);
    for (auto& member : holder) TRY(value(member.value(), join(path, api::key_of(member))));
    return {};
  }

  std::vector<Respelled> extract_changes() { return std::move(changes_); }

 private:
  static std::string join(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  }

  Result<void> value(Json& value, const std::string& path) {
    if (value.is_object()) return object(value.get_object(), path);
    if (auto* items = value.if_array())
      for (std::size_t i = 0; i < items->size(); ++i)
        TRY(this->value((*items)[i], fmt::format("{}[{}]", path, i)));
    return {};
  }

  // Puts the value at `to`, a path below `path`, which `holder` is.
  static Result<void> put(JsonObject& holder, const std::string& path, const std::string& to,
                          Json value) {
    JsonObject* at = &holder;
    std::string_view rest = std::string_view(to).substr(path.empty() ? 0 : path.size() + 1);
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      at = &api::ensure_object(*at, rest.substr(0, dot));
      rest = rest.substr(dot + 1);
    }
    return place(*at, rest, to, std::move(value));
  }

  // `shown` is how a message names the member.
  static Result<void> place(JsonObject& holder, std::string_view name, const std::string& shown,
                            Json value) {
    Json& place = holder[name];
    if (place.is_object() && value.is_object()) {
      for (auto& member : value.get_object()) place.get_object()[member.key()] = member.value();
      return {};
    }
    if (!place.is_null() && place != value)
      return fail(Reason::Invalid, "{} is said twice, under an old name and a new one", shown);
    place = std::move(value);
    return {};
  }

  std::string_view kind_;
  std::vector<Respelled> changes_;
};

// A version that no server speaks any more becomes the stored one.
void respell_version(Json& document, std::vector<Respelled>& changes) {
  const std::string version(api::find_string(document, "apiVersion"));
  const std::string_view name = api::find_string(document, "kind");
  const std::string prefix = std::string(api::kSchedulingGroup) + "/";
  const api::Kind* kind = api::find_kind(api::kSchedulingGroup, name);
  if (kind == nullptr || !version.starts_with(prefix)) return;
  if (kind->serves(std::string_view(version).substr(prefix.size()))) return;
  const std::string now = kind->api_version(kind->stored_version);
  document.as_object()["apiVersion"] = now;
  changes.push_back({.from = "apiVersion " + version, .to = "apiVersion " + now});
}

void respell_annotation(Json& document, std::vector<Respelled>& changes) {
  JsonObject* metadata = document.as_object().contains("metadata")
                             ? document.as_object()["metadata"].if_object()
                             : nullptr;
  JsonObject* annotations = metadata != nullptr && metadata->contains("annotations")
                                ? (*metadata)["annotations"].if_object()
                                : nullptr;
  if (annotations == nullptr || !annotations->contains(kParentCompositeAnnotationOnce)) return;
  Json value = (*annotations)[kParentCompositeAnnotationOnce];
  annotations->erase(kParentCompositeAnnotationOnce);
  if (!annotations->contains(kParentCompositeAnnotation))
    (*annotations)[kParentCompositeAnnotation] = std::move(value);
  changes.push_back({.from = fmt::format("annotation {}", kParentCompositeAnnotationOnce),
                     .to = fmt::format("annotation {}", kParentCompositeAnnotation)});
}

}  // namespace

Result<std::vector<Respelled>> respell(Json& document) {
  if (!document.is_object()) return fail(Reason::BadRequest, "this is no object");
  std::string kind(api::find_string(document, "kind"));
  Walk walk(kind);
  TRY(walk.object(document.get_object(), ""));
  std::vector<Respelled> changes = walk.extract_changes();
  respell_version(document, changes);
  respell_annotation(document, changes);
  return changes;
}

}  // namespace muster::workload
