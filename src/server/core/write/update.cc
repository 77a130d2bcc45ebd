#include "server/core/write/update.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "api/conversion.h"
#include "api/decode.h"
#include "api/patch/patch.h"
#include "api/scratch.h"
#include "api/validation/seed_fields.h"
#include "server/core/request/decode_body.h"
#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/strategy.h"
#include "server/core/write/admission.h"
#include "server/core/write/create.h"
#include "server/core/write/crowd_limit.h"
#include "server/core/write/deletion.h"
#include "server/core/write/field_ownership.h"
#include "server/core/write/ownership.h"
#include "server/core/write/quota.h"
#include "server/core/write/stored_limit.h"

namespace muster::server {
namespace {

// The document is about the object the URL names.
Result<void> check_name(const api::Request& request, Json& document) {
  const std::string_view name = meta_text(document, "name");
  if (name.empty())
    return fail(
        Reason::BadRequest,
        "the name of the object ({} based on URL) was undeterminable: name must be provided",
        request.name);
  if (name != request.name)
    return fail(Reason::BadRequest,
                "the name of the object ({}) does not match the name on the URL ({})", name,
                request.name);
  if (!request.kind->namespaced) {
    metadata(document).erase("namespace");
    return {};
  }
  const std::string_view name_space = meta_text(document, "namespace");
  if (!name_space.empty() && name_space != request.name_space)
    return request.verb == api::Verb::Patch
               ? fail(Reason::BadRequest,
                      "the namespace of the object ({}) does not match the namespace on the "
                      "request ({})",
                      name_space, request.name_space)
               : fail(Reason::BadRequest,
                      "the namespace of the provided object does not match the namespace sent on "
                      "the request");
  metadata(document)["namespace"] = request.name_space;
  return {};
}

// If the document names the revision it was made from, that must be the current one; some kinds
// require it to name one.
Result<void> check_revision(const api::Request& request, const Json& document,
                            const api::Object& existing) {
  const api::Kind& kind = *request.kind;
  const api::Revision said = TRY(parse_resource_version(meta_text(document, "resourceVersion")));
  if (said.value == 0) {
    if (kind.unconditional_update) return {};
    // Upstream names the resource where the Kind should be.
    return fail(invalid(Subject{.group = kind.group, .kind = kind.plural, .name = request.name},
                        {{.type = "FieldValueInvalid",
                          .field = "metadata.resourceVersion",
                          .message = "Invalid value: 0: must be specified for an update"}}));
  }
  if (said != existing.revision()) return fail(modified_meanwhile(kind, request.name));
  return {};
}

// What an update can never change. A foreign uid is left for validation to refuse.
void restore_server_fields(Json& document, const Json& old) {
  JsonObject& meta = metadata(document);
  copy_meta(document, old, "generation");
  copy_meta(document, old, "creationTimestamp");
  if (meta_text(document, "uid").empty()) copy_meta(document, old, "uid");
  if (meta_time(old, "deletionTimestamp")) copy_meta(document, old, "deletionTimestamp");
  if (meta.if_contains("deletionGracePeriodSeconds") == nullptr)
    copy_meta(document, old, "deletionGracePeriodSeconds");
  // An empty list means "not my business"; [{}] resets.
  const Json* managed = meta.if_contains("managedFields");
  if (managed == nullptr || !managed->is_array() || managed->get_array().empty())
    copy_meta(document, old, "managedFields");
  else if (managed->get_array().size() == 1 && managed->get_array().front() == Json(JsonObject()))
    meta.erase("managedFields");
}

// Whether the desired state differs: spec, or everything but metadata and status where a kind has
// no spec.
bool changes_intent(const api::Kind& kind, const Json& document, const Json& old) {
  if (kind.message->find("spec") != nullptr) return !same_member(kind, document, old, "spec");
  return std::ranges::any_of(kind.message->members, [&](const api::schema::Field* field) {
    return field->name != "metadata" && field->name != "status" &&
           !same_member(kind, document, old, field->name);
  });
}

void prepare(const api::Request& request, Json& document, const Json& old,
             const api::Gates& gates) {
  const Strategy& strategy = strategy_of(*request.kind);
  if (request.subresource == "status") {
    strategy.prepare_for_status(document, old, gates);
    return;
  }
  if (request.subresource.empty())
    strategy.prepare_for_update(document, old, gates);
  else
    strategy.prepare_for_part(document, old, request.subresource);
  if (request.kind->keeps_generation && changes_intent(*request.kind, document, old))
    bump_generation(document);
}

}  // namespace

Result<Decision> replace(Context& context, const api::Request& request, Json document,
                         const api::ObjectPtr& existing, const Json& old,
                         std::vector<std::string> warnings) {
  const api::Kind& kind = *request.kind;
  TRY(check_values(document, &old));  // cheaper than to give defaults to them all first
  strategy_of(kind).predefault(document);
  api::apply_defaults(*existing->kind().message, document);
  strategy_of(kind).set_defaults(document);
  TRY(check_values(document, &old));
  drop_duplicate_owners(document, warnings);
  record_write(context, request, old, document);
  TRY(admit_update(context, request, document, old));
  TRY(check_revision(request, document, *existing));
  metadata(document).erase("resourceVersion");
  restore_server_fields(document, old);
  prepare(request, document, old, context.gates);
  if (context.validates)
    if (auto causes = validate_update(kind, document, old, request.subresource, context.gates);
        !causes.empty())
      return fail(invalid(kind, request.name, std::move(causes)));
  TRY(admit_valid(context, request, document));
  count_quota(context, request, document, &old);

  if (request.subresource.empty())
    std::ranges::move(warnings_about_update(kind, document, old, context.absent),
                      std::back_inserter(warnings));

  Decision decision;
  decision.answer.warnings = std::move(warnings);
  auto object = make_object(existing->kind(), document);
  // What is stored already may be made smaller, however large it is.
  if (object->bytes().size() > existing->bytes().size()) TRY(check_size(*object));
  TRY(check_crowd(context, *object, existing.get()));
  if (request.subresource.empty()) TRY(check_stored(context, *object, existing.get()));
  decision.deleted = goes_with_update(*existing, document);
  if (!decision.deleted && object->bytes() == existing->bytes()) {
    decision.answer.what =
        api::ObjectAnswer{.object = existing, .revision = existing->revision(), .created = false};
    return decision;
  }
  decision.answer.what =
      api::ObjectAnswer{.object = object, .revision = existing->revision(), .created = false};
  decision.transaction.writes.push_back(
      {.key = store::make_key(kind, request.name_space, request.name),
       .object = decision.deleted ? nullptr : std::move(object),
       .expected = existing->revision()});
  return decision;
}

namespace {

Result<void> check_uid(const api::Request& request, const Json& document,
                       const api::ObjectMeta& meta) {
  const std::string_view uid = meta_text(document, "uid");
  if (uid.empty() || uid == meta.uid) return {};
  return fail(conflict(*request.kind, request.name,
                       fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                   "meta: {}",
                                   uid, meta.uid)));
}

bool takes_whole_object(const api::Request& request) {
  if (request.subresource.empty()) return true;
  const api::Subresource* part = request.kind->subresource(request.subresource);
  return part != nullptr && part->kind == request.kind->kind;
}

// The stored document as a client of the request's version would see it.
Json seen_document(const api::Request& request, const Json& stored, api::Revision revision) {
  Json document(stored, stored.storage());
  api::from_stored(*request.kind, document);
  metadata(document)["resourceVersion"] = to_resource_version(revision);
  document.get_object()["kind"] = request.kind->kind;
  document.get_object()["apiVersion"] = request.kind->api_version(request.version);
  return document;
}

Error no_object() {
  return make_error(Reason::BadRequest,
                    "error decoding patch: json: cannot unmarshal into an object");
}

}  // namespace

Result<Json> patched(const api::Request& request, const api::schema::Message& message,
                     Json document) {
  switch (request.patch_type) {
    case api::PatchType::JsonPatch: return api::json_patch(std::move(document), request.body);
    case api::PatchType::Merge:
      if (!request.body.is_object()) return fail(no_object());
      return api::merge_patch(std::move(document), request.body);
    case api::PatchType::StrategicMerge:
      if (!request.body.is_object()) return fail(no_object());
      return api::strategic_merge_patch(message, std::move(document), request.body);
    case api::PatchType::Apply: break;  // decide_apply
  }
  return fail(no_object());
}

namespace {

// A patch that leaves no well-formed object is itself invalid; the whole patch is quoted.
Error broken_patch(const api::Request& request, std::string_view why) {
  std::string quoted;
  api::write_string(api::shortened(api::to_text(request.body)), quoted);
  return invalid(Subject{.group = "", .kind = ""},
                 {{.type = "FieldValueInvalid",
                   .field = "patch",
                   .message = fmt::format("Invalid value: {}: {}", quoted, why)}});
}

// Decodes the outcome of a patch. Clients may not move an object to another kind or version.
Result<DecodedBody> decode_patched(const api::Request& request, Json document) {
  const BodyType type{.message = request.kind->message,
                      .kind = request.kind->kind,
                      .group = request.kind->group,
                      .version = request.version};
  auto decoded = api::decode(*type.message, {.value = std::move(document), .duplicates = {}});
  if (!decoded) return fail(broken_patch(request, decoded.error().message));
  if (request.field_validation == api::FieldValidation::Strict && !decoded->unknown.empty())
    return fail(broken_patch(
        request, fmt::format("strict decoding error: {}", fmt::join(decoded->unknown, ", "))));
  const std::string_view said_version = api::find_string(decoded->document, "apiVersion");
  const std::string_view said_kind = api::find_string(decoded->document, "kind");
  const std::string wanted = request.kind->api_version(request.version);
  if (said_version != wanted || said_kind != type.kind)
    return fail(Reason::BadRequest,
                "the API version in the data ({}) does not match the expected API version ({})",
                fmt::format("{}, Kind={}", said_version, said_kind),
                fmt::format("{}, Kind={}", wanted, type.kind));
  DecodedBody out{.document = std::move(decoded->document), .warnings = {}};
  out.document.as_object().erase("kind");
  out.document.as_object().erase("apiVersion");
  if (request.field_validation == api::FieldValidation::Warn) {
    out.warnings = std::move(decoded->unknown);
    api::explain_seed_fields(type.kind, out.warnings);
  }
  return out;
}

// Server-side apply: makes the object if there is none.
Result<Decision> decide_apply(Context& context, api::Request& request) {
  const api::Kind& kind = *request.kind;
  const api::ObjectPtr existing =
      context.staging.get(store::make_key(kind, request.name_space, request.name));
  if (!existing && !request.subresource.empty()) return fail(not_found(kind, request.name));
  api::Scratch scratch;
  const Json old = existing ? api::document_in(scratch, *existing) : Json(nullptr);
  Json document = TRY(
      apply_patch(context, request,
                  existing ? seen_document(request, old, existing->revision()) : Json(nullptr)));
  document.as_object().erase("kind");
  document.as_object().erase("apiVersion");
  TRY(check_name(request, document));
  TRY(check_uid(request, document, existing ? existing->meta() : api::ObjectMeta{}));
  if (existing) {
    api::to_stored(*request.kind, document);
    return replace(context, request, std::move(document), existing, old,
                   std::move(request.warnings));
  }
  request.body = std::move(document);
  return decide_create(context, request);
}

}  // namespace

Result<Decision> decide_update(Context& context, api::Request& request) {
  const api::Kind& kind = *request.kind;
  if (!takes_whole_object(request)) return fail(method_not_allowed());
  TRY(check_name(request, request.body));
  const api::ObjectPtr existing =
      context.staging.get(store::make_key(kind, request.name_space, request.name));
  if (!existing) {
    if (!kind.create_on_update || !request.subresource.empty())
      return fail(not_found(kind, request.name));
    TRY(check_uid(request, request.body, {}));
    metadata(request.body).erase("resourceVersion");
    return decide_create(context, request);
  }
  TRY(check_uid(request, request.body, existing->meta()));
  api::to_stored(kind, request.body);
  api::Scratch scratch;
  return replace(context, request, std::exchange(request.body, nullptr), existing,
                 api::document_in(scratch, *existing), std::move(request.warnings));
}

Result<Decision> decide_patch(Context& context, api::Request& request) {
  const api::Kind& kind = *request.kind;
  if (!takes_whole_object(request)) return fail(method_not_allowed());
  if (is_apply(request)) return decide_apply(context, request);
  const api::ObjectPtr existing =
      context.staging.get(store::make_key(kind, request.name_space, request.name));
  if (!existing) return fail(not_found(kind, request.name));
  api::Scratch scratch;
  const Json old = api::document_in(scratch, *existing);
  Json result =
      TRY(patched(request, *kind.message, seen_document(request, old, existing->revision())));
  DecodedBody decoded = TRY(decode_patched(request, std::move(result)));
  TRY(check_name(request, decoded.document));
  api::to_stored(kind, decoded.document);
  std::vector<std::string> warnings = std::move(request.warnings);
  for (std::string& warning : decoded.warnings) warnings.push_back(std::move(warning));
  return replace(context, request, std::move(decoded.document), existing, old, std::move(warnings));
}

}  // namespace muster::server
