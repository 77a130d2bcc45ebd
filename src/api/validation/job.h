#pragma once

#include <string_view>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"

// Jobs and CronJobs (batch/v1).
namespace muster::api {

// Defaults that depend on other members. `document` is a Job; for CronJobs, the one in its
// template.
void default_job(JsonObject& document);
void default_cron_job(JsonObject& document);

// spec.scheduling, and a pod template's schedulingGroup, where their gates are off. `old` is null
// on create.
void drop_disabled_job_fields(Json& now, const Json* old, const Gates& gates);
void drop_disabled_cron_job_fields(Json& now, const Json* old, const Gates& gates);

// Labels the pods of a new Job with its name and uid, and selects them, unless it brings a selector
// of its own (manualSelector).
void select_pods_of_job(Json& job);

FieldErrors validate_job(const Json& job, const Gates& gates);
FieldErrors validate_job_update(const Json& now, const Json& old, const Gates& gates);
FieldErrors validate_job_status_update(const Json& now, const Json& old);
FieldErrors validate_cron_job(const Json& cron_job, const Gates& gates);
FieldErrors validate_cron_job_update(const Json& now, const Json& old, const Gates& gates);

}  // namespace muster::api
