#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "api/validation/composite_pod_group.h"
#include "api/validation/event.h"
#include "api/validation/job.h"
#include "api/validation/kind_rules.h"
#include "api/validation/lease.h"
#include "api/validation/name_space.h"
#include "api/validation/node.h"
#include "api/validation/object_meta.h"
#include "api/validation/pod.h"
#include "api/validation/pod_group.h"
#include "api/validation/priority_class.h"
#include "api/validation/schema_rules.h"
#include "api/validation/workload.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/pod_parts.h"
#include "server/core/strategies/strategy.h"

// Which rules of api/validation hold for which kind and endpoint.
namespace muster::server {
namespace {

using api::Gates;

// Everything but metadata: by the kind's own rules, else by its table.
void validate_content(const api::Kind& kind, const Json& now, const Json* old,
                      api::FieldErrors& errors) {
  const api::KindRules* rules = api::find_kind_rules(kind);
  if (rules != nullptr && rules->validate != nullptr)
    rules->validate(now, old, errors);
  else
    api::validate_by_schema(*kind.message, now, errors);
}

api::EventGroup group_of(const api::Kind& kind) {
  return kind.group.empty() ? api::EventGroup::Core : api::EventGroup::Events;
}

}  // namespace

std::vector<Cause> validate_create(const api::Kind& kind, const Json& document,
                                   const Gates& gates) {
  if (&kind == &api::kinds::pod()) return api::validate_pod(document).causes();
  if (&kind == &api::kinds::node()) return api::validate_node(document).causes();
  if (&kind == &api::kinds::name_space()) return api::validate_name_space(document).causes();
  if (&kind == &api::kinds::priority_class())
    return api::validate_priority_class(document).causes();
  if (&kind == &api::kinds::lease()) return api::validate_lease(document).causes();
  if (&kind == &api::kinds::pod_group()) return api::validate_pod_group(document, gates).causes();
  if (&kind == &api::kinds::composite_pod_group())
    return api::validate_composite_pod_group(document, gates).causes();
  if (&kind == &api::kinds::workload()) return api::validate_workload(document, gates).causes();
  if (kind.kind == "Event") return api::validate_event(document, group_of(kind)).causes();
  if (is_batch(kind, "Job")) return api::validate_job(document, gates).causes();
  if (is_batch(kind, "CronJob")) return api::validate_cron_job(document, gates).causes();
  api::FieldErrors errors;
  api::validate_object_meta(document, api::meta_rules(kind), errors);
  validate_content(kind, document, nullptr, errors);
  return errors.causes();
}

std::vector<Cause> validate_update(const api::Kind& kind, const Json& document, const Json& old,
                                   std::string_view subresource, const Gates& gates) {
  const bool status = subresource == "status";
  if (&kind == &api::kinds::pod()) {
    if (subresource.empty()) return api::validate_pod_update(document, old).causes();
    return status ? api::validate_pod_status_update(document, old).causes()
                  : validate_pod_part(document, old, subresource);
  }
  if (&kind == &api::kinds::node()) return api::validate_node_update(document, old).causes();
  if (&kind == &api::kinds::name_space()) {
    if (status) return api::validate_name_space_status_update(document, old).causes();
    if (subresource == "finalize")
      return api::validate_name_space_finalize_update(document, old).causes();
    return api::validate_name_space_update(document, old).causes();
  }
  if (&kind == &api::kinds::priority_class())
    return api::validate_priority_class_update(document, old).causes();
  if (&kind == &api::kinds::lease()) return api::validate_lease_update(document, old).causes();
  if (&kind == &api::kinds::pod_group())
    return status ? api::validate_pod_group_status_update(document, old).causes()
                  : api::validate_pod_group_update(document, old, gates).causes();
  if (&kind == &api::kinds::composite_pod_group())
    return status ? api::validate_composite_pod_group_status_update(document, old).causes()
                  : api::validate_composite_pod_group_update(document, old, gates).causes();
  if (&kind == &api::kinds::workload())
    return api::validate_workload_update(document, old, gates).causes();
  if (kind.kind == "Event")
    return api::validate_event_update(document, old, group_of(kind)).causes();
  if (is_batch(kind, "Job"))
    return status ? api::validate_job_status_update(document, old).causes()
                  : api::validate_job_update(document, old, gates).causes();
  if (is_batch(kind, "CronJob") && !status)
    return api::validate_cron_job_update(document, old, gates).causes();
  api::FieldErrors errors;
  api::validate_object_meta_update(document, old, errors);
  if (!status) validate_content(kind, document, &old, errors);
  return errors.causes();
}

std::vector<std::string> warnings_about(const api::Kind& kind, const Json& document,
                                        const api::Absent& absent) {
  std::vector<std::string> warnings = api::inert_sentences(kind, document, absent);
  const auto add = [&](std::vector<std::string> more) {
    std::ranges::move(more, std::back_inserter(warnings));
  };
  if (&kind == &api::kinds::workload()) add(api::workload_warnings(document));
  if (&kind == &api::kinds::composite_pod_group()) add(api::composite_pod_group_warnings(document));
  return warnings;
}

std::vector<std::string> warnings_about_update(const api::Kind& kind, const Json& document,
                                               const Json& old, const api::Absent& absent) {
  std::vector<std::string> warnings = api::inert_sentences(kind, document, absent);
  if (warnings.empty()) return warnings;
  const std::vector<std::string> known = api::inert_sentences(kind, old, absent);
  std::erase_if(warnings, [&](const std::string& warning) {
    return std::ranges::find(known, warning) != known.end();
  });
  return warnings;
}

}  // namespace muster::server
