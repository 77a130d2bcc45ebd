#include "api/validation/lease.h"

#include "api/reading.h"
#include "api/validation/object_meta.h"

namespace muster::api {
namespace {

void validate_spec(const Json& document, FieldErrors& errors) {
  const Json* spec = find(document, "spec");
  if (spec == nullptr) return;
  const FieldPath path("spec");
  if (const auto seconds = find_integer(*spec, "leaseDurationSeconds"); seconds && *seconds <= 0)
    errors.invalid(path.child("leaseDurationSeconds"), *seconds, "must be greater than 0");
  if (const auto count = find_integer(*spec, "leaseTransitions"); count && *count < 0)
    errors.invalid(path.child("leaseTransitions"), *count, "must be greater than or equal to 0");
  const std::string_view holder = find_string(*spec, "preferredHolder");
  if (!holder.empty() && find_string(*spec, "strategy").empty())
    errors.invalid(path.child("preferredHolder"), holder,
                   "may only be specified if `strategy` is defined");
}

}  // namespace

FieldErrors validate_lease(const Json& document) {
  FieldErrors errors;
  validate_object_meta(document, {}, errors);
  validate_spec(document, errors);
  return errors;
}

FieldErrors validate_lease_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_spec(now, errors);
  return errors;
}

}  // namespace muster::api
