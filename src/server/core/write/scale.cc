#include "server/core/write/scale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "api/decode.h"
#include "api/reading.h"
#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/request/scale_view.h"
#include "server/core/strategies/document.h"
#include "server/core/write/update.h"

namespace muster::server {
namespace {

using api::part_of;

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
  if (const std::int64_t replicas = replicas_of(part_of(scale, "spec")); replicas < 0)
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
  api::ensure_object(document.get_object(), "spec")["replicas"] =
      replicas_of(part_of(scale, "spec"));
  api::Request whole = request;
  whole.subresource.clear();
  Decision decision =
      TRY(replace(context, whole, std::move(document), existing, old, std::move(whole.warnings)));
  decision.shown_as = scale_of;
  return decision;
}

}  // namespace

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
