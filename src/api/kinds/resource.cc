#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

std::vector<Kind> resource_kinds() {
  constexpr GroupVersion kResourceV1{
      .group = "resource.k8s.io", .version = "v1", .package = "resource/v1"};
  Kind device_class = plain_kind(kResourceV1, "DeviceClass", "deviceclasses");
  device_class.namespaced = false;
  device_class.keeps_generation = true;

  Kind taint_rule = plain_kind(kResourceV1, "DeviceTaintRule", "devicetaintrules");
  taint_rule.namespaced = false;
  taint_rule.keeps_generation = true;
  taint_rule.subresources = {status_part(taint_rule)};

  Kind claim = plain_kind(kResourceV1, "ResourceClaim", "resourceclaims");
  claim.subresources = {status_part(claim)};

  const Kind claim_template =
      plain_kind(kResourceV1, "ResourceClaimTemplate", "resourceclaimtemplates");

  Kind slice = plain_kind(kResourceV1, "ResourceSlice", "resourceslices");
  slice.namespaced = false;
  slice.keeps_generation = true;
  slice.selectable_fields = {"spec.driver", "spec.nodeName"};

  std::vector<Kind> kinds{device_class, taint_rule, claim, claim_template, slice};
  for (Kind& kind : kinds) kind.answers_delete_with_object = true;
  return kinds;
}

}  // namespace muster::api::kinds
