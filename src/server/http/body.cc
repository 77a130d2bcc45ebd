#include "server/http/body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/protobuf.h"
#include "api/yaml.h"
#include "server/core/request/decode_body.h"
#include "server/core/request/errors.h"
#include "server/http/negotiate.h"

namespace muster::server {
namespace {

// The document a protobuf body stands for. Bytes of another kind would decode to nonsense, so of
// those only the type is given: decode_body() then says what is wrong.
Result<api::ParsedJson> parse_protobuf_body(const BodyType& type, std::string_view body) {
  const api::ProtobufEnvelope envelope = TRY(api::read_protobuf_envelope(body));
  api::ParsedJson parsed;
  if (envelope.kind.empty() || envelope.kind == type.kind)
    parsed = TRY(api::parse_protobuf(*type.message, envelope.raw));
  if (!parsed.value.is_object()) parsed.value = api::JsonObject();
  api::JsonObject& document = parsed.value.get_object();
  if (!envelope.kind.empty()) document["kind"] = envelope.kind;
  if (!envelope.api_version.empty()) document["apiVersion"] = envelope.api_version;
  return parsed;
}

Result<api::ParsedJson> parse_body(BodyFormat format, const BodyType& type, std::string_view body) {
  switch (format) {
    case BodyFormat::Yaml: return api::parse_yaml(body);
    case BodyFormat::Protobuf: return parse_protobuf_body(type, body);
    case BodyFormat::Json: break;
  }
  return api::parse_json(body);
}

Result<void> read_object(std::string_view content_type, std::string_view body,
                         api::Request& request) {
  const BodyFormat format = TRY(body_format(content_type));
  if (format == BodyFormat::Json) return decode_into(request, body);
  const BodyType type = TRY(body_type(*request.kind, request.version, request.subresource));
  return decode_into(request, TRY(parse_body(format, type, body)));
}

// Keys that stand twice in a patch: an error, a warning each, or nothing, as the client asked.
Result<void> judge_duplicates(std::string_view body, api::ParsedJson parsed,
                              api::Request& request) {
  std::vector<std::string> duplicates = std::move(parsed.duplicates);
  if (duplicates.empty() || request.field_validation == api::FieldValidation::Ignore) return {};
  for (std::string& path : duplicates) path = fmt::format(R"(duplicate field "{}")", path);
  if (parsed.duplicates_left_out > 0)
    duplicates.push_back(fmt::format("and {} more", parsed.duplicates_left_out));
  if (request.field_validation == api::FieldValidation::Warn) {
    std::ranges::move(duplicates, std::back_inserter(request.warnings));
    return {};
  }
  const std::string list = fmt::format("{}", fmt::join(duplicates, ", "));
  if (request.patch_type == api::PatchType::Apply)
    return fail(Reason::BadRequest, "error strict decoding YAML: {}", list);
  std::string quoted;
  api::write_string(api::shortened(body), quoted);
  return fail(invalid(
      Subject{.group = "", .kind = ""},
      {{.type = "FieldValueInvalid",
        .field = "patch",
        .message = fmt::format("Invalid value: {}: strict decoding error: {}", quoted, list)}}));
}

Result<void> read_patch(std::string_view body, api::Request& request) {
  // JSON is YAML, and kubectl sends apply patches as JSON; only other text needs the slower parser.
  Result<api::ParsedJson> parsed = api::parse_json(body);
  if (!parsed && request.patch_type == api::PatchType::Apply) {
    parsed = api::parse_yaml(body);
    if (!parsed) parsed.error().message.insert(0, "error decoding YAML: ");
  }
  if (!parsed) return fail(std::move(parsed).error());
  request.body = std::move(parsed->value);
  return judge_duplicates(body, *std::move(parsed), request);
}

}  // namespace

Result<void> read_body(std::string_view content_type, std::string_view body,
                       api::Request& request) {
  switch (request.verb) {
    case api::Verb::Create:
    case api::Verb::Update: return read_object(content_type, body, request);
    case api::Verb::Patch: return read_patch(body, request);
    default: return {};
  }
}

Result<DeleteReply> read_deletion(std::string_view content_type, std::string_view body,
                                  api::Request& request) {
  const BodyFormat format = TRY(body_format(content_type));
  BodyType type;
  type.message = &api::schema::message("meta/v1", "DeleteOptions");
  type.kind = "DeleteOptions";
  const api::ParsedJson parsed = TRY(parse_body(format, type, body));
  return read_delete_options(parsed.value, request);
}

}  // namespace muster::server
