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
    : WritingController("jobset", std::move(context), watches(*this)),
      options_(options),
      jobs_({.owners = true}),
      priority_classes_({.namespaces = true}),
      pod_groups_({.owners = true}),
      composites_({.owners = true}) {}

std::vector<JobSetController::Watch> JobSetController::watches(JobSetController& self) {
  const auto on_part = [&self](const Change& change) { return self.on_part(change); };
  return {{.kind = &job_set_kind(),
           .mirror = &self.sets_,
           .keys_of = [&self](const Change& change) { return self.on_set(change); }},
          {.kind = &job_kind(), .mirror = &self.jobs_, .keys_of = on_part},
          {.kind = api::find_kind("", "PersistentVolumeClaim"),
           .mirror = &self.claims_,
           .keys_of = [&self](const Change& change) { return self.on_claim(change); }},
          {.kind = &api::kinds::priority_class(),
           .mirror = &self.priority_classes_,
           .keys_of = [](const Change&) { return Keys(); }},
          {.kind = &service_kind(), .mirror = &self.services_, .keys_of = on_part},
          {.kind = &api::kinds::workload(), .mirror = &self.workloads_, .keys_of = on_part},
          {.kind = &api::kinds::pod_group(), .mirror = &self.pod_groups_, .keys_of = on_part},
          {.kind = &api::kinds::composite_pod_group(),
           .mirror = &self.composites_,
           .keys_of = on_part}};
}

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
  // What the scheduler says in the status of groups does not concern the set.
  if (&change.newest().kind() == &job_kind()) work().add_at(change.at + kBatchPeriod, key);
  return {};
}

// Claims that stay when their set goes have no owner, so they are known by their label.
JobSetController::Keys JobSetController::on_claim(const Change& change) {
  const api::Object& claim = change.newest();
  const std::string* set = api::lookup(claim.meta().labels, job_set::kSetName);
  if (set == nullptr) return {};
  std::string key = claim.meta().name_space + "/" + *set;
  showed(key, change);
  // Binding it does not concern the set.
  if (change.before != nullptr && change.after != nullptr) return {};
  return {std::move(key)};
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
  if (set == nullptr || set->meta().deletion_time || !is_ours(set->view<api::JobSetView>())) {
    refusals_.erase(key);
    mapped_.erase(key);
    return forget_writes(key);
  }
  if (waits(key, now)) return;
  look_at(key, set, now);
}

void JobSetController::look_at(const std::string& key, const api::ObjectPtr& set, Time now) {
  const auto& view = set->view<api::JobSetView>();
  const std::shared_ptr<const Mapped> mapped = recall(key, *set);
  SetState state{.set = view,
                 .name = set->meta().name,
                 .jobs = sort_jobs(view, jobs_of(*set)),
                 .now = now,
                 .has_service = services_.find(set->meta().name_space, view.subdomain) != nullptr};
  if (!view.is_finished()) {
    replace_outdated(view, mapped->mapping, state.jobs);
    GroupsStep step = groups_step(*set, *mapped, state.jobs);
    carry_out_step(key, set, mapped, step);
    state.groups_are_ready = step.ready;
    state.blocked = step.blocked;
    if (const auto refusal = refusals_.find(key); refusal != refusals_.end() && !step.blocked)
      state.blocked = refusal->second;
  }
  carry_out(key, set, mapped, plan_set(state), now);
  if (view.is_finished()) mapped_.erase(key);
}

}  // namespace muster::controllers
