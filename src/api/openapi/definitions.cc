#include "api/openapi/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::api::openapi {
namespace {

using schema::Field;
using schema::ListType;
using schema::Message;
using schema::Repeat;
using schema::Shape;

constexpr std::string_view kMachinery = "io.k8s.apimachinery.pkg.";

Json typed(std::string_view type, std::string_view format = {}) {
  JsonObject schema{{"type", type}};
  if (!format.empty()) schema["format"] = format;
  return schema;
}

JsonArray texts(const std::vector<std::string>& values) {
  JsonArray array;
  for (const std::string& value : values) array.emplace_back(value);
  return array;
}

std::string patch_strategy(const Field& field) {
  std::string strategy = field.merges ? "merge" : field.replaces ? "replace" : "";
  if (field.retain_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  return strategy;
}

void add_extensions(const Field& field, JsonObject& schema) {
  if (field.repeat == Repeat::List) {
    schema["x-kubernetes-list-type"] = field.list_type == ListType::Map   ? "map"
                                       : field.list_type == ListType::Set ? "set"
                                                                          : "atomic";
    if (!field.list_keys.empty()) schema["x-kubernetes-list-map-keys"] = texts(field.list_keys);
    if (!field.merge_keys.empty()) schema["x-kubernetes-patch-merge-key"] = field.merge_keys[0];
  }
  if (field.atomic_map) schema["x-kubernetes-map-type"] = "atomic";
  if (const std::string strategy = patch_strategy(field); !strategy.empty())
    schema["x-kubernetes-patch-strategy"] = strategy;
}

}  // namespace

std::string definition_name(const Message& message) {
  std::string package = message.package;
  std::ranges::replace(package, '/', '.');
  if (package == "meta.v1") return fmt::format("{}apis.meta.v1.{}", kMachinery, message.name);
  if (package.starts_with("muster.")) return fmt::format("dev.{}.{}", package, message.name);
  return fmt::format("io.k8s.api.{}.{}", package, message.name);
}

Json reference_to(std::string_view definition, Edition edition) {
  std::string target = edition == Edition::V2 ? "#/definitions/" : "#/components/schemas/";
  target += definition;
  return JsonObject{{"$ref", target}};
}

void Definitions::add(const Message& message) {
  const std::string name = definition_name(message);
  // The empty entry stops the circle of messages that contain themselves.
  if (!definitions_.emplace(name, nullptr).second) return;
  Json schema = message_schema(message);
  definitions_[name] = std::move(schema);
}

void Definitions::add_kind(const Message& message, std::string_view group, std::string_view version,
                           std::string_view kind) {
  const auto found = definitions_.find(definition_name(message));
  CHECK(found != definitions_.end());
  ensure_array(found->second.as_object(), "x-kubernetes-group-version-kind")
      .push_back(JsonObject{{"group", group}, {"kind", kind}, {"version", version}});
}

void Definitions::add_plain(std::string_view name, Json definition) {
  definitions_.emplace(name, std::move(definition));
}

Json Definitions::message_schema(const Message& message) {
  if (const Field* items = message.bare_list())
    return JsonObject{{"type", "array"}, {"items", value_schema(*items)}};
  JsonObject schema;
  if (!message.doc.empty()) schema["description"] = message.doc;
  schema["type"] = "object";
  JsonObject properties;
  JsonArray required;
  if (message.object) {
    properties["apiVersion"] = JsonObject{
        {"description", "Group and version of the kind, such as v1 or coordination.k8s.io/v1."},
        {"type", "string"}};
    properties["kind"] =
        JsonObject{{"description", "What the object is, such as Pod."}, {"type", "string"}};
  }
  for (const Field* field : message.members) {
    properties[field->name] = field_schema(*field);
    if (field->required) required.emplace_back(field->name);
  }
  if (!properties.empty()) schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json Definitions::field_schema(const Field& field) {
  JsonObject schema;
  if (field.repeat == Repeat::List)
    schema = {{"type", "array"}, {"items", value_schema(field)}};
  else if (field.repeat == Repeat::Map)
    schema = {{"type", "object"}, {"additionalProperties", value_schema(field)}};
  else
    schema = std::move(value_schema(field).as_object());
  JsonObject extras;
  if (!field.doc.empty()) extras["description"] = field.doc;
  add_extensions(field, extras);
  if (extras.empty()) return schema;
  if (edition_ == Edition::V3 && schema.contains("$ref"))
    schema = {{"allOf", JsonArray{std::move(schema)}}};
  for (auto& extra : extras) schema[extra.key()] = std::move(extra.value());
  return schema;
}

// One value: an item of a list, an entry of a map, or the field itself.
Json Definitions::value_schema(const Field& field) {
  switch (field.shape) {
    case Shape::Bool: return typed("boolean");
    case Shape::Int32: return typed("integer", "int32");
    case Shape::Int64: return typed("integer", "int64");
    case Shape::Double: return typed("number", "double");
    case Shape::Bytes: return typed("string", "byte");
    case Shape::Quantity:
      // A number is accepted too, but clients have always been shown "string".
      return well_known("api.resource.Quantity",
                        edition_ == Edition::V2
                            ? typed("string")
                            : JsonObject{{"oneOf", JsonArray{typed("string"), typed("number")}}});
    case Shape::IntOrString:
      return well_known("util.intstr.IntOrString",
                        edition_ == Edition::V2
                            ? typed("string", "int-or-string")
                            : JsonObject{{"format", "int-or-string"},
                                         {"oneOf", JsonArray{typed("integer"), typed("string")}}});
    case Shape::Time: return well_known("apis.meta.v1.Time", typed("string", "date-time"));
    case Shape::MicroTime:
      return well_known("apis.meta.v1.MicroTime", typed("string", "date-time"));
    case Shape::Duration: return well_known("apis.meta.v1.Duration", typed("string"));
    case Shape::Any: return well_known("runtime.RawExtension", typed("object"));
    case Shape::Message:
      add(*field.message);
      return reference_to(definition_name(*field.message), edition_);
    case Shape::String: break;
  }
  Json schema = typed("string");
  if (!field.allowed.empty()) schema.as_object()["enum"] = texts(field.allowed);
  return schema;
}

Json Definitions::well_known(std::string_view name, Json definition) {
  const std::string full = std::string(kMachinery) + std::string(name);
  add_plain(full, std::move(definition));
  return reference_to(full, edition_);
}

}  // namespace muster::api::openapi
