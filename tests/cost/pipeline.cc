#include "cost/pipeline.h"

#include <string>
#include <utility>
#include <vector>

#include "api/apply/apply.h"
#include "api/decode.h"
#include "api/gates/gates.h"
#include "api/patch/patch.h"
#include "api/protobuf.h"
#include "api/protobuf_testing.h"
#include "api/scratch.h"
#include "api/yaml.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/strategy.h"
#include "server/core/write/ownership.h"

namespace muster::cost {
namespace {

using api::Json;

api::Write write_by(std::string manager) {
  return {.manager = std::move(manager),
          .api_version = "v1",
          .subresource = "",
          .now = "2026-01-01T00:00:00Z",
          .beyond = {}};
}

Result<api::ParsedJson> parse(const api::Kind& kind, std::string_view body, Encoding encoding) {
  switch (encoding) {
    case Encoding::Json: return api::parse_json(body);
    case Encoding::Yaml: return api::parse_yaml(body);
    case Encoding::Protobuf: return api::parse_protobuf(*kind.message, body);
  }
  return api::ParsedJson{};
}

void fill_in(const api::Kind& kind, Json& document) {
  const server::Strategy& strategy = server::strategy_of(kind);
  std::vector<std::string> warnings;
  server::drop_duplicate_owners(document, warnings);
  strategy.predefault(document);
  api::apply_defaults(*kind.message, document);
  strategy.set_defaults(document);
}

// What comes of an update once it is read.
void judge_update(const api::Kind& kind, const Json& old, Json& document) {
  fill_in(kind, document);
  api::record_update(*kind.message, write_by("updater"), old, document);
  server::strategy_of(kind).prepare_for_update(document, old, api::Gates());
  (void)server::validate_update(kind, document, old, "", api::Gates());
  (void)server::validate_update(kind, document, old, "status", api::Gates());
  (void)server::make_object(kind, document);
}

Result<Json> applied(const api::Kind& kind, Json document, api::ParsedJson body) {
  auto config = api::decode(*kind.message, std::move(body));
  if (!config) return fail(config.error());
  // Somebody else first, so that there are conflicts to report; then the owner.
  (void)api::apply(*kind.message, write_by("other"), document, config->document, false);
  return api::apply(*kind.message, write_by("applier"), std::move(document), config->document,
                    true);
}

Result<Json> patched(const api::Kind& kind, Json document, api::PatchType type,
                     std::string_view body) {
  auto parsed = api::parse_json(body);
  if (!parsed) return fail(parsed.error());
  switch (type) {
    case api::PatchType::JsonPatch: return api::json_patch(std::move(document), parsed->value);
    case api::PatchType::Merge: return api::merge_patch(std::move(document), parsed->value);
    case api::PatchType::StrategicMerge:
      return api::strategic_merge_patch(*kind.message, std::move(document), parsed->value);
    case api::PatchType::Apply: return applied(kind, std::move(document), *std::move(parsed));
  }
  return document;
}

}  // namespace

std::optional<std::string> encoded(const api::Kind& kind, const std::string& json,
                                   Encoding encoding) {
  switch (encoding) {
    case Encoding::Json: return json;
    // JSON is YAML; the comment keeps the JSON parser from reading it.
    case Encoding::Yaml: return "# a comment\n" + json;
    case Encoding::Protobuf: break;
  }
  auto parsed = api::parse_json(json);
  if (!parsed) return std::nullopt;
  const auto decoded = api::decode(*kind.message, *std::move(parsed));
  if (!decoded) return std::nullopt;
  return api::ProtobufWriter::message(*kind.message, decoded->document);
}

std::optional<Json> read(const api::Kind& kind, std::string_view body, Encoding encoding) {
  auto parsed = parse(kind, body, encoding);
  if (!parsed) return std::nullopt;
  auto decoded = api::decode(*kind.message, *std::move(parsed));
  if (!decoded) return std::nullopt;
  return std::move(decoded->document);
}

std::optional<Json> create(const api::Kind& kind, std::string_view body) {
  auto document = read(kind, body, Encoding::Json);
  if (!document) return std::nullopt;
  fill_in(kind, *document);
  api::record_update(*kind.message, write_by("creator"), nullptr, *document);
  server::strategy_of(kind).prepare_for_create(*document, api::Gates());
  (void)server::validate_create(kind, *document, api::Gates());
  (void)server::make_object(kind, *document);
  return document;
}

void update(const api::Kind& kind, const Json& old, std::string_view body) {
  auto document = read(kind, body, Encoding::Json);
  if (document) judge_update(kind, old, *document);
}

void patch(const api::Kind& kind, const Json& old, api::PatchType type, std::string_view body) {
  api::Scratch scratch;
  auto outcome = patched(kind, Json(old, scratch.storage()), type, body);
  if (!outcome) return;
  auto decoded = api::decode(*kind.message, {.value = std::move(*outcome), .duplicates = {}});
  if (decoded) judge_update(kind, old, decoded->document);
}

}  // namespace muster::cost
