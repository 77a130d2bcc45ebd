#include "server/core/write/scale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "api/decode.h"
#include "api/selectors.h"
#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/strategies/document.h"
#include "server/core/write/update.h"

namespace muster::server {
namespace {

const api::schema::Message& scale_message() {
  static const api::schema::Message& kMessage = api::schema::message("autoscaling/v1", "Scale");
  return kMessage;
}

const Json& part(const Json& value, std::string_view member) {
  static const Json kNone;
  const Json* found = api::find(value, member);
  return found == nullptr ? kNone : *found;
}

std::int64_t replicas_of(const Json& holder) {
  const Json& replicas = part(holder, "replicas");
  return replicas.is_int64() ? replicas.get_int64() : 0;
}

// How the kind finds its pods, as text for other clients to select by.
std::string selector_text(const api::Kind& kind, const Json& document) {
  if (kind.kind == "LeaderWorkerSet")
    return std::string(api::find_string(part(document, "status"), "hpaPodSelector"));
  const Json* selector = api::find(part(document, "spec"), "selector");
  if (kind.kind == "ReplicationController") {
    const Json labels = JsonObject{{"matchLabels", selector == nullptr ? Json() : *selector}};
    const auto parsed = api::read_label_selector(&labels);
    return parsed ? parsed->text() : "";
  }
  const auto parsed = api::read_label_selector(selector);
  return parsed && !parsed->selects_nothing() ? parsed->text() : "";
}

Json scale_document(const api::Object& object, api::Revision revision) {
  const Json document = object.document();
  const api::ObjectMeta& meta = object.meta();
  JsonObject metadata{{"name", meta.name}, {"namespace", meta.name_space}, {"uid", meta.uid}};
  if (revision.value > 0) metadata["resourceVersion"] = to_resource_version(revision);
  if (meta.creation_time) metadata["creationTimestamp"] = format_time(*meta.creation_time);
  JsonObject spec;
  if (const std::int64_t replicas = replicas_of(part(document, "spec")); replicas != 0)
    spec["replicas"] = replicas;
  JsonObject status{{"replicas", replicas_of(part(document, "status"))}};
  if (const std::string selector = selector_text(object.kind(), document); !selector.empty())
    status["selector"] = selector;
  return JsonObject{{"kind", "Scale"},
                    {"apiVersion", "autoscaling/v1"},
                    {"metadata", std::move(metadata)},
                    {"spec", std::move(spec)},
                    {"status", std::move(status)}};
}

Result<void> check_scale(const api::Request& request, const Json& scale,
                         const api::Object& existing) {
  const std::string_view name = meta_text(scale, "name");
  if (!name.empty() && name != request.name)
    return fail(Reason::BadRequest,
                "the name of the object ({}) does not match the name on the URL ({})", name,
                request.name);
  if (const auto uid = meta_text(scale, "uid"); !uid.empty() && uid != existing.meta().uid)
    return fail(conflict(*request.kind, request.name,
                         fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                     "meta: {}",
                                     uid, existing.meta().uid)));
  if (const std::int64_t replicas = replicas_of(part(scale, "spec")); replicas < 0)
    return fail(invalid(
        Subject{.group = "autoscaling", .kind = "Scale", .name = request.name},
        {{.type = "FieldValueInvalid",
          .field = "spec.replicas",
          .message =
              fmt::format("Invalid value: {}: must be greater than or equal to 0", replicas)}}));
  return {};
}

// The object with the scale's number of replicas, on its way to the store.
Result<Decision> rescale(Context& context, const api::Request& request,
                         const api::ObjectPtr& existing, const Json& scale) {
  TRY(check_scale(request, scale, *existing));
  const Json old = existing->document();
  Json document = old;
  std::string said(meta_text(scale, "resourceVersion"));
  if (said.empty()) said = to_resource_version(existing->revision());
  metadata(document)["resourceVersion"] = said;
  api::ensure_object(document.get_object(), "spec")["replicas"] = replicas_of(part(scale, "spec"));
  api::Request whole = request;
  whole.subresource.clear();
  Decision decision =
      TRY(replace(context, whole, std::move(document), existing, old, std::move(whole.warnings)));
  decision.shown_as = scale_of;
  return decision;
}

}  // namespace

api::DocumentAnswer scale_of(const api::Object& object, api::Revision revision) {
  return {.document = scale_document(object, revision), .code = 200};
}

Result<Decision> decide_scale_update(Context& context, api::Request& request) {
  const api::ObjectPtr existing =
      context.staging.get(store::make_key(*request.kind, request.name_space, request.name));
  if (!existing) return fail(not_found(*request.kind, request.name));
  const Json scale = std::exchange(request.body, nullptr);
  return rescale(context, request, existing, scale);
}

Result<Decision> decide_scale_patch(Context& context, api::Request& request) {
  const api::ObjectPtr existing =
      context.staging.get(store::make_key(*request.kind, request.name_space, request.name));
  if (!existing) return fail(not_found(*request.kind, request.name));
  Json scale =
      TRY(patched(request, scale_message(), scale_document(*existing, existing->revision())));
  auto decoded = api::decode(scale_message(), {.value = std::move(scale), .duplicates = {}});
  if (!decoded) return fail(Reason::BadRequest, "{}", decoded.error().message);
  if (request.field_validation == api::FieldValidation::Strict && !decoded->unknown.empty())
    return fail(Reason::BadRequest, "strict decoding error: {}", fmt::join(decoded->unknown, ", "));
  return rescale(context, request, existing, decoded->document);
}

}  // namespace muster::server
