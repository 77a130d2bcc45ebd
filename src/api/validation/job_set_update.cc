#include "api/validation/job_set_update.h"

#include <algorithm>

#include "api/reading.h"
#include "api/validation/common_rules.h"

namespace muster::api {
namespace {

const FieldPath kSpec("spec");

// Of an Indexed Job that runs all its pods at once, the number may change.
void free_size(JsonObject& job_spec) {
  const auto pods = find_integer(job_spec, "completions");
  if (find_string(job_spec, "completionMode") != "Indexed" || !pods || *pods < 1 ||
      find_integer(job_spec, "parallelism") != pods)
    return;
  job_spec.erase("parallelism");
  job_spec.erase("completions");
}

// The jobs without what may still change: sizes, and while the set is suspended what decides where
// pods go.
struct Freedom {
  bool sizes = false;
  bool placement = false;
};
Json fixed_jobs(const Json& spec, const Freedom& freedom) {
  Json out = part_of(spec, "replicatedJobs");
  if (!out.is_array()) return out;
  for (Json& job : out.get_array()) {
    if (!job.is_object()) continue;
    JsonObject& job_spec = ensure_object(ensure_object(job.get_object(), "template"), "spec");
    if (freedom.sizes) free_size(job_spec);
    if (!freedom.placement) continue;
    JsonObject& pod_template = ensure_object(job_spec, "template");
    JsonObject& metadata = ensure_object(pod_template, "metadata");
    metadata.erase("labels");
    metadata.erase("annotations");
    JsonObject& pod = ensure_object(pod_template, "spec");
    for (const std::string_view member : {"nodeSelector", "tolerations", "schedulingGates"})
      pod.erase(member);
  }
  return out;
}

bool has_ended(const Json& set) {
  return std::ranges::any_of(elements(part_of(set, "status"), "conditions"), [](const Json& each) {
    const std::string_view type = find_string(each, "type");
    return (type == "Completed" || type == "Failed") && find_string(each, "status") == "True";
  });
}

void validate_jobs_update(const Json& now, const Json& old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  const Json& before = part_of(old, "spec");
  if (same_meaning(find(spec, "replicatedJobs"), find(before, "replicatedJobs"))) return;
  const Freedom freedom{.sizes = !has_ended(old),
                        .placement = find_true(before, "suspend") || find_true(spec, "suspend")};
  const Json after = fixed_jobs(spec, freedom);
  const Json stood = fixed_jobs(before, freedom);
  if (same_meaning(&after, &stood)) return;
  errors.invalid(kSpec.child("replicatedJobs"), part_of(spec, "replicatedJobs"), kImmutableField);
}

}  // namespace

void validate_job_set_update(const Json& now, const Json& old, FieldErrors& errors) {
  validate_jobs_update(now, old, errors);
  const Json& spec = part_of(now, "spec");
  const Json& before = part_of(old, "spec");
  for (const std::string_view member :
       {"network", "successPolicy", "failurePolicy", "startupPolicy", "volumeClaimPolicies"})
    if (!same_meaning(find(spec, member), find(before, member)))
      errors.invalid(kSpec.child(member), "Value is immutable");
  validate_immutable_members(spec, before, {"managedBy"}, kSpec, errors);
}

}  // namespace muster::api
