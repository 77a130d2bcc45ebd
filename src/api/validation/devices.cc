#include <set>
#include <string>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/schema_rules.h"

// Claims on devices (resource.k8s.io/v1). Nothing allocates them yet; the scheduler's feeds must
// find them well-formed.
namespace muster::api::rules {
namespace {

const FieldPath kSpec("spec");
constexpr std::size_t kRequestsMax = 32;

void default_count(Json& request) {
  if (!request.is_object()) return;
  if (find_string(request, "allocationMode") == "ExactCount" &&
      find_integer(request, "count").value_or(0) == 0)
    request.get_object()["count"] = std::int64_t{1};
}

void validate_requests(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const FieldPath devices = path.child("devices");
  const FieldPath requests_path = devices.child("requests");
  const JsonArray& requests = elements(part_of(spec, "devices"), "requests");
  if (requests.size() > kRequestsMax) errors.too_many(requests_path, requests.size(), kRequestsMax);
  std::set<std::string_view> seen;
  std::size_t at = 0;
  for (const Json& request : requests) {
    const FieldPath here = requests_path.index(at++);
    const std::string_view name = find_string(request, "name");
    if (name.empty())
      errors.required(here.child("name"));
    else
      errors.invalid_each(here.child("name"), name, check_dns_label(name));
    if (!seen.insert(name).second) errors.duplicate(here.child("name"), name);
    const bool exactly = find_set(request, "exactly") != nullptr;
    const bool choice = !elements(request, "firstAvailable").empty();
    if (exactly == choice)
      errors.required(here, "exactly one of `exactly` or `firstAvailable` is required");
    if (exactly && find_string(part_of(request, "exactly"), "deviceClassName").empty()) {
      const FieldPath exactly_path = here.child("exactly");
      errors.required(exactly_path.child("deviceClassName"));
    }
  }
}

}  // namespace

void default_device_requests(JsonObject& document) {
  Json* spec = document.if_contains("spec");
  if (spec == nullptr || !spec->is_object()) return;
  // A template holds a whole claim spec one level deeper.
  Json* inner = spec->get_object().if_contains("spec");
  JsonObject& claim =
      inner != nullptr && inner->is_object() ? inner->get_object() : spec->get_object();
  Json* devices = claim.if_contains("devices");
  if (devices == nullptr || !devices->is_object()) return;
  Json* requests = devices->get_object().if_contains("requests");
  if (requests == nullptr || !requests->is_array()) return;
  for (Json& request : requests->get_array()) {
    if (!request.is_object()) continue;
    if (Json* exactly = request.get_object().if_contains("exactly")) default_count(*exactly);
    if (Json* choices = request.get_object().if_contains("firstAvailable");
        choices != nullptr && choices->is_array())
      for (Json& choice : choices->get_array()) default_count(choice);
  }
}

void validate_resource_claim(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_requests(spec, kSpec, errors);
  if (old != nullptr && !same_meaning(&spec, &part_of(*old, "spec")))
    errors.invalid(kSpec, spec, kImmutableField);
}

void validate_resource_claim_template(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_requests(part_of(spec, "spec"), kSpec.child("spec"), errors);
  if (old != nullptr && !same_meaning(&spec, &part_of(*old, "spec")))
    errors.invalid(kSpec, spec, kImmutableField);
}

void validate_resource_slice(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_by_schema(schema::message("resource/v1", "ResourceSliceSpec"), spec, kSpec, errors);
  if (old == nullptr) return;
  const Json& before = part_of(*old, "spec");
  validate_immutable_members(spec, before, {"driver", "nodeName"}, kSpec, errors);
  if (find_string(part_of(spec, "pool"), "name") != find_string(part_of(before, "pool"), "name")) {
    const FieldPath pool = kSpec.child("pool");
    errors.invalid(pool.child("name"), find_string(part_of(spec, "pool"), "name"), kImmutableField);
  }
}

}  // namespace muster::api::rules
