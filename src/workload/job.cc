#include "workload/job.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/reading.h"
#include "api/values/well_known.h"
#include "workload/names.h"
#include "workload/stamper.h"

namespace muster::workload {
namespace {

using api::Json;

const Json& spec_of(const Json& job) { return api::part_of(job, "spec"); }

std::string metadata_text(const Json& document, std::string_view member) {
  return std::string(api::find_string(api::part_of(document, "metadata"), member));
}

Owner job_owner(const Json& job) {
  return {.api_version = "batch/v1",
          .kind = "Job",
          .name = metadata_text(job, "name"),
          .uid = metadata_text(job, "uid")};
}

std::int64_t parallelism_of(const Json& job) {
  return api::find_integer(spec_of(job), "parallelism").value_or(1);
}

// Those of the Job, and how many pods it will have at once where the scheduler should know: pods
// that must be together, yet may start before all of them fit, start where there is room for all.
api::StringPairs annotations_of(const Json& job, const Item& item) {
  api::StringPairs out;
  for (const auto& annotation : api::members(api::part_of(job, "metadata"), "annotations"))
    out.emplace_back(api::key_of(annotation), api::text_of(annotation.value()));
  const Config config = resolve(item);
  const std::int64_t least = config.gang() == nullptr ? 1 : config.gang()->minimum.value_or(1);
  const std::int64_t pods =
      std::min(parallelism_of(job),
               api::find_integer(spec_of(job), "completions").value_or(parallelism_of(job)));
  std::ranges::sort(out);
  if (!config.topology_keys.empty() && least < pods &&
      !api::lookup(out, api::kExpectedPodsAnnotation))
    out.emplace_back(api::kExpectedPodsAnnotation, std::to_string(pods));
  return out;
}

bool runs_all_at_once(const Json& job) {
  const Json& spec = spec_of(job);
  return api::find_string(spec, "completionMode") == "Indexed" && parallelism_of(job) > 1 &&
         api::find_integer(spec, "completions") == parallelism_of(job);
}

}  // namespace

JobFacts job_facts(const Json& job) {
  const Json& spec = spec_of(job);
  const Json& pods = api::part_of(api::part_of(spec, "template"), "spec");
  return {.says_scheduling = api::find_set(spec, "scheduling") != nullptr,
          .pods_name_group = api::find_set(pods, "schedulingGroup") != nullptr};
}

JobGrouping grouping_of(const api::ObjectMeta& meta, const JobFacts& facts,
                        const JobOptions& options) {
  if (!options.gates.on(api::Gate::WorkloadWithJob) || facts.pods_name_group) return {};
  const api::OwnerReference* owner = controlling_owner(meta);
  const bool root =
      owner == nullptr || (owner->kind == "CronJob" && owner->api_version.starts_with("batch/"));
  if (root) {
    if (!facts.says_scheduling && !options.group_all) return {};
    return {.role = JobRole::Root};
  }
  std::optional<Delegation> delegation = delegation_of(meta);
  if (!delegation) return {};
  return {.role = JobRole::Delegated, .delegation = *std::move(delegation)};
}

std::int32_t job_gang_minimum(const Json& job) {
  const Json& policy = api::part_of(api::part_of(spec_of(job), "scheduling"), "schedulingPolicy");
  const auto given = api::find_integer(api::part_of(policy, "gang"), "minCount");
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(given.value_or(parallelism_of(job)), 1, kMost));
}

Item job_item(const Json& job, const JobOptions& options) {
  const Json& spec = spec_of(job);
  const Json* scheduling = api::find_set(spec, "scheduling");
  Item item{.name = template_name(metadata_text(job, "name")), .path = "spec.scheduling"};
  item.defaults.policy = Basic{};
  if (scheduling == nullptr && options.gang_for_indexed && runs_all_at_once(job))
    item.defaults.policy = Gang{};
  item.defaults.priority_class =
      api::find_string(api::part_of(api::part_of(spec, "template"), "spec"), "priorityClassName");
  if (scheduling != nullptr) item.user = map_pod_group_config(pod_group_blocks(*scheduling));
  item.callbacks.push_back(default_minimum(parallelism_of(job)));
  return item;
}

Result<Json> job_workload(const Json& job, const JobOptions& options) {
  const Owner owner = job_owner(job);
  const Item item = job_item(job, options);
  return build(item, {.name = workload_name(owner.name, owner.uid),
                      .name_space = metadata_text(job, "namespace"),
                      .owner = owner,
                      .allowed = {.policies = {PolicyKind::Basic, PolicyKind::Gang},
                                  .disruption_modes = {Disruption::Single, Disruption::All}},
                      .annotations = annotations_of(job, item),
                      .gates = options.gates});
}

Result<Json> job_pod_group(const Json& job, const Json& workload) {
  const Stamper stamper(workload);
  if (stamper.templates().size() != 1)
    return fail(Reason::BadRequest, "Workload \"{}\" has {} templates, and a Job has one group",
                metadata_text(workload, "name"), stamper.templates().size());
  const std::string used(stamper.templates().front());
  return stamper.pod_group({.name = group_name(metadata_text(workload, "name"), used),
                            .template_name = used,
                            .owners = {job_owner(job), workload_owner(workload)}});
}

Result<Json> delegated_pod_group(const Json& job, const Delegation& delegation,
                                 const Json& workload) {
  const Stamper stamper(workload);
  std::string used = delegation.template_name;
  for (const std::string_view each : stamper.templates())
    if (used.empty() && !stamper.find(each)->composite) used = each;
  const Owner owner = job_owner(job);
  return stamper.pod_group({.name = group_name(metadata_text(workload, "name"), used, owner.uid),
                            .template_name = used,
                            .parent = delegation.parent_composite,
                            .owners = {owner}});
}

}  // namespace muster::workload
