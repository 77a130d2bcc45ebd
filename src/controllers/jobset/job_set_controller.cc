#include "controllers/jobset/job_set_controller.h"

#include <utility>

#include "base/check.h"
#include "controllers/jobset/job_set_keys.h"

namespace muster::controllers {
namespace {

// What Jobs report is collected for a moment, so that a set of many costs few looks.
constexpr Duration kBatchPeriod = std::chrono::milliseconds{200};

const api::Kind& job_kind() {
  static const api::Kind* const kKind = api::find_kind("batch", "Job");
  CHECK(kKind != nullptr);
  return *kKind;
}

const api::Kind& service_kind() {
  static const api::Kind* const kKind = api::find_kind("", "Service");
  CHECK(kKind != nullptr);
  return *kKind;
}

bool is_set(const api::OwnerReference& owner) {
  return owner.kind == "JobSet" && owner.api_version.starts_with("jobset.x-k8s.io/");
}

bool is_ours(const api::JobSetView& set) {
  return set.managed_by.empty() || set.managed_by == job_set::kOwnManager;
}

}  // namespace

const api::Kind& job_set_kind() {
  static const api::Kind* const kKind = api::find_kind("jobset.x-k8s.io", "JobSet");
  CHECK(kKind != nullptr);
  return *kKind;
}

JobSetController::JobSetController(workload::JobOptions options, client::ComponentContext context)
    : WritingController("jobset", std::move(context),
                        {{.kind = &job_set_kind(),
                          .mirror = &sets_,
                          .keys_of = [this](const Change& change) { return on_set(change); }},
                         {.kind = &job_kind(),
                          .mirror = &jobs_,
                          .keys_of = [this](const Change& change) { return on_part(change); }},
                         {.kind = &service_kind(),
                          .mirror = &services_,
                          .keys_of = [this](const Change& change) { return on_part(change); }}}),
      options_(std::move(options)),
      jobs_({.owners = true}) {}

JobSetController::Keys JobSetController::on_set(const Change& change) {
  std::string key = api::key_text(change.newest().meta());
  showed(key, change);
  return {std::move(key)};
}

JobSetController::Keys JobSetController::on_part(const Change& change) {
  const api::OwnerReference* owner = controller_of(change.newest());
  if (owner == nullptr || !is_set(*owner)) return {};
  std::string key = change.newest().meta().name_space + "/" + owner->name;
  showed(key, change);
  const bool only_status =
      change.before != nullptr && change.after != nullptr &&
      change.before->meta().generation == change.after->meta().generation &&
      change.before->meta().deletion_time == change.after->meta().deletion_time;
  if (!only_status) return {std::move(key)};
  work().add_at(change.at + kBatchPeriod, key);
  return {};
}

std::vector<api::ObjectPtr> JobSetController::jobs_of(const api::Object& set) const {
  std::vector<api::ObjectPtr> out;
  for (const auto* entry : jobs_.owned_by(set.meta().uid))
    if (is_controlled_by(*entry->object, set.meta().uid)) out.push_back(entry->object);
  return out;
}

void JobSetController::reconcile(const std::string& key, Time now) {
  begin_look(key);
  const auto [name_space, name] = client::split_key(key);
  const api::ObjectPtr set = sets_.find(name_space, name);
  if (set == nullptr || set->meta().deletion_time || !is_ours(set->view<api::JobSetView>()))
    return forget_writes(key);
  if (waits(key, now)) return;
  look_at(key, set, now);
}

void JobSetController::look_at(const std::string& key, const api::ObjectPtr& set, Time now) {
  const auto& view = set->view<api::JobSetView>();
  SetState state{.set = view,
                 .name = set->meta().name,
                 .jobs = sort_jobs(view, jobs_of(*set)),
                 .now = now,
                 .has_service = services_.find(set->meta().name_space, view.subdomain) != nullptr};
  if (view.says_scheduling) {
    state.groups_are_ready = false;
    state.blocked = {"SchedulingBlocked", "True", "SchedulingNotSupported",
                     "spec.scheduling of JobSets is not carried out yet", 0};
  }
  carry_out(key, set, plan_set(state), now);
}

}  // namespace muster::controllers
