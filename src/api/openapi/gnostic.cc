#include "api/openapi/gnostic.h"

#include <cstdint>
#include <string_view>

namespace muster::api::openapi {
namespace {

// Field numbers are those of gnostic's openapiv2/OpenAPIv2.proto.
class Writer {
 public:
  void text(unsigned field, std::string_view value) {
    if (!value.empty()) bytes(field, value);
  }
  void message(unsigned field, const Writer& content) { bytes(field, content.out_); }
  void flag(unsigned field, bool value) {
    if (!value) return;
    varint(field << 3U);
    varint(1);
  }
  std::string extract_bytes() { return std::move(out_); }

 private:
  void bytes(unsigned field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    out_ += value;
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_ += static_cast<char>(value | 0x80U);
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

// {1 name, 2 value}: the shape of every entry of a map.
Writer named(std::string_view name, const Writer& value) {
  Writer writer;
  writer.text(1, name);
  writer.message(2, value);
  return writer;
}

// Members x-…: NamedAny{1 name, 2 value Any{2 yaml}}; JSON is YAML.
void write_extensions(const Json& value, unsigned field, Writer& out) {
  for (const auto& member : value.as_object()) {
    if (!std::string_view(member.key()).starts_with("x-")) continue;
    Writer any;
    any.text(2, to_text(member.value()));
    out.message(field, named(member.key(), any));
  }
}

Writer schema_of(const Json& schema) {
  Writer out;
  out.text(1, find_string(schema, "$ref"));
  out.text(2, find_string(schema, "format"));
  out.text(4, find_string(schema, "description"));
  if (const JsonArray* required = find_array(schema, "required"))
    for (const Json& name : *required) out.text(19, name.as_string());
  if (const Json* values = find(schema, "additionalProperties")) {
    Writer item;
    item.message(1, schema_of(*values));
    out.message(21, item);
  }
  if (const std::string_view type = find_string(schema, "type"); !type.empty()) {
    Writer item;
    item.text(1, type);
    out.message(22, item);
  }
  if (const Json* items = find(schema, "items")) {
    Writer item;
    item.message(1, schema_of(*items));
    out.message(23, item);
  }
  if (const JsonObject* properties = find_object(schema, "properties")) {
    Writer list;
    for (const auto& property : *properties)
      list.message(1, named(property.key(), schema_of(property.value())));
    out.message(25, list);
  }
  write_extensions(schema, 31, out);
  return out;
}

// ParametersItem{1 Parameter{2 NonBodyParameter{3 query, 4 path}}}; both forms begin alike.
Writer parameter_of(const Json& parameter) {
  const bool in_path = find_string(parameter, "in") == "path";
  Writer form;
  form.flag(1, in_path);
  form.text(2, find_string(parameter, "in"));
  form.text(3, find_string(parameter, "description"));
  form.text(4, find_string(parameter, "name"));
  form.text(in_path ? 5 : 6, find_string(parameter, "type"));
  Writer non_body;
  non_body.message(in_path ? 4 : 3, form);
  Writer wrapped;
  wrapped.message(2, non_body);
  Writer item;
  item.message(1, wrapped);
  return item;
}

// Responses{1 response_code NamedResponseValue{2 ResponseValue{1 Response{1 description, 2
// schema}}}}
Writer responses_of(const Json& responses) {
  Writer out;
  for (const auto& member : responses.as_object()) {
    Writer response;
    response.text(1, find_string(member.value(), "description"));
    if (const Json* schema = find(member.value(), "schema")) {
      Writer item;
      item.message(1, schema_of(*schema));
      response.message(2, item);
    }
    Writer value;
    value.message(1, response);
    out.message(1, named(member.key(), value));
  }
  return out;
}

Writer operation_of(const Json& operation) {
  Writer out;
  out.text(5, find_string(operation, "operationId"));
  if (const JsonArray* produces = find_array(operation, "produces"))
    for (const Json& type : *produces) out.text(6, type.as_string());
  if (const JsonArray* consumes = find_array(operation, "consumes"))
    for (const Json& type : *consumes) out.text(7, type.as_string());
  if (const JsonArray* parameters = find_array(operation, "parameters"))
    for (const Json& parameter : *parameters)
      if (find_string(parameter, "in") != "body") out.message(8, parameter_of(parameter));
  if (const Json* responses = find(operation, "responses"))
    out.message(9, responses_of(*responses));
  write_extensions(operation, 13, out);
  return out;
}

}  // namespace

std::string to_gnostic(const Json& swagger) {
  Writer document;
  document.text(1, find_string(swagger, "swagger"));
  if (const Json* info = find(swagger, "info")) {
    Writer writer;
    writer.text(1, find_string(*info, "title"));
    writer.text(2, find_string(*info, "version"));
    document.message(2, writer);
  }
  Writer paths;
  if (const JsonObject* object = find_object(swagger, "paths"))
    for (const auto& path : *object) {
      const Json* patch = find(path.value(), "patch");  // the one operation kubectl looks for
      if (patch == nullptr) continue;
      Writer item;
      item.message(8, operation_of(*patch));
      paths.message(2, named(path.key(), item));
    }
  document.message(8, paths);
  Writer definitions;
  if (const JsonObject* object = find_object(swagger, "definitions"))
    for (const auto& definition : *object)
      definitions.message(1, named(definition.key(), schema_of(definition.value())));
  document.message(9, definitions);
  return document.extract_bytes();
}

}  // namespace muster::api::openapi
