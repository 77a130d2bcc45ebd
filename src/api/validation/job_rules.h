#pragma once

#include <cstdint>
#include <string_view>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"

// The rules of a Job's spec, by topic; job.cc and cron_job.cc put them together. `spec` is a
// JobSpec at `path`.
namespace muster::api {

// The defaults of a JobSpec, wherever it occurs.
void default_job_spec(JsonObject& spec);
// Rules for the spec of a Job and for the one in a CronJob's template.
void validate_job_spec(const Json& spec, const FieldPath& path, FieldErrors& errors);

void validate_pod_failure_policy(const Json& spec, const FieldPath& path, FieldErrors& errors);
void validate_success_policy(const Json& spec, const FieldPath& path, FieldErrors& errors);

// spec.scheduling. `old` is the spec it replaces, null on create.
enum class JobForm : std::uint8_t { Job, Template };  // a template may switch basic and gang
void validate_job_scheduling(const Json& spec, const Json* old, JobForm form, const Gates& gates,
                             const FieldPath& path, FieldErrors& errors);

}  // namespace muster::api
