#include "api/openapi/openapi.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "api/json.h"
#include "api/openapi/definitions.h"
#include "api/openapi/gnostic.h"

namespace muster::api {
namespace {

using openapi::Definitions;
using openapi::Edition;

constexpr std::string_view kPatch = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
constexpr std::string_view kPatchTypes[] = {
    "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};

// Query parameters of a patch. kubectl looks here to learn what the server understands.
struct Parameter {
  std::string_view name;
  std::string_view type;
  std::string_view doc;
};
constexpr Parameter kParameters[] = {
    {"dryRun", "string", "All carries out everything but the write itself."},
    {"fieldManager", "string", "Who makes the change."},
    {"fieldValidation", "string", "Ignore, Warn or Strict: what to do about unknown fields."},
    {"force", "boolean", "Takes fields away from other managers; for apply only."},
};

std::string version_key(const Kind& kind, std::string_view version) {
  return kind.group.empty() ? "api/" + std::string(version)
                            : "apis/" + kind.group + "/" + std::string(version);
}

std::string collection_path(const Kind& kind, std::string_view version) {
  return fmt::format("/{}/{}{}", version_key(kind, version),
                     kind.namespaced ? "namespaces/{namespace}/" : "", kind.plural);
}

JsonObject group_version_kind(const Kind& kind, std::string_view version) {
  return {{"group", kind.group}, {"kind", kind.kind}, {"version", version}};
}

std::string operation_id(std::string_view verb, const Kind& kind, std::string_view version) {
  return fmt::format("{}{}{}{}{}", verb, kind.group.substr(0, kind.group.find('.')), version,
                     kind.namespaced ? "Namespaced" : "", kind.kind);
}

Json parameters(const Kind& kind, Edition edition) {
  JsonArray list;
  const auto add = [&](std::string_view name, std::string_view where, std::string_view type,
                       std::string_view doc) {
    JsonObject parameter{{"name", name}, {"in", where}, {"description", doc}};
    if (where == "path") parameter["required"] = true;
    if (edition == Edition::V2)
      parameter["type"] = type;
    else
      parameter["schema"] = JsonObject{{"type", type}};
    list.push_back(std::move(parameter));
  };
  if (kind.stored) add("name", "path", "string", "Name of the object.");
  if (kind.namespaced) add("namespace", "path", "string", "Namespace of the object.");
  for (const Parameter& parameter : kParameters)
    if (kind.stored || parameter.name != "force")
      add(parameter.name, "query", parameter.type, parameter.doc);
  return list;
}

// The operation kubectl looks for to learn about a kind.
Json patch_operation(const Kind& kind, std::string_view version, Edition edition) {
  JsonObject operation{{"operationId", operation_id("patch", kind, version)},
                       {"parameters", parameters(kind, edition)}};
  const Json object = openapi::reference_to(openapi::definition_name(*kind.message), edition);
  JsonObject response{{"description", "OK"}};
  if (edition == Edition::V2) {
    JsonArray consumes;
    for (const std::string_view type : kPatchTypes) consumes.emplace_back(type);
    operation["consumes"] = std::move(consumes);
    operation["produces"] = JsonArray{"application/json"};
    response["schema"] = object;
  } else {
    JsonObject content;
    for (const std::string_view type : kPatchTypes)
      content[type] = JsonObject{{"schema", openapi::reference_to(kPatch, edition)}};
    operation["requestBody"] = JsonObject{{"content", std::move(content)}, {"required", true}};
    response["content"] = JsonObject{{"application/json", JsonObject{{"schema", object}}}};
  }
  operation["responses"] = JsonObject{{"200", std::move(response)}};
  operation["x-kubernetes-action"] = "patch";
  operation["x-kubernetes-group-version-kind"] = group_version_kind(kind, version);
  return operation;
}

// All there is to do with a kind that is not stored. It stands under two methods: kubectl learns
// the parameters of a kind from its patch alone, and takes a kind without one for a custom resource
// that it cannot validate.
Json create_operation(const Kind& kind, std::string_view version, Edition edition,
                      std::string_view method) {
  JsonObject operation{
      {"operationId", operation_id(method == "post" ? "create" : method, kind, version)}};
  JsonArray asked = parameters(kind, edition).as_array();
  const Json object = openapi::reference_to(openapi::definition_name(*kind.message), edition);
  JsonObject response{{"description", "Created"}};
  if (edition == Edition::V2) {
    operation["consumes"] = JsonArray{"application/json"};
    operation["produces"] = JsonArray{"application/json"};
    asked.push_back(
        JsonObject{{"name", "body"}, {"in", "body"}, {"required", true}, {"schema", object}});
    response["schema"] = object;
  } else {
    const JsonObject content{{"application/json", JsonObject{{"schema", object}}}};
    operation["requestBody"] = JsonObject{{"content", content}, {"required", true}};
    response["content"] = content;
  }
  operation["parameters"] = std::move(asked);
  operation["responses"] = JsonObject{{"201", std::move(response)}};
  operation["x-kubernetes-action"] = method;
  operation["x-kubernetes-group-version-kind"] = group_version_kind(kind, version);
  return operation;
}

void add_kind(const Kind& kind, std::string_view version, Edition edition, Definitions& definitions,
              JsonObject& paths) {
  definitions.add(*kind.message);
  definitions.add_kind(*kind.message, kind.group, version, kind.kind);
  const std::string collection = collection_path(kind, version);
  if (kind.stored)
    paths[collection + "/{name}"] = JsonObject{{"patch", patch_operation(kind, version, edition)}};
  else
    paths[collection] = JsonObject{{"post", create_operation(kind, version, edition, "post")},
                                   {"patch", create_operation(kind, version, edition, "patch")}};
}

JsonObject sorted_object(const Definitions& definitions) {
  JsonObject object;
  for (const auto& [name, definition] : definitions.all()) object[name] = definition;
  return object;
}

JsonObject info() { return {{"title", "Muster"}, {"version", "v1"}}; }

std::string build_v3(std::span<const Kind* const> kinds, std::string_view key) {
  Definitions definitions(Edition::V3);
  definitions.add_plain(kPatch,
                        JsonObject{{"description", "A change to an object."}, {"type", "object"}});
  JsonObject paths;
  for (const Kind* kind : kinds)
    for (const std::string& version : kind->versions)
      if (version_key(*kind, version) == key)
        add_kind(*kind, version, Edition::V3, definitions, paths);
  return to_text(JsonObject{{"openapi", "3.0.0"},
                            {"info", info()},
                            {"paths", std::move(paths)},
                            {"components", JsonObject{{"schemas", sorted_object(definitions)}}}});
}

Json build_v2(std::span<const Kind* const> kinds) {
  Definitions definitions(Edition::V2);
  definitions.add_plain(kPatch,
                        JsonObject{{"description", "A change to an object."}, {"type", "object"}});
  JsonObject paths;
  for (const Kind* kind : kinds)
    for (const std::string& version : kind->versions)
      add_kind(*kind, version, Edition::V2, definitions, paths);
  return JsonObject{{"swagger", "2.0"},
                    {"info", info()},
                    {"paths", std::move(paths)},
                    {"definitions", sorted_object(definitions)}};
}

Error no_document(std::string_view key) {
  return make_error(Reason::NotFound, "there is no OpenAPI document for {}", key);
}

// FNV-1a; tells versions of a document apart, guards nothing.
std::string hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016X}", hash);
}

}  // namespace

// Built at the first question, then never changed.
struct OpenApi::Documents {
  struct Document {
    std::string text;
    std::string hash;
  };
  std::once_flag v3_built, v2_built, gnostic_built;
  std::map<std::string, Document, std::less<>> v3;  // by key
  std::string v2;
  std::string gnostic;
};

OpenApi::OpenApi(std::span<const Kind* const> kinds)
    : kinds_(kinds), documents_(std::make_unique<Documents>()) {}

OpenApi::~OpenApi() = default;

const OpenApi::Documents& OpenApi::with_v3() const {
  std::call_once(documents_->v3_built, [this] {
    for (const Kind* kind : kinds_)
      for (const std::string& version : kind->versions) {
        Documents::Document& document = documents_->v3[version_key(*kind, version)];
        if (!document.text.empty()) continue;
        document.text = build_v3(kinds_, version_key(*kind, version));
        document.hash = hash_of(document.text);
      }
  });
  return *documents_;
}

std::string OpenApi::v3_index() const {
  JsonObject paths;
  for (const auto& [key, document] : with_v3().v3)
    paths[key] = JsonObject{
        {"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", key, document.hash)}};
  return to_text(JsonObject{{"paths", std::move(paths)}});
}

Result<std::string> OpenApi::v3(std::string_view group_version_key) const {
  const auto found = with_v3().v3.find(group_version_key);
  if (found == documents_->v3.end()) return fail(no_document(group_version_key));
  return found->second.text;
}

Result<std::string> OpenApi::v3_hash(std::string_view group_version_key) const {
  const auto found = with_v3().v3.find(group_version_key);
  if (found == documents_->v3.end()) return fail(no_document(group_version_key));
  return found->second.hash;
}

std::string OpenApi::v2_json() const {
  std::call_once(documents_->v2_built, [this] { documents_->v2 = to_text(build_v2(kinds_)); });
  return documents_->v2;
}

std::string OpenApi::v2_protobuf() const {
  std::call_once(documents_->gnostic_built,
                 [this] { documents_->gnostic = openapi::to_gnostic(build_v2(kinds_)); });
  return documents_->gnostic;
}

}  // namespace muster::api
