#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "controllers/jobset/job_set_controller.h"

// How a plan for a JobSet becomes calls.
namespace muster::controllers {
namespace {

using api::JsonObject;

api::Request patch_spec(const api::Object& object, JsonObject spec) {
  return client::patch_request(
      object.kind(), object.meta().name_space, object.meta().name, "", api::PatchType::Merge,
      JsonObject{{"metadata", JsonObject{{"uid", object.meta().uid}}}, {"spec", std::move(spec)}});
}

api::Request delete_with_parts(const api::Object& object) {
  api::Request request = client::delete_request(object, std::nullopt);
  request.remove.propagation_policy = "Foreground";
  return request;
}

}  // namespace

void JobSetController::carry_out(const std::string& key, const api::ObjectPtr& set,
                                 const std::shared_ptr<const Mapped>& mapped, const SetPlan& plan,
                                 Time now) {
  if (plan.again) work().add_at(*plan.again, key);
  if (plan.expired) return write_call(key, delete_with_parts(*set));
  for (const ChildJob* job : plan.remove) remove_job(key, set, *job);
  for (const ChildJob* job : plan.suspend)
    write_call(key, patch_spec(*job->object, {{"suspend", true}}));
  const auto& view = set->view<api::JobSetView>();
  for (const ChildJob* job : plan.resize) {
    const api::JobSetView::ReplicatedJob& wanted = view.jobs[job->entry];
    write_call(key, patch_spec(*job->object, {{"parallelism", wanted.parallelism},
                                              {"completions", *wanted.completions}}));
  }
  if (plan.make_service) create_service(key, set);
  if (!view.is_finished()) create_claims(key, set, mapped->document);
  resume_jobs(key, set, plan);
  create_jobs(key, set, mapped, plan);
  if (plan.status.changed()) write_status(key, set, plan.status, now);
}

std::shared_ptr<const JobMaker> JobSetController::make_maker(const api::Object& set) const {
  // Few classes are named by many Jobs.
  return std::make_shared<const JobMaker>(
      set, [this, known = std::make_shared<std::map<std::string, std::int64_t, std::less<>>>()](
               std::string_view name) {
        auto at = known->find(name);
        if (at == known->end()) at = known->emplace(name, priority_of(name)).first;
        return at->second;
      });
}

void JobSetController::resume_jobs(const std::string& key, const api::ObjectPtr& set,
                                   const SetPlan& plan) {
  std::vector<ChildJob> jobs;
  for (const ChildJob* job : plan.resume) jobs.push_back(*job);
  const std::size_t count = jobs.size();
  write_in_batches(key,
                   {.count = count,
                    .start_making = [this, set, jobs = std::move(jobs)]() -> Make {
                      return [&, maker = make_maker(*set)](std::size_t at) {
                        const ChildJob& job = jobs[at];
                        return maker->resume_request(*job.object, job.entry, job.index);
                      };
                    }},
                   [](std::size_t, const client::Outcome& outcome, Time) {
                     return !outcome && outcome.error().reason != Reason::NotFound;
                   });
}

void JobSetController::create_jobs(const std::string& key, const api::ObjectPtr& set,
                                   const std::shared_ptr<const Mapped>& mapped,
                                   const SetPlan& plan) {
  const std::int32_t attempt = set->view<api::JobSetView>().status.restarts;
  write_in_batches(key,
                   {.count = plan.create.size(),
                    .start_making = [this, set, mapped, attempt, jobs = plan.create]() -> Make {
                      return [&, maker = make_maker(*set)](std::size_t at) {
                        const auto& [entry, index] = jobs[at];
                        return client::create_request(
                            *api::find_kind("batch", "Job"), set->meta().name_space,
                            maker->make(entry, index, mapped->mapping.link(entry, index, attempt)));
                      };
                    }},
                   [this, set](std::size_t, const client::Outcome& outcome, Time now) {
                     if (outcome || is_name_space_ending(outcome.error())) return false;
                     say(*set, {"Warning", "JobCreationFailed", outcome.error().message}, now);
                     return true;
                   });
}

// One that exists is used as it is: it may be kept from an earlier set of the name.
void JobSetController::create_claims(const std::string& key, const api::ObjectPtr& set,
                                     const api::Json& document) {
  for (SharedClaim& claim : shared_claims(*set, document)) {
    if (claims_.find(set->meta().name_space, claim.name) != nullptr) continue;
    write_call(key, std::move(claim.create), [this, set](const client::Outcome& outcome, Time now) {
      if (outcome || is_name_space_ending(outcome.error())) return;
      say(*set, {"Warning", "PersistentVolumeClaimCreationFailed", outcome.error().message}, now);
    });
  }
}

std::int64_t JobSetController::priority_of(std::string_view priority_class) const {
  const auto value_of = [](const api::Json& document) {
    return api::find_integer(document, "value").value_or(0);
  };
  if (!priority_class.empty()) {
    const api::ObjectPtr found = priority_classes_.find("", priority_class);
    return found == nullptr ? 0 : value_of(found->document());
  }
  for (const auto* entry : priority_classes_.in_namespace(""))
    if (const api::Json document = entry->object->document();
        api::find_true(document, "globalDefault"))
      return value_of(document);
  return 0;
}

void JobSetController::create_service(const std::string& key, const api::ObjectPtr& set) {
  write_call(key, service_request(*set), [this, set](const client::Outcome& outcome, Time now) {
    if (outcome || is_name_space_ending(outcome.error())) return;
    say(*set, {"Warning", "HeadlessServiceCreationFailed", outcome.error().message}, now);
  });
}

void JobSetController::remove_job(const std::string& key, const api::ObjectPtr& set,
                                  const ChildJob& job) {
  write_call(key, delete_with_parts(*job.object),
             [this, set, name = job.name()](const client::Outcome& outcome, Time now) {
               if (outcome || outcome.error().reason == Reason::NotFound) return;
               say(*set,
                   {"Warning", "JobDeletionFailed",
                    fmt::format("Error deleting job {}: {}", name, outcome.error().message)},
                   now);
             });
}

void JobSetController::write_status(const std::string& key, const api::ObjectPtr& set,
                                    const SetStatus& status, Time now) {
  write_call(key, status_request(*set, status.status(), now),
             [this, set, notes = status.notes()](const client::Outcome& outcome, Time at) {
               if (!outcome) return;
               for (const SetNote& note : notes) say(*set, note, at);
             });
}

void JobSetController::say(const api::Object& set, const SetNote& note, Time now) {
  record(
      set,
      {.type = note.type, .reason = note.reason, .action = "Reconciling", .message = note.message},
      now);
}

}  // namespace muster::controllers
