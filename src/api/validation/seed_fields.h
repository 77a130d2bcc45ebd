#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

// The KEPs behind the workload API mention fields that Kubernetes 1.37 has renamed.
// They are unknown fields like any other and never translated, but we can say where they went:
// "use spec.workloadRef" for ("PodGroup", "spec.podGroupTemplateRef"). Empty for all other fields.
std::string seed_field_hint(std::string_view kind, std::string_view path);

// Adds the hint to every warning of decoding that has one:
// `unknown field "spec.podGroupTemplateRef": use spec.workloadRef`.
void explain_seed_fields(std::string_view kind, std::vector<std::string>& warnings);

}  // namespace muster::api
