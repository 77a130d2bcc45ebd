#pragma once

#include <set>
#include <string_view>

#include "api/json.h"
#include "api/validation/field_errors.h"

// Pod templates, as in Jobs, Deployments and everything else that makes pods.
namespace muster::api {

// Defaults of a template that its table cannot state. `holder` has it as member "template".
void default_pod_template(JsonObject& holder, std::string_view member = "template");

// Labels, annotations and pod spec.
void validate_pod_template(const Json& pod_template, const FieldPath& path, FieldErrors& errors);

// As its pods see it: with a volume for each claim that they get and mount, unless it has one of
// that name. Claims that are not mounted are left out: many templates may share many claims.
Json with_claim_volumes(const Json& pod_template, const std::set<std::string_view>& claims);

// What controllers that keep pods running forever require of selector and template. `noun` is what
// upstream calls the owner: "deployment".
struct ReplicaRules {
  std::string_view noun;   // in `empty selector is invalid for deployment`
  std::string_view owner;  // in `activeDeadlineSeconds in ReplicaSet is not Supported`
  // For a DaemonSet without a selector the only error is that its labels do not match.
  bool selector_required = true;
};
void validate_selector_and_template(const Json& spec, const ReplicaRules& rules,
                                    const FieldPath& path, FieldErrors& errors);

}  // namespace muster::api
