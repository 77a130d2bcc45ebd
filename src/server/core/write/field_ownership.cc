#include "server/core/write/field_ownership.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/apply/apply.h"
#include "api/conversion.h"
#include "api/decode.h"
#include "api/validation/seed_fields.h"

namespace muster::server {
namespace {

// What the strategies put back on this endpoint whatever the client says.
api::FieldSet beyond(const api::Request& request) {
  static const api::FieldSet kStatus = api::field_set({"status"});
  static const api::FieldSet kAllButStatus =
      api::field_set({"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"});
  if (request.subresource == "status") return kAllButStatus;
  return request.kind->subresource("status") != nullptr ? kStatus : api::FieldSet{};
}

api::Write write_of(const Context& context, const api::Request& request) {
  return {.manager = request.field_manager,
          .api_version = request.kind->api_version(request.version),
          .subresource = request.subresource,
          .now = format_time(context.now),
          .beyond = beyond(request)};
}

// `default/web; /v1, Kind=Pod`
std::string spoken_object(const api::Request& request) {
  const std::string place =
      request.name_space.empty() ? request.name : request.name_space + "/" + request.name;
  return fmt::format("{}; {}/{}, Kind={}", place, request.kind->group, request.version,
                     request.kind->kind);
}

// `unknown field "spec.foo"` as apply says it.
std::string undeclared(std::string_view unknown) {
  const std::size_t open = unknown.find('"');
  const std::size_t close = unknown.rfind('"');
  if (open == std::string_view::npos || close <= open) return std::string(unknown);
  return fmt::format(".{}: field not declared in schema",
                     unknown.substr(open + 1, close - open - 1));
}

// An apply configuration must say what it is about, and may not speak of ownership itself.
Result<void> check_configuration(const api::Request& request) {
  const Json& body = request.body;
  if (!body.is_object())
    return fail(Reason::BadRequest,
                "error decoding YAML: an apply patch must be an object with apiVersion and kind");
  const std::string_view version = api::find_string(body, "apiVersion");
  const std::string_view kind = api::find_string(body, "kind");
  if (version != request.kind->api_version(request.version) || kind != request.kind->kind) {
    const std::string qualified = version.find('/') == std::string_view::npos
                                      ? fmt::format("/{}", version)
                                      : std::string(version);
    return fail(Reason::BadRequest, "invalid object type: {}, Kind={}", qualified, kind);
  }
  if (const Json* managed = api::find_path(body, "metadata.managedFields");
      managed != nullptr && !managed->is_null())
    return fail(Reason::BadRequest, "metadata.managedFields must be nil");
  return {};
}

// The configuration as a document of the kind. What the schema does not know cannot be owned, so it
// is an error whatever fieldValidation says.
Result<Json> read_configuration(api::Request& request) {
  TRY(check_configuration(request));
  auto decoded = TRY(api::decode(
      *request.kind->message, {.value = std::exchange(request.body, nullptr), .duplicates = {}}));
  if (!decoded.unknown.empty()) {
    std::vector<std::string> hints = decoded.unknown;
    api::explain_seed_fields(request.kind->kind, hints);
    if (request.field_validation == api::FieldValidation::Strict)
      return fail(Reason::BadRequest,
                  "{} in version \"{}\" cannot be handled as a {}: strict "
                  "decoding error: {}",
                  request.kind->kind, request.version, request.kind->kind, fmt::join(hints, ", "));
    for (std::string& text : decoded.unknown) text = undeclared(text);
    return fail(Reason::BadRequest, "failed to create typed patch object ({}): {}",
                spoken_object(request), fmt::join(decoded.unknown, "; "));
  }
  JsonObject& members = decoded.document.as_object();
  members.erase("kind");
  members.erase("apiVersion");
  JsonObject& meta = metadata(decoded.document);
  if (meta_text(decoded.document, "name").empty()) meta.insert_or_assign("name", request.name);
  return std::move(decoded.document);
}

}  // namespace

bool is_apply(const api::Request& request) {
  return request.verb == api::Verb::Patch && request.patch_type == api::PatchType::Apply;
}

void record_write(const Context& context, const api::Request& request, const Json& before,
                  Json& after) {
  if (request.field_manager.empty() || is_apply(request)) return;
  api::record_update(*api::stored_kind(*request.kind).message, write_of(context, request), before,
                     after);
}

Result<Json> apply_patch(const Context& context, api::Request& request, Json live) {
  const Json configuration = TRY(read_configuration(request));
  auto applied = api::apply(*request.kind->message, write_of(context, request), std::move(live),
                            configuration, request.force);
  if (!applied && applied.error().reason == Reason::BadRequest)
    applied.error().message = fmt::format("failed to create typed patch object ({}): {}",
                                          spoken_object(request), applied.error().message);
  return applied;
}

}  // namespace muster::server
